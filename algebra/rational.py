"""Rational numbers as people write them: ``1/3``, ``0.4``, ``1e-3``."""

import re
from fractions import Fraction

from krohn.algebra.errors import KrohnError

_FORM = re.compile(
    r"\d{1,40}/\d{1,40}|(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][-+]?\d{1,2})?"
)


def rational(text: str) -> Fraction:
    """The number that a text says.

    Texts may come from files that mean harm: ``1e999999999`` has as many digits, so that
    exponents of three digits are no numbers here.

    Raises:
        ValueError: If it says none that is 0 or more, or one of too many digits.
        ZeroDivisionError: If it divides by 0.
    """
    if not _FORM.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is no number such as 1/3 or 0.4")
    return Fraction(text)


def probability(text: str) -> Fraction:
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
