"""An MLP that multiplies two matrices by GeLU units (docs/within.md, 3)."""

from typing import NamedTuple

import numpy as np

from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import STEPS, UNDERFLOW, Format, fits, gelu_units
from krohn.verify.checker.model_file import StrArray

SLACK = 1 + 2.0**-10
"""What rounded numbers may be larger than true ones."""


class Gates(NamedTuple):
    """What all units of a product have in common.

    Attributes:
        inside: w, the absolute value of both weights of a unit: 1/λ.
        outside: c, what a unit is multiplied by.
    """

    inside: float
    outside: float

    @property
    def gain(self) -> float:
        """What products are multiplied by: 8cw²/√(2π), 1 if c is the right one."""
        return float(8 * self.outside * self.inside**2 / np.sqrt(2 * np.pi))

    def rounding(
        self, reach: float, terms: tuple[int, int], form: Format
    ) -> tuple[float, float]:
        """What is i and o in Theorem W4: what sums inside and outside of units are off by.

        Args:
            reach: The largest |a| + |b| of two factors.
            terms: How many numbers are added inside, in two units less than what is
                rounded there, and outside.
            form: The format.

        Raises:
            Refused: If the format stores sums more coarsely than it makes them, or a sum
                can overflow.
        """
        narrow = form.unit > form.sum_unit
        demand(not narrow, f"{form.name} cannot hold products of real numbers")
        w, c = self
        size, u, (below, above) = SLACK * w * reach, form.sum_unit, terms
        demand(above * (u + c * UNDERFLOW) < 2.0**-10, "a product has too many terms")
        fits(above * c * max(size, 1.0), form, "a product", STEPS)
        inner = (0.5 + 0.8 * size) * growth(below, u)
        outer = float(gelu_units(size, form)) * u
        return inner, outer + growth(above, u) * (0.5 + 0.4 * size)

    @property
    def exact(self) -> bool:
        """Whether products with w are: it is a power of two."""
        return bool(np.frexp(self.inside)[0] == 0.5)


def gates(
    layers: list[tuple[FloatArray, FloatArray]],
    activations: list[StrArray],
    factors: tuple[range, range],
    result: range,
    size: int,
) -> Gates:
    """The units that write a product, each of which is the right one (Theorem W3).

    Entry (i, j) is read from 4n units, four for each k: they read X_ik and Y_kj with the
    weights ±w, and are multiplied by c, or by −c if the signs differ.

    Raises:
        Refused: If a unit reads or writes anything else.
    """
    demand(len(layers) == 2, "a product needs one hidden layer")
    (below, before), (above, after) = layers
    units = np.flatnonzero(above[:, result].any(axis=1))
    demand(len(units) == 4 * size**3, "a product has too few or too many units")
    demand(activations[0][units] == "gelu", "a unit of a product is no GeLU")
    demand(before[units] == 0, "a unit of a product has a bias")
    demand(after[result] == 0, "a product has a bias")
    left, right = factors
    demand(not set(left) & set(right), "a product of a matrix with itself")
    read, written = below[:, units].T, above[units][:, result]
    demand((read != 0).sum(axis=1) == 2, "a unit of a product reads too much")
    a, sign_a, inside = single(read[:, left])
    b, sign_b, also = single(read[:, right])
    entry, sign, outside = single(written)
    row, column = a // size, b % size
    demand(a % size == b // size, "a unit multiplies entries that do not meet")
    demand(entry == row * size + column, "a product is added to another entry")
    demand(sign == sign_a * sign_b, "a unit of a product has the wrong sign")
    ways = np.stack([a, b, sign_a, sign_b], axis=1)
    demand(len(np.unique(ways, axis=0)) == len(units), "a unit of a product is missing")
    w, c = float(inside[0]), float(outside[0])
    alike = np.all(inside == w) and np.all(also == w) and np.all(outside == c)
    demand(alike, "units of a product have unlike weights")
    return Gates(w, c)


def single(weights: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Of rows with one entry that is not 0: its place, its sign, its absolute value."""
    demand((weights != 0).sum(axis=1) == 1, "a unit of a product uses a wrong entry")
    place = np.abs(weights).argmax(axis=1)
    value = weights[np.arange(len(weights)), place]
    return place, np.sign(value).astype(np.int64), np.abs(value)


def growth(terms: int, unit: float) -> float:
    """γ: what a sum of so many terms is off by, in units of their absolute values."""
    return terms * unit / (1 - terms * unit)
