"""Numbers, names and words in sentences, and rational numbers as people write them."""

import re
from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING

from krohn.algebra.errors import KrohnError
from krohn.program.quoting import cut as cut, listed as listed, near as near

if TYPE_CHECKING:
    from fractions import Fraction

# Numbers with their nouns, words by their runs, and texts cut to a length.


LONGEST = 200
"""In characters, of a word on which a network is wrong; how to replay it has all."""


def count(number: int, noun: str, plural: str = "s") -> str:
    """A number with its noun: ``1 letter``, ``2,000 letters``."""
    return f"{number:,} {noun}{'' if number == 1 else plural}"


def exactly(number: float) -> str:
    """A number in as few digits as say it and no other one: ``1``, ``0.1``."""
    return repr(number).removesuffix(".0")


def in_runs(word: Iterable[str]) -> str:
    """Letters in a row as powers: ``1^128 0``."""
    runs = [(letter, len(list(group))) for letter, group in groupby(word)]
    return " ".join(f"{a}^{n}" if n > 1 else a for a, n in runs)


def takes(option: str, known: Iterable[str], value: object) -> str:
    """``--form takes moore, mealy, not 'dfa'``: the refusal of a value of an option.

    Args:
        option: As a command has it.
        known: The values that there are.
        value: The one that was given.
    """
    names = list(known)
    hint = near(str(value), names)
    return f"{option} takes {', '.join(names)}, not {value!r}{hint}"


# Rational numbers as people write them: ``1/3``, ``0.4``, ``1e-3``.


_FORM = re.compile(
    r"\d{1,40}/\d{1,40}|(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][-+]?\d{1,2})?"
)


def rational(text: str) -> "Fraction":
    """The number that a text says.

    Texts may come from files that mean harm: ``1e999999999`` has as many digits, so that
    exponents of three digits are no numbers here.

    Raises:
        ValueError: If it says none that is 0 or more, or one of too many digits.
        ZeroDivisionError: If it divides by 0.
    """
    if not _FORM.fullmatch(text):
        raise ValueError(f"{cut(text, 40)!r} is no number such as 1/3 or 0.4")
    from fractions import Fraction

    return Fraction(text)


def probability(text: str) -> "Fraction":
    """A probability as a person writes it: ``1/3`` or ``0.4``.

    Raises:
        KrohnError: If it is no number.
    """
    try:
        return rational(text)
    except (ValueError, ZeroDivisionError):
        raise KrohnError(
            f"{text!r} is no probability; write one such as 1/2 or 0.4"
        ) from None
