"""A wrong word as a table: each letter with what is right and what was said."""

from collections.abc import Sequence
from dataclasses import dataclass

SHOWN_LETTERS = 24


@dataclass(frozen=True)
class Row:
    """After a letter."""

    at: int
    letter: str
    expected: str
    actual: str


@dataclass(frozen=True)
class Wrong:
    """The last rows of a word.

    Attributes:
        rows: Those that are shown.
        hidden: How many come before them.
        length: Of the word, in letters.
    """

    rows: tuple[Row, ...]
    hidden: int
    length: int


def wrong(
    word: Sequence[str],
    expected: Sequence[str],
    actual: Sequence[str],
    shown: int = SHOWN_LETTERS,
) -> Wrong:
    """The letters of a wrong word with what is right and what was said after each.

    Args:
        word: The letters.
        expected: What is right after each; a generator also answers before the first.
        actual: What was said.
        shown: How many rows at most.
    """
    before = ["(start)"] * (len(expected) - len(word))
    rows = tuple(
        Row(at, letter, right, said)
        for at, (letter, right, said) in enumerate(
            zip([*before, *word], expected, actual, strict=True), start=1 - len(before)
        )
    )
    last = rows[-shown:]
    return Wrong(last, len(rows) - len(last), len(word))
