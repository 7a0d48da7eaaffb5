"""A counting program as networks are trained on it: on short words it is a machine."""

from dataclasses import dataclass
from pathlib import Path

from krohn.algebra.automaton import Automaton
from krohn.kinds.counting.commands import counting_program
from krohn.kinds.counting.commands_machines import unroll_program
from krohn.kinds.counting.source import CountingProgram


@dataclass(frozen=True)
class Unrolling:
    """What `krohn.instruments.compare.tasks.sources` asks of a program.

    Attributes:
        source: The program.
    """

    source: CountingProgram

    def machine(self, length: int) -> Automaton:
        """The machine that says the same of every word of up to so many letters.

        Raises:
            KrohnError: If the program remembers too much.
        """
        return unroll_program(self.source, length)


def unrolling(source: object) -> Unrolling | None:
    """A program, or that of a name or of a file ``.crasp``; None of others.

    Raises:
        KrohnError: If there is none of this name, or it cannot be read.
    """
    named = isinstance(source, str | Path)
    program = counting_program(str(source)) if named else source
    return Unrolling(program) if isinstance(program, CountingProgram) else None
