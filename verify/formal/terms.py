"""Terms of Coq, and what a development for Coq is."""

from collections.abc import Iterable
from dataclasses import dataclass

from krohn.verify.checker.model_file import Machine


@dataclass(frozen=True)
class Development:
    """A theorem for Coq.

    Attributes:
        text: The file.
        modules: The modules of the library that it needs, in the order of their imports.
        says: The theorem in words.
    """

    text: str
    modules: tuple[str, ...]
    says: str


def integers(numbers: Iterable[int]) -> str:
    """A list of Coq."""
    return "[" + ";".join(map(str, numbers)) + "]"


def rows(table: Iterable[Iterable[int]]) -> str:
    """A list of lists, one to a line."""
    return "[" + ";\n  ".join(map(integers, table)) + "]"


def machine_term(machine: Machine) -> str:
    """The machine of a file; a letter is a row of `transitions`."""
    moves, shows = rows(machine.transitions.tolist()), integers(machine.shows.tolist())
    return (
        f"Definition machine_of_file : machine := {{|\n  start := {machine.start};\n"
        f"  moves := {moves};\n  shows := {shows} |}}%nat.\n"
    )
