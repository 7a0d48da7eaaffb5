"""Counting programs by name or from files."""

from pathlib import Path

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import Budget, steps_of
from krohn.algebra.errors import KrohnError
from krohn.counting_witness import counting_witness
from krohn.program.errors import Refused
from krohn.program.files import read_text
from krohn.program.writing import atomic_write
from krohn.sources import counting
from krohn.sources.counting import CountingProgram

PREFIX = "crasp:"
MOST_BYTES = 1_000_000


def counting_program(text: str) -> CountingProgram | None:
    """The counting program of a name, ``crasp:Dyck1``, or of a file; None of others.

    Raises:
        KrohnError: If there is none of that name, or the file cannot be read or is wrong.
    """
    try:
        if text.startswith(PREFIX):
            return counting.named(text.removeprefix(PREFIX))
        path = Path(text)
        if path.suffix != counting.SUFFIX:
            return None
        return counting.parse(read_text(path, MOST_BYTES), path.name)
    except Refused as reason:
        raise KrohnError(str(reason)) from None


def derived(machine: Automaton, effort: str | float = "normal") -> CountingProgram:
    """The counting program of the language of a machine (`counting_witness`).

    Raises:
        KrohnError: If the language is not in C-RASP, or that takes too long to find out.
    """
    try:
        return counting_witness(machine, Budget(steps_of(effort)))
    except Refused as reason:
        raise KrohnError(f"{machine.name}: {reason}") from None


def save(text: str, path: str) -> None:
    """Write the text of a program, whole or not at all.

    Raises:
        KrohnError: If the file system refuses, or the suffix is not ``.crasp``.
    """
    if Path(path).suffix != counting.SUFFIX:
        raise KrohnError(f"{path} must end with {counting.SUFFIX}")
    atomic_write(path, text)
