"""Names and numbers as pages show them."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

from markupsafe import Markup

from krohn.drawing.canvas import legible

LONGEST_NAME = 120


def plain(text: object, limit: int = LONGEST_NAME) -> str:
    """A text from a file on one line, with what is not seen escaped as in Python."""
    return legible(str(text), limit)


def name(text: object, limit: int = LONGEST_NAME) -> Markup:
    """The same, escaped for HTML, and with a direction of its own."""
    return Markup("<bdi>{}</bdi>").format(plain(text, limit) or "(empty)")


def at_most(value: float | None) -> str:
    """An upper bound with three digits, rounded up; None is unknown."""
    return _rounded(value, ROUND_CEILING)


def at_least(value: float | None) -> str:
    """A lower bound with three digits, rounded down; None is unknown."""
    return _rounded(value, ROUND_FLOOR)


def _rounded(value: float | None, rounding: str) -> str:
    if value is None:
        return "–"
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    digits = Context(prec=3, rounding=rounding).create_decimal_from_float(value)
    if 1e-3 <= abs(digits) < 10_000:
        return f"{digits.normalize():f}"
    mantissa, exponent = f"{digits:.2e}".split("e")
    return f"{mantissa} · 10{superscript(int(exponent))}"


def superscript(number: int) -> str:
    """A whole number as small raised digits."""
    return str(number).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
