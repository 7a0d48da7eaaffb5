"""One step of a rounded recurrence, and sums that no rounding can change.

Lemmas D7 and D8 of docs/state-space-models.md.
"""

from typing import NamedTuple

import numpy as np

from krohn.program.domains import BoolArray, FloatArray
from krohn.verify.checker.affine_arithmetic import FINEST, finest
from krohn.verify.checker.arithmetic import (
    FORMATS,
    STORED,
    SUM,
    Format,
    Interval,
    fits,
    sum_error,
)

SPLIT = 2.0**27 + 1
WIDE = 2.0**500
"""Factors up to here, and products from its inverse on, split without overflow."""
CELL = 2**7
"""How many terms of a product take as long as one number that is looked at."""


def rounded(x: FloatArray, form: Format) -> FloatArray:
    """Numbers rounded to a format, ties to even; below the normal ones on their grid."""
    if form.digits >= 53:
        return x
    least = int(np.log2(form.smallest)) + 1
    by = form.digits - np.maximum(np.frexp(x)[1], least)
    return np.asarray(np.ldexp(np.rint(np.ldexp(x, by)), -by))


class Step(NamedTuple):
    """What comes after a step of the recurrence.

    Attributes:
        after: round(round(a · h) + b).
        sure: Whether round(a · h + b) is the same, also if it is rounded to the digits of
            sums before, and nothing is subnormal, or was before it was rounded.
    """

    after: FloatArray
    sure: BoolArray


def step(h: FloatArray, a: FloatArray, b: FloatArray, form: Format) -> Step:
    """A step a · h + b, product and sum rounded each, or (fused) together.

    Args:
        h: Numbers of the format; all three are broadcast.
        a: Decays.
        b: Addends.
        form: The format.

    Raises:
        Refused: If a number leaves the format's range.
    """
    whole, rest = _product(h, a)
    product = rounded(whole, form)
    rest = (whole - product) + rest
    total = product + b
    back = total - product
    error = (product - (total - back)) + (b - back)
    after = rounded(total, form)
    fits(np.maximum(np.abs(product), np.abs(after)), form, "a recurrence", STORED)
    off = Interval.of(total - after) + error + rest
    part, exponent = np.frexp(after)
    share = np.where(np.abs(part) == 0.5, 0.25, 0.5) * (after != 0)
    half = np.ldexp(share, exponent - form.digits)
    twice = 4 * form.sum_unit / form.unit if form.sum_unit < form.unit else 0.0
    same = (rest == 0) | (abs(off) < (1 - twice) * half)
    lost = (product == 0) & (h != 0) & (a != 0)
    changed = np.abs(total - after) + np.abs(error) + np.abs(rest)
    tiny = _tiny(product, rest, form) | _tiny(after, changed, form)
    return Step(after + 0.0, np.asarray(same & ~lost & ~tiny))


def _tiny(x: FloatArray, off: FloatArray, form: Format) -> BoolArray:
    """What may be flushed: a subnormal number, or one that was rounded up from there."""
    size = np.abs(x)
    below = (x != 0) & (size < form.smallest)
    return np.asarray(below | ((size == form.smallest) & (off != 0)))


def _product(h: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Their product as an unevaluated sum of two; the second is NaN if it is not known."""
    whole = h * a
    (h1, h2), (a1, a2) = _split(h), _split(a)
    rest = ((h1 * a1 - whole) + h1 * a2 + h2 * a1) + h2 * a2
    fits = (np.abs(h) < WIDE) & (np.abs(a) < WIDE) & (np.abs(whole) > 1 / WIDE)
    rest = np.where(fits, rest, np.nan)
    scaled = (np.abs(np.frexp(a)[0]) == 0.5) | (a == 0) | (h == 0)
    return whole, np.where(scaled, 0.0, rest)


def _split(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two halves of 26 digits (Dekker 1971)."""
    far = SPLIT * x
    high = far - (far - x)
    return high, x - high


class Affine(NamedTuple):
    """x ↦ x · weight + bias."""

    weight: FloatArray
    bias: FloatArray

    @property
    def cost(self) -> int:
        """Of `exact` for one row, in terms."""
        return self.weight.size + CELL * sum(self.weight.shape)

    def exact(self, x: FloatArray, form: Format, relu: bool) -> tuple[FloatArray, bool]:
        """What it gives in the format, by sums in any order; and whether that is sure.

        Args:
            x: ``(rows, inputs)``, known numbers of the format.
            form: The format.
            relu: Whether a ReLU follows: then what is surely negative is 0.
        """
        product = x @ self.weight
        total = product + self.bias
        size = np.abs(x) @ np.abs(self.weight) + np.abs(self.bias)
        fits(size, form, "a sum", SUM)
        terms = 1.0 * (x != 0) @ (self.weight != 0)
        grid = max(finest(x) + finest(self.weight), finest(self.bias))
        most = 1 / form.sum_unit
        held = (grid <= FINEST) & (2.0 ** -min(grid, 99) >= form.smallest)
        small = held & (size * 2.0 ** min(grid, 99) < most)
        plain = bool((np.abs(np.frexp(self.weight)[0]) % 0.5 == 0).all())
        pair = plain & held & (terms + (self.bias != 0) <= 2)
        two = pair & (np.abs(total) * 2.0 ** min(grid, 99) < most)
        one = plain & (terms == 1) & (self.bias == 0)
        one &= np.abs(product) >= form.smallest
        sure = small | two | one | (terms == 0)
        stored = (rounded(product, form) == product) & (rounded(total, form) == total)
        sure &= stored
        if not relu:
            return total, bool(sure.all())
        # Twice: the sizes are rounded, too.
        off = sum_error(form, terms + 1, size) + 4 * form.unit * size
        off = 2 * (
            off + 2 * form.smallest + sum_error(FORMATS["float64"], terms + 1, size)
        )
        negative = Interval.of(total) + off < 0
        return np.where(negative, 0.0, np.maximum(total, 0.0)), bool(
            (sure | negative).all()
        )
