"""Floating-point arithmetic, of networks and of this checker: told here and nowhere else.

Networks compute by assumptions A1 to A16 of docs/soundness.md: `Format` has their unit
roundoffs, `sum_error` and `fits` say what sums can be off by and when nothing overflows.
The checker computes bounds in float64: an `Interval` rounds outwards by itself, and an
`Upper` of `krohn.verify.checker.upper_bounds` upwards, so no other module says anything of
rounding.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from krohn.program.domains import BoolArray, FloatArray
from krohn.program.errors import demand

OWN_UNIT = 2.0**-53
"""The unit roundoff of this checker."""
INFLATION = 1 + 2.0**-40
"""The factor that widens bounds from a few operations of float64."""
UNDERFLOW = 2.0**-126
"""The most that a product below the normal range loses (A9)."""
ERASED = UNDERFLOW
"""The most that two units leave which subtract a number from itself (Lemma 16a)."""
FARTHEST_EXPONENT, GROWN = 32.0, 2.0**47
"""The exponent of a row's largest score, which should be 0, may be off by so much; and
what that makes of its weight and, at most, of all others: more than e^32."""
OWN_FUNCTIONS = 2.0**-47
"""More than functions of numpy are off by: exponentials, logarithms, roots, tangents,
sines and cosines."""
TINY = 2.0**-1000
"""More than sums of this checker lose below the normal range."""
LARGEST_FLOAT32 = 2.0**128 - 2.0**104
LARGEST_FLOAT64 = float(np.finfo(np.float64).max)
COARSE, AT_ZERO, NEAR_ZERO, STRETCH = 2.0**-12, 2.0**-14, 2.0**-10, 16
"""Of exponentials in 16-bit formats: their errors, also next to 0; positions until they
rescale (A6, A8)."""
SINE, FARTHEST = 8, 2.0**22
"""Sines are off by so many units of a sum, for arguments up to the farthest (A11)."""
GELU, GELU_SMALL, SMALL = 8, 2, 2.0**-6
"""GeLUs of x are off by so many units of |x|; of small ones in float64 by fewer (A12)."""
GATE = 8
"""Gates are off by so many units of a sum (A14)."""


class Format(NamedTuple):
    """A floating-point format: its names, digits, unit roundoffs and range.

    ``sum_unit`` is the unit roundoff of the accumulator, and ``sum_largest`` its largest
    number: sums of products and exponents are made in it.
    """

    name: str
    code: str
    digits: int
    unit: float
    sum_unit: float
    largest: float
    sum_largest: float
    smallest: float

    @property
    def narrow(self) -> bool:
        """Whether it stores sums more coarsely than it makes them."""
        return self.unit > self.sum_unit

    @property
    def exponential(self) -> float:
        """The largest relative error of exponentials (A6)."""
        return COARSE if self.narrow else 40 * self.sum_unit

    def divide_range(self, gain: float) -> "Format":
        """That of this format's numbers, divided by a power of two."""
        most, inside = self.largest / gain, self.sum_largest / gain
        return self._replace(largest=most, sum_largest=inside)


_F64, _F32 = (2.0**-53, LARGEST_FLOAT64), (2.0**-24, LARGEST_FLOAT32)
_BF16 = 2.0**128 - 2.0**120
FORMATS = {
    name: Format(name, code, digits, 2.0**-digits, inside[0], most, inside[1], least)
    for name, code, digits, most, inside, least in (
        ("float64", "F64", 53, LARGEST_FLOAT64, _F64, 2.0**-1022),
        ("float32", "F32", 24, LARGEST_FLOAT32, _F32, 2.0**-126),
        ("float16", "F16", 11, 65504.0, _F32, 2.0**-14),
        ("bfloat16", "BF16", 8, _BF16, _F32, 2.0**-126),
    )
}


class Room(NamedTuple):
    """How often a bound must fit.

    Attributes:
        stored: Into the largest number of the stored format; 0 if nothing is stored.
        inside: Into the largest number of the accumulator.
    """

    stored: float
    inside: float


STORED = Room(1.0, 1.0)
"""One number, which is stored."""
INSIDE = Room(0.0, 4.0)
"""Sums of terms, whose absolute values add up to the bound, in any order, not stored."""
SUM = Room(1.0, 4.0)
"""The same, stored; and scores with the exponents that are made of them."""
STEPS = Room(4.0, 4.0)
"""Up to five operations, each stored, with numbers that add up to the bound."""


def fits(size: Any, form: Format, what: str, room: Room) -> None:
    """Refuse what can overflow on the way or in the end (Lemma 6b).

    Args:
        size: Bounds of absolute values, an `Interval` or numbers.
        form: The format that is computed in.
        what: Their name.
        room: What becomes of them.

    Raises:
        Refused: If it can, or a bound is not a number.
    """
    most = form.sum_largest / room.inside
    if room.stored:
        most = min(most, form.largest / room.stored)
    bound = size.size if isinstance(size, Interval) else np.asarray(size)
    demand(bound <= most / INFLATION, f"{what} can overflow")


@dataclass(frozen=True, eq=False)
class Interval:
    """All numbers from ``low`` to ``high``, entry by entry; operations round outwards.

    Of an operation on intervals the result has each result of exact operations on numbers
    in them (Lemma 6c). Comparisons are true where they are for all these numbers. Plain
    numbers beside an interval stand for themselves, exactly.

    Attributes:
        low: The least.
        high: The greatest; of the same shape.
    """

    low: FloatArray
    high: FloatArray
    __array_ufunc__ = None  # so that arrays leave operations to intervals

    @staticmethod
    def of(exact: "Operand") -> "Interval":
        """Numbers of float64 as they are; a fraction between its neighbours."""
        if isinstance(exact, Interval):
            return exact
        if isinstance(exact, Fraction):
            near = np.asarray(float(exact))
            same = Fraction(float(exact)) == exact
            return Interval(near, near) if same else _outwards(near, near)
        numbers = np.asarray(exact, np.float64)
        return Interval(numbers, numbers)

    @staticmethod
    def from_ends(first: FloatArray, last: FloatArray) -> "Interval":
        """From the first to the last numbers, whichever of two is less."""
        return Interval(np.minimum(first, last), np.maximum(first, last))

    @property
    def size(self) -> FloatArray:
        """The largest absolute values."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def most(self) -> float:
        """The greatest number of all."""
        return float(np.max(self.high))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its arrays."""
        return np.shape(self.low)

    @property
    def _ends(self) -> tuple[FloatArray, ...]:
        """Its bounds; of numbers that stand for themselves there is one."""
        return (self.low,) if self.low is self.high else (self.low, self.high)

    def each(self, change: Callable[[FloatArray], FloatArray]) -> "Interval":
        """With both bounds rearranged alike, by what rounds nothing."""
        return Interval(change(self.low), change(self.high))

    def __getitem__(self, at: Any) -> "Interval":
        return Interval(np.asarray(self.low[at]), np.asarray(self.high[at]))

    @staticmethod
    def nearest(exact: list[Fraction]) -> "Interval":
        """``(numbers,)``: fractions, each between the neighbours of its nearest number."""
        near = np.array([float(x) for x in exact])
        same = [Fraction(y) == x for x, y in zip(exact, near.tolist(), strict=True)]
        return Interval(*_beside(near, np.array(same)))

    @staticmethod
    def stack_intervals(each: Iterable["Operand"]) -> "Interval":
        """Several of one shape, along a new first axis."""
        parts = [Interval.of(x) for x in each]
        return Interval(
            np.array([x.low for x in parts]), np.array([x.high for x in parts])
        )

    def wider(self, off: "Operand") -> "Interval":
        """With all that is within ``off`` of it."""
        by = Interval.of(off).size
        return Interval(_add_down(self.low, -by), _add_up(self.high, by))

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low)

    def __abs__(self) -> "Interval":
        least = np.maximum(np.maximum(self.low, -self.high), 0.0)
        return Interval(least, self.size)

    def __add__(self, other: "Operand") -> "Interval":
        o = Interval.of(other)
        return Interval(_add_down(self.low, o.low), _add_up(self.high, o.high))

    __radd__ = __add__

    def __sub__(self, other: "Operand") -> "Interval":
        return self + -Interval.of(other)

    def __rsub__(self, other: "Operand") -> "Interval":
        return -self + other

    def __mul__(self, other: "Operand") -> "Interval":
        o = Interval.of(other)
        pairs = [(a, b) for a in self._ends for b in o._ends]
        ends = [_beside(np.asarray(a * b), (a == 0) | (b == 0)) for a, b in pairs]
        return _hull(ends)

    __rmul__ = __mul__

    def __truediv__(self, other: "Operand") -> "Interval":
        o = Interval.of(other)
        demand((o.low > 0) | (o.high < 0), "a bound divides by what may be 0")
        pairs = [(a, b) for a in self._ends for b in o._ends]
        return _hull([_beside(np.asarray(a / b), a == 0) for a, b in pairs])

    def __rtruediv__(self, other: "Operand") -> "Interval":
        return Interval.of(other) / self

    def __matmul__(self, other: "Operand") -> "Interval":
        x, y = self.middle(), Interval.of(other).middle()
        both = [[np.abs(a), np.asarray(b)] for a, b in (x, y)]
        wide = both[0][0] @ both[1][1] + both[0][1] @ (both[1][0] + both[1][1])
        size = both[0][0] @ both[1][0] + wide
        # Zeros add nothing; γ of n terms is less than n + 1 units.
        used = [((a > 0) | (b > 0)).astype(np.float64) for a, b in both]
        terms = used[0] @ used[1]
        off = wide + (terms + 1) * OWN_UNIT * size
        off = off * (1 + 8 * (terms + 4) * OWN_UNIT) + terms * TINY
        return Interval.of(x[0] @ y[0]).wider(off)

    def __rmatmul__(self, other: "Operand") -> "Interval":
        return Interval.of(other) @ self

    def __lt__(self, other: "Operand") -> BoolArray:
        return np.asarray(self.high < Interval.of(other).low)

    def __le__(self, other: "Operand") -> BoolArray:
        return np.asarray(self.high <= Interval.of(other).low)

    def __gt__(self, other: "Operand") -> BoolArray:
        return Interval.of(other) < self

    def __ge__(self, other: "Operand") -> BoolArray:
        return Interval.of(other) <= self

    def inside(self, other: "Interval") -> BoolArray:
        """Where it lies in another one."""
        return np.asarray((other.low <= self.low) & (self.high <= other.high))

    def sum(self, axis: int | None = None) -> "Interval":
        """Sums of all entries, or along an axis."""
        terms = self.low.size if axis is None else self.low.shape[axis]
        size = self.size.sum(axis=axis)
        low, high = (np.asarray(x.sum(axis=axis)) for x in (self.low, self.high))
        return Interval(low, high).wider(own_error(terms, size))

    def root(self) -> "Interval":
        """Square roots of numbers that are not negative."""
        return self.maximum(0.0).through(np.sqrt)

    def max(self, axis: int | None = None) -> "Interval":
        """The greatest of all entries, or along an axis."""
        return self.each(lambda x: np.asarray(x.max(axis=axis)))

    def min(self, axis: int | None = None) -> "Interval":
        """The least of all entries, or along an axis."""
        return self.each(lambda x: np.asarray(x.min(axis=axis)))

    def maximum(self, other: "Operand") -> "Interval":
        """The greater of two."""
        o = Interval.of(other)
        return Interval(np.maximum(self.low, o.low), np.maximum(self.high, o.high))

    def minimum(self, other: "Operand") -> "Interval":
        """The less of two."""
        return -((-self).maximum(-Interval.of(other)))

    def join_with(self, other: "Operand") -> "Interval":
        """Both, and all between them."""
        o = Interval.of(other)
        return Interval(np.minimum(self.low, o.low), np.maximum(self.high, o.high))

    def where(self, chosen: BoolArray, other: "Operand") -> "Interval":
        """These entries where they are chosen, and else those of another one."""
        o = Interval.of(other)
        low, high = (
            np.where(chosen, self.low, o.low),
            np.where(chosen, self.high, o.high),
        )
        return Interval(low, high)

    def through(self, rising: Callable[[FloatArray], FloatArray]) -> "Interval":
        """A rising function of numpy's, such as exp, expm1, log, log1p, sqrt or tanh.

        They are right up to 4 units in the last place, far below what is left for them,
        and exact at 0.
        """
        ends = []
        for x in (self.low, self.high):
            value = np.asarray(rising(x))
            off = (OWN_FUNCTIONS * np.abs(value) + TINY) * (x != 0)
            ends.append(Interval(value, value).wider(off))
        return Interval(ends[0].low, ends[1].high)

    def middle(self) -> tuple[FloatArray, FloatArray]:
        """A number inside of each entry, and how far the others are from it."""
        if self.low is self.high:
            return self.low, np.zeros_like(self.low)
        middle = np.asarray(self.low / 2 + self.high / 2)
        off = Interval.of(middle)
        apart = (self.high - off).maximum(off - self.low).high
        return middle, apart


Operand: TypeAlias = Interval | FloatArray | Fraction | float


def two_sum(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sums in float64, and what each leaves out, exactly (Knuth 1969)."""
    total = np.asarray(x + y)
    back = total - x
    return total, (x - (total - back)) + (y - back)


def _add_down(x: FloatArray, y: FloatArray) -> FloatArray:
    """Below sums; the sum where it is exact."""
    total, left = two_sum(x, y)
    return _towards(-np.inf, total, left == 0)


def _add_up(x: FloatArray, y: FloatArray) -> FloatArray:
    """Above sums; the sum where it is exact."""
    total, left = two_sum(x, y)
    return _towards(np.inf, total, left == 0)


def _beside(value: FloatArray, exact: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Below and above what was rounded once; both are it where it is exact."""
    return _towards(-np.inf, value, exact), _towards(np.inf, value, exact)


def _towards(end: float, value: FloatArray, exact: BoolArray) -> FloatArray:
    return value if exact.all() else np.where(exact, value, np.nextafter(value, end))


def _hull(ends: list[tuple[FloatArray, FloatArray]]) -> Interval:
    """From the least of some lower to the greatest of their upper bounds."""
    low, high = zip(*ends, strict=True)
    return Interval(reduce(np.minimum, low), reduce(np.maximum, high))


def _outwards(low: Any, high: Any) -> Interval:
    """The interval of all numbers between two bounds that were each rounded once."""
    least, most = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
    return Interval(np.asarray(least), np.asarray(most))


def gamma(terms: Operand, unit: float) -> Interval:
    """γ: what sums of so many terms can be off by, of their absolute values (Lemma 5).

    Raises:
        Refused: If there are too many.
    """
    part = Interval.of(terms) * unit
    demand(part <= 0.5, "a sum has too many terms")
    return part / (1 - part)


def fits_between(least: float, most: float, form: Format, digits: float) -> None:
    """Refuse positive numbers that are near the ends of the range of a format.

    Args:
        least: The binary logarithm of a bound from below.
        most: That of a bound from above.
        form: The format that is computed in.
        digits: How many binary digits there must be between them and the ends.

    Raises:
        Refused: If there are fewer, or a bound is not a number.
    """
    low, high = np.log2(form.smallest) + digits, np.log2(form.largest) - digits
    demand(least >= low, f"a number may be 2^{least:.0f}, too small for {form.name}")
    demand(most <= high, f"a number may be 2^{most:.0f}, too large for {form.name}")


def bound_underflow(terms: Operand) -> Interval:
    """The most that sums of so many products lose below the normal range (Lemma 5)."""
    return Interval.of(terms) * UNDERFLOW


def lost(count: int, largest: Operand) -> Interval:
    """The most that a mean of values up to a size loses below the normal range (A6, A9)."""
    return bound_underflow(16 * count) * (1 + Interval.of(largest))


def sum_error(form: Format, terms: Operand, size: Operand) -> Interval:
    """The largest error of sums in any order (Lemma 5), before they are stored.

    Args:
        form: The format.
        terms: How many products and numbers are added.
        size: The sum of their absolute values.
    """
    return gamma(terms, form.sum_unit) * size + bound_underflow(terms)


def store_error(form: Format, size: Operand) -> Interval:
    """The largest error of storing a number of up to this size (Lemma 9)."""
    return (Interval.of(size) + form.smallest) * form.unit


def own_error(operations: FloatArray | float, size: Operand) -> Interval:
    """The largest error of so many operations of this checker on numbers up to a size."""
    return Interval.of(size) * (4 * operations * OWN_UNIT)


def own_error_anywhere(operations: float, size: Operand) -> Interval:
    """The largest error of so many operations, below the normal range, too."""
    return own_error(operations, size) + operations * TINY


def most_exp(exponent: FloatArray) -> FloatArray:
    """e^x, at least; positive where float64 has no such number, too."""
    return np.asarray(np.exp(exponent) * (1 + OWN_FUNCTIONS) + TINY)


def enclose_sum(positive: Operand, terms: float) -> Interval:
    """Sums of so many terms, none negative, as float64 gave them, with their error."""
    return Interval.of(positive).wider(own_error(terms + 2, positive))


def gelu_units(size: Any, form: Format) -> Any:
    """How far GeLUs of numbers up to a size are off, in units of |x| (A12)."""
    small = (np.asarray(size) < SMALL) & (form.name == "float64")
    return np.where(small, GELU_SMALL, GELU)


def bound_all_steps(bound: Callable[[Interval], Interval], room: Operand) -> Interval:
    """A bound of the errors of all steps (Theorem E).

    Args:
        bound: What no later error exceeds, if no earlier one exceeds its argument; it
            rises with it.
        room: What bounds itself.

    Raises:
        Refused: If it does not.
    """
    most = Interval.of(room)
    for _ in range(2):
        next_bound = Interval.of(bound(most).high)
        demand(next_bound <= most, "errors cannot be bounded: they may grow")
        most = next_bound
    return most
