"""Sequence functions, channel by channel, in Python or as text.

docs/kinds/sequence_functions.md has the channels.
"""

from collections.abc import Iterable

from krohn.kinds.sequence_functions.source_builder import (
    Channel,
    Realised,
    SequenceFunction,
)
from krohn.kinds.sequence_functions.source_realisation import ProgramError
from krohn.kinds.sequence_functions.source_text import parse

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

    Examples:
        >>> p = krohn.program("ab", "majority")
        >>> x = p.token()
        >>> p.output(p.prefix_sum(x == "a") > p.prefix_sum(x == "b"))
        >>> krohn.compile(p, 8).model.run("abbaa")
        ['1', '0', '0', '0', '1']
    """
    if not isinstance(letters, Iterable):
        raise ProgramError(
            f"krohn.program begins with letters, as 'ab', not with a "
            f"{type(letters).__name__}; what it returns has methods for each step"
        )
    each = tuple(letters)
    twice = next((a for a in each if each.count(a) > 1), None)
    if not each or twice is not None or "" in each:
        wrong = f"{twice!r} is there twice" if twice is not None else "one is empty"
        raise ProgramError(
            f"letters are different from one another, as 'ab', and {wrong}; the text of a "
            "program is a .program file, which krohn.compile takes by its name"
        )
    return SequenceFunction(each, name)
