"""Counting programs as tasks: on words that are not too long they are machines."""

from dataclasses import dataclass
from pathlib import Path

from krohn.algebra.errors import KrohnError
from krohn.compare.tasks.surviving import Surviving
from krohn.compare.tasks.task import Task
from krohn.compare.training import presets
from krohn.counting_machines import unrolled
from krohn.counting_programs import counting_program
from krohn.sources.counting import CountingProgram

MOST_STATES = 1100
"""Of which a comparison draws, probes and writes down the machine in some seconds."""


@dataclass(frozen=True)
class CountingTask(Task):
    """What a counting program says after each letter.

    Attributes:
        program: It; `machine` says the same of words as long as networks read.
    """

    program: CountingProgram | None = None


def counting_task(
    source: object, preset: str, length: int | None
) -> CountingTask | None:
    """The task of a counting program; None of other sources.

    Args:
        source: A program, the name of one, or a file ``.crasp``.
        preset: Says how long words are, unless ``length`` does.
        length: Letters in the words that are trained on.

    Raises:
        KrohnError: If it cannot be read, or remembers too much.
    """
    program = source if isinstance(source, CountingProgram) else None
    if isinstance(source, str | Path):
        program = counting_program(str(source))
    if program is None:
        return None
    shortest = Task(program.name, unrolled(program, 1), Surviving(), "outputs")
    longest = presets.gpt(preset, shortest, length=length)[1].reads
    machine = unrolled(program, longest)
    if len(machine.states) > MOST_STATES:
        raise KrohnError(
            f"on words of up to {longest} letters {program.name} is a machine of "
            f"{len(machine.states):,} states, and comparisons go up to {MOST_STATES:,}; "
            "train on shorter words by --length"
        )
    return CountingTask(program.name, machine, Surviving(), "outputs", program=program)
