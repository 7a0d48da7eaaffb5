"""A sequence function for words of up to T letters, and how a model file states it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from krohn.program import Program
from krohn.program.domains import IntArray
from krohn.program.errors import demand
from krohn.program.interpreter import states
from krohn.program.statement import parse, program_to_wire

KIND = "program"
"""The kind of this source in a model file."""


@dataclass(frozen=True)
class Realised:
    """A Program as it was written, before all passes, with what it says.

    Attributes:
        name: What it is called.
        program: The Program.
        classes: What it says: for each class the values of the outputs.
        names: The classes by name.
    """

    name: str
    program: Program
    classes: tuple[Any, ...]
    names: tuple[str, ...]

    def answers(self, words: IntArray) -> IntArray:
        """``(batch, n)``: the class at each letter of words of n letters, by integers."""
        return states(self.program, words)

    def to_wire(self) -> dict[str, Any]:
        """As the header of a model file states it."""
        return {
            "kind": KIND,
            "name": self.name,
            "letters": list(self.program.letters),
            "classes": list(self.names),
            "program": program_to_wire(self.program, {}, {}),
        }

    @classmethod
    def from_wire(cls, said: Mapping[str, Any], length: int) -> Self:
        """From what a model file states; its classes are their names.

        Raises:
            Refused: If a value could leave its domain, or something cannot be.
            LookupError: If something is missing.
            TypeError: If something is of another type.
            ValueError: If something is malformed.
        """
        demand(said["kind"] == KIND, f"there is no source {str(said['kind'])[:40]!r}")
        letters, names = tuple(said["letters"]), tuple(said["classes"])
        found = parse(said["program"], len(letters), length)
        program = Program(
            letters=letters,
            states=len(names),
            length=length,
            operations=found.operations,
            outputs=found.outputs,
            decode=found.decode,
            domains={n: tuple(c.domain.tolist()) for n, c in found.channels.items()},
        )
        return cls(str(said["name"]), program, names, names)
