"""What is known of positive matrices that are held, and what gates do to them.

Lemma W9b of docs/within.md, and the quantities of Theorem W9.
"""

from typing import NamedTuple

import numpy as np

from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import INFLATION, Format
from krohn.verify.checker.product_gates import SLACK, Gates


class Held(NamedTuple):
    """What is known of the matrix that a channel holds at each position, ``(T + 1,)`` each.

    It is s·X∘exp(ε), X an exact matrix of mass 1, where that is not 0, and s its own mass.

    Attributes:
        letters: How many letters are multiplied.
        ended: 1 if they are the whole word so far, times the matrix of BOS; else 0.
        spread: D ≥ max ε − min ε.
        columns: C ≥ max ε − min ε in each column.
        low: Below the mass.
        high: The same from above.
        beside: Above what is where X is 0: at BOS, in rows where the start is 0.
    """

    letters: FloatArray
    ended: FloatArray
    spread: FloatArray
    columns: FloatArray
    low: FloatArray
    high: FloatArray
    beside: FloatArray

    def scaled(self, low: FloatArray, high: FloatArray) -> "Held":
        """With other bounds of the mass."""
        return self._replace(low=low / INFLATION, high=high * INFLATION)

    def apart(self, spread: FloatArray, columns: FloatArray) -> "Held":
        """With more between the logarithms of errors."""
        return self._replace(
            spread=(self.spread + spread) * INFLATION,
            columns=(self.columns + columns) * INFLATION,
        )

    def noise(self, name: str) -> FloatArray:
        """As one array, as the noise of a channel is.

        Raises:
            Refused: If nothing is known any more.
        """
        found = np.array(self)
        demand(np.isfinite(found) & (self.low > 0), f"nothing is left of {name!r}")
        demand(self.spread < 1, f"{name!r} can be off by its own size")
        return found


class Curve(NamedTuple):
    """What gates make of products of positive numbers (Lemma W3).

    Attributes:
        under: f(a, b) ≥ ab·(1 − under).
        over: f(a, b) ≤ ab·(1 + over).
        spread: How far logarithms of f(a, b)/ab are apart.
    """

    under: FloatArray
    over: FloatArray
    spread: FloatArray

    @classmethod
    def of(cls, w: float, a: "Range", b: "Range") -> "Curve":
        """That of gates with weights w.

        Raises:
            Refused: If factors are too large for it.
        """
        x, y = w * a.top, w * b.top  # powers of w alone could be flushed to 0
        under = (x**2 + y**2) / 3
        over = (12 * x**4 + 40 * (x * y) ** 2 + 12 * y**4) / 160
        demand(under + over < 0.25, "factors are too large for their gates")
        moved = w * w * (a.squares + b.squares) / 3 + over
        return cls(under, over, np.log1p(moved / (1 - under)) * INFLATION)


class Range(NamedTuple):
    """Between which numbers the entries of a factor are.

    Attributes:
        bottom: Below all that are not 0 in exact numbers.
        top: Above the absolute value of all.
        squares: How far squares of those at one position are apart.
    """

    bottom: FloatArray
    top: FloatArray
    squares: FloatArray


def logarithms(off: FloatArray) -> FloatArray:
    """How far logarithms of 1 ± off are apart; infinite where that has none."""
    near = np.minimum(off, 1.0)
    return np.asarray((np.log1p(near) - np.log1p(-near)) * INFLATION)


def rounding(units: Gates, reach: float, terms: tuple[int, int], form: Format) -> float:
    """What a product of two numbers is rounded by, in units of the larger factor.

    Four units are added, whose numbers inside add up to twice the factors.
    """
    inner, outer = units.rounding(reach, terms, form)
    weight = SLACK * 4 * units.outside * units.inside / units.gain
    return float(weight * (2 * inner + outer) * INFLATION)
