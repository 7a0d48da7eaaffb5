"""Numbers with their nouns, words by their runs, and texts cut to a length."""

from collections.abc import Iterable
from itertools import groupby

LONGEST = 200
"""In characters, of a word on which a network is wrong; how to replay it has all."""


def words_up_to(length: int | None) -> str:
    """The words of a length and all shorter ones; None for those of every length."""
    if length is None:
        return "words of every length"
    return f"words of up to {count(length, 'letter')}"


def count(number: int, noun: str, plural: str = "s") -> str:
    """A number with its noun: ``1 letter``, ``2,000 letters``."""
    return f"{number:,} {noun}{'' if number == 1 else plural}"


def exactly(number: float) -> str:
    """A number in as few digits as say it and no other one: ``1``, ``0.1``."""
    return repr(number).removesuffix(".0")


def cut(text: str, limit: int) -> str:
    """A text of at most ``limit`` characters, the last one ``…`` if some are missing."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def in_runs(word: Iterable[str]) -> str:
    """Letters in a row as powers: ``1^128 0``."""
    runs = [(letter, len(list(group))) for letter, group in groupby(word)]
    return " ".join(f"{a}^{n}" if n > 1 else a for a, n in runs)
