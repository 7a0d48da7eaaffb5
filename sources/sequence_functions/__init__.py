"""Sequence functions, channel by channel, in Python or as text (docs/programs.md)."""

from collections.abc import Iterable

from krohn.sources.sequence_functions.builder import Channel, Realised, SequenceFunction
from krohn.sources.sequence_functions.realisation import ProgramError
from krohn.sources.sequence_functions.text import parse

__all__ = [
    "Channel",
    "ProgramError",
    "Realised",
    "SequenceFunction",
    "parse",
    "program",
]


def program(letters: Iterable[str], name: str = "program") -> SequenceFunction:
    """A sequence function without channels yet.

    Args:
        letters: Their names; of a string each character is one.
        name: What it is called.

    Raises:
        ProgramError: If there are none, or one is there twice.
    """
    each = tuple(letters)
    if not each or len(set(each)) < len(each) or "" in each:
        raise ProgramError(f"{each} are not different letters")
    return SequenceFunction(each, name)
