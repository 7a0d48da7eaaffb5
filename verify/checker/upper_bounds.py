"""Upper bounds of numbers that are not negative, in a tenth of an interval's time."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from krohn.program.domains import BoolArray, FloatArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import (
    GELU,
    OWN_UNIT,
    SINE,
    TINY,
    UNDERFLOW,
    Format,
    gelu_units,
)


@dataclass(frozen=True, eq=False)
class Upper:
    """Bounds of numbers that are not negative; operations round up.

    It is the greater end of an `Interval` from 0, in a tenth of the time. A product that
    is not 0 is at least 2^-1000, so that none is lost below the normal range.

    Attributes:
        most: The bounds.
    """

    most: FloatArray
    __array_ufunc__ = None  # so that arrays leave operations to bounds

    @staticmethod
    def of(exact: "Bound") -> "Upper":
        """Numbers of float64 as they are."""
        if isinstance(exact, Upper):
            return exact
        return Upper(np.asarray(exact, np.float64))

    @staticmethod
    def from_computed(found: FloatArray, operations: FloatArray | float = 1) -> "Upper":
        """An upper bound from so many operations of float64 on non-negative numbers.

        No product among them is below the normal range, or counts for anything there.
        """
        return Upper(np.asarray(found * (1 + 4 * (operations + 1) * OWN_UNIT)))

    def __add__(self, other: "Bound") -> "Upper":
        return Upper.from_computed(self.most + Upper.of(other).most)

    __radd__ = __add__

    def __mul__(self, other: "Bound") -> "Upper":
        x, y = self.most, Upper.of(other).most
        product = Upper.from_computed(x * y)
        return Upper(np.maximum(product.most, TINY * ((x > 0) & (y > 0))))

    __rmul__ = __mul__

    def sum(self, axis: int) -> "Upper":
        """Sums along an axis."""
        return Upper.from_computed(self.most.sum(axis=axis), self.most.shape[axis])


Bound: TypeAlias = Upper | FloatArray | BoolArray | float


def both_sum_errors(form: Format, terms: FloatArray, size: FloatArray) -> Upper:
    """The largest error of sums in any order, of the format and of this checker together.

    Args:
        form: The format.
        terms: How many numbers are added.
        size: The sum of their absolute values, as float64 gave it.
    """
    demand(terms * form.sum_unit < 0.5, "a sum has too many terms")
    parts = (terms * unit for unit in (form.sum_unit, OWN_UNIT))
    units = sum(x / (1 - x) for x in parts)
    return Upper.from_computed(units * size + terms * UNDERFLOW, terms + 8)


def sine_error(form: Format) -> float:
    """The largest error of sines, with that of this checker's own (A11)."""
    return SINE * (form.sum_unit + 8 * OWN_UNIT)


def gelu_error(form: Format, reach: Upper) -> Upper:
    """The largest error of GeLUs of numbers up to a size, before they are stored (A12)."""
    units: FloatArray = gelu_units(reach.most, form) * form.sum_unit
    return reach * units + np.where(reach.most > 0, UNDERFLOW, 0.0)


def gelu_new_error(form: Format, reach: Upper) -> Upper:
    """The largest error of GeLUs by a hyperbolic tangent, stored (A16)."""
    lost = UNDERFLOW + 3 * form.unit * form.smallest
    return reach * (GELU * form.unit) + np.where(reach.most > 0, lost, 0.0)
