"""Bounds of positive matrices that the stream holds, and how gates change them.

Lemma W9b of docs/within.md, and the quantities of Theorem W9.
"""

from typing import NamedTuple

import numpy as np

from krohn.program.domains import BoolArray, FloatArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import Format, Interval
from krohn.verify.checker.product_gates import ROUNDED, Gates


class Held(NamedTuple):
    """Bounds of the matrix that a channel holds at each position, ``(T + 1,)`` each.

    It is s·X∘exp(ε), X an exact matrix of mass 1, where that is not 0, and s its own mass.

    Attributes:
        letters: How many letters are multiplied.
        ended: Whether they are the whole word so far, times the matrix of BOS.
        spread: D ≥ max ε − min ε.
        columns: C ≥ max ε − min ε in each column.
        mass: s.
        beside: Above what is where X is 0: at BOS, in rows where the start is 0.
    """

    letters: FloatArray
    ended: BoolArray
    spread: Interval
    columns: Interval
    mass: Interval
    beside: Interval

    @classmethod
    def of(cls, noise: FloatArray) -> "Held":
        """From one array, as the noise of a channel is."""
        letters, ended, spread, columns, low, high, beside = noise
        ends = Interval.of(spread), Interval.of(columns), Interval(low, high)
        return cls(letters, ended > 0, *ends, Interval.of(beside))

    def apart(self, more: Interval) -> "Held":
        """With more between the logarithms of errors, of columns as of all."""
        return self._replace(spread=self.spread + more, columns=self.columns + more)

    @property
    def grown(self) -> Interval:
        """From e^−D to e^D."""
        most = self.spread.through(np.exp)
        return most.joined(1 / most)

    def noise(self, name: str) -> FloatArray:
        """As one array.

        Raises:
            Refused: If nothing is known any more.
        """
        least, most = self.mass.low, self.mass.high
        above = [x.high for x in (self.spread, self.columns)]
        found = np.array(
            [self.letters, self.ended, *above, least, most, self.beside.high]
        )
        demand(np.isfinite(found) & (least > 0), f"nothing is left of {name!r}")
        demand(self.spread < 1, f"{name!r} can be off by its own size")
        return found


class Range(NamedTuple):
    """Between which numbers the entries of a factor are.

    Attributes:
        bottom: Below all that are not 0 in exact numbers; above 0.
        top: Above the absolute value of all.
        squares: How far squares of those at one position are apart.
    """

    bottom: Interval
    top: Interval
    squares: Interval


class Curve(NamedTuple):
    """The curve by which gates distort products of positive numbers (Lemma W3).

    Attributes:
        under: f(a, b) ≥ ab·(1 − under).
        over: f(a, b) ≤ ab·(1 + over).
        spread: How far logarithms of f(a, b)/ab are apart.
    """

    under: Interval
    over: Interval
    spread: Interval

    @classmethod
    def of(cls, w: float, a: Range, b: Range) -> "Curve":
        """That of gates with weights w.

        Raises:
            Refused: If factors are too large for it.
        """
        x, y = (w * r.top * (w * r.top) for r in (a, b))
        under, over = (x + y) / 3, (3 * x * x + 10 * x * y + 3 * y * y) / 40
        demand(under + over < 0.25, "factors are too large for their gates")
        moved = Interval.of(w) * w * (a.squares + b.squares) / 3 + over
        return cls(under, over, (moved / (1 - under)).through(np.log1p))

    def factor(self, rounded: Interval) -> Interval:
        """The factor of sums of products, if they are rounded so much, too."""
        return (1 - self.under - rounded).joined(1 + self.over + rounded)

    def apart(self, rounded: Interval) -> Interval:
        """How far logarithms of what they are multiplied by are apart."""
        return self.spread + logarithms(rounded / (1 - self.under))


def logarithms(off: Interval) -> Interval:
    """How far logarithms of 1 ± off are apart; infinite where that has none."""
    near = off.minimum(1.0)
    return near.through(np.log1p) - (-near).through(np.log1p)


def rounding(
    units: Gates, reach: Interval, terms: tuple[int, int], form: Format
) -> Interval:
    """The rounding error of a product of two numbers, in units of the larger factor.

    Four units are added, whose numbers inside add up to twice the factors.
    """
    inner, outer = units.rounding(reach, terms, form)
    weight = ROUNDED * 4 * Interval.of(units.outside) * units.inside / units.gain
    return weight * (2 * inner + outer)
