"""Numbers with an error bound, pushed through the arithmetic of a network.

A `Noisy` array stands for all numbers ``value + Σ slope_i·e_i + r`` with unknown common
noises |e_i| ≤ noise_i and an unknown, independent remainder |r| ≤ rest. Keeping the
noises common lets them cancel: on the plateau of a table the slopes of its ReLUs add up
to zero. Rounding is bounded for any order of summation (docs/soundness.md, section 3).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from algebra.semiautomaton import IntArray
from network.precision import FLOAT64, BoolArray, FloatArray, Precision
from verify.columns import Columns, used
from verify.errors import Rejected

FINEST_GRID = 32
# Hardware may flush products below the normal range of binary32 to zero.
UNDERFLOW = 2.0**-126
# Sines are off by up to 8 units of the accumulator, for arguments up to FARTHEST.
SINE, FARTHEST = 8, 2.0**22
# The bounds themselves are computed in float64; this covers their own rounding.
INFLATION = 1 + 2.0**-40


@dataclass(frozen=True)
class Noisy:
    """An array of numbers known up to noise.

    Attributes:
        value: ``(rows, width)`` where the numbers would be without noise.
        slopes: One ``(rows, width)`` array for every common noise.
        noises: The bound of each common noise.
        rest: ``(rows, width)`` bound of the independent remainder.
        precision: The format that the network computes in.
    """

    value: FloatArray
    slopes: tuple[FloatArray, ...]
    noises: tuple[float, ...]
    rest: FloatArray
    precision: Precision

    @staticmethod
    def exact(value: FloatArray, precision: Precision) -> "Noisy":
        """Numbers without any noise."""
        return Noisy(value, (), (), np.zeros_like(value), precision)

    @cached_property
    def total(self) -> FloatArray:
        """``(rows, width)``: how far each number can be from its value."""
        total = self.rest
        for slope, noise in zip(self.slopes, self.noises, strict=True):
            total = total + np.abs(slope) * noise
        return total * INFLATION

    def rows(self, chosen: IntArray) -> "Noisy":
        """Some of the rows, any of them as often as it is chosen."""
        slopes = tuple(slope[chosen] for slope in self.slopes)
        value, rest = self.value[chosen], self.rest[chosen]
        return Noisy(value, slopes, self.noises, rest, self.precision)

    def columns(self, chosen: IntArray) -> "Noisy":
        """Some of the columns."""
        slopes = tuple(slope[:, chosen] for slope in self.slopes)
        value, rest = self.value[:, chosen], self.rest[:, chosen]
        return Noisy(value, slopes, self.noises, rest, self.precision)

    def affine(self, weight: FloatArray, bias: FloatArray) -> "Noisy":
        """``x @ weight + bias`` as computed in the format, stored in it.

        The bias may be added in the accumulator, or to the stored product; where a
        narrow format makes a difference, the bound covers both.

        Args:
            weight: ``(width, columns)``, exact.
            bias: ``(columns,)``, exact.
        """
        return stored_sum(Products.of(self, weight).total, bias)

    def affine_jointly(
        self, weight: FloatArray, bias: FloatArray
    ) -> tuple["Noisy", IntArray]:
        """``affine``, in which rows with equal sums are one row.

        Returns:
            The different rows, and which of them stands for each row. Its noises are
            common to its columns, and no longer to anything else.
        """
        products, row = Products.joint(self, weight)
        return stored_sum(products.total, bias), row

    def accumulated(self, weight: FloatArray) -> "Noisy":
        """``x @ weight`` as a kernel has it before, or without, storing it."""
        return Products.of(self, weight).total(np.zeros(weight.shape[1]))

    def _shifted(self, bias: FloatArray) -> "Noisy":
        """Stored numbers plus a constant, rounded once more."""
        slopes = tuple(np.zeros_like(slope) for slope in self.slopes)
        constant = np.broadcast_to(bias, self.value.shape)
        zero = np.zeros_like(self.value)
        return self.plus(Noisy(constant, slopes, self.noises, zero, self.precision))

    def _or(self, other: "Noisy") -> "Noisy":
        """Numbers of the same values that are as bounded here or as bounded there."""
        alike = np.ones(self.value.shape, dtype=np.bool_)
        for mine, yours in zip(self.slopes, other.slopes, strict=True):
            alike &= mine == yours
        slopes = tuple(slope * alike for slope in self.slopes)
        common = np.maximum(self.rest, other.rest)
        apart = np.maximum(self.total, other.total)
        rest = np.where(alike, common, apart)
        return Noisy(self.value, slopes, self.noises, rest, self.precision)

    def relu(self) -> "Noisy":
        """max(x, 0): linear where the sign is certain, else only bounded."""
        low, high = self.value - self.total, self.value + self.total
        positive = low > 0
        unstable = (high > 0) & ~positive
        value = np.maximum(self.value, 0.0) * (positive | unstable)
        slopes = tuple(slope * positive for slope in self.slopes)
        rest = np.where(unstable, self.total, self.rest * positive)
        return Noisy(value, slopes, self.noises, rest, self.precision)

    def activated(self, sines: BoolArray) -> "Noisy":
        """The sine of some columns, the ReLU of the others."""
        if not sines.any():
            return self.relu()
        curved, straight = self.columns(np.flatnonzero(sines)).sine(), self.relu()
        value, rest = straight.value.copy(), straight.rest.copy()
        value[:, sines], rest[:, sines] = curved.value, curved.rest
        slopes = tuple(slope * ~sines for slope in straight.slopes)
        return Noisy(value, slopes, self.noises, rest, self.precision)

    def sine(self) -> "Noisy":
        """The sine, computed in the accumulator and stored.

        sin(v + d) is sin v + d·cos v up to |cos v|(t − sin t) + |sin v|(1 − cos t) for
        |d| ≤ t ≤ 1, and never further than t or 2 from sin v.

        Raises:
            Rejected: If an argument could be so large that nothing is assumed of it.
        """
        if not (np.abs(self.value) + self.total <= FARTHEST).all():
            raise Rejected("the argument of a sine can be too large")
        off = SINE * (self.precision.accumulator_unit + 8 * FLOAT64.unit)
        value, t = np.sin(self.value), np.minimum(self.total, 1.0)
        rise = np.cos(self.value) * (self.total <= 1)
        bend = np.abs(rise) * (t - np.sin(t)) + np.abs(value) * (1 - np.cos(t))
        near = np.abs(rise) * self.rest + bend
        rest = np.where(self.total <= 1, near, np.minimum(self.total, 2.0))
        slopes = tuple(rise * slope for slope in self.slopes)
        rest = (rest + off) * INFLATION
        return Noisy(value, slopes, self.noises, rest, self.precision).stored()

    def plus(self, other: "Noisy") -> "Noisy":
        """The sum of two arrays with the same common noises, stored in the format.

        Raises:
            Rejected: If a number could overflow.
        """
        value = self.value + other.value
        certain = (value - self.value == other.value) & (
            value - other.value == self.value
        )
        own = FLOAT64.unit * np.abs(value) * ~certain
        error = self.total + other.total + own
        self._check_range(np.abs(value) + error)
        free = (np.abs(other.value) + other.total == 0) | (
            np.abs(self.value) + self.total == 0
        )
        rounding = 2 * self.precision.unit * (np.abs(value) + error) * ~free + own
        kept = ~snaps_to_itself(value, error, self.precision)
        sums = (a + b for a, b in zip(self.slopes, other.slopes, strict=True))
        slopes = tuple(slope * kept for slope in sums)
        rest = (self.rest + other.rest + rounding) * INFLATION * kept
        return Noisy(value, slopes, self.noises, rest, self.precision)

    def _check_range(self, reach: FloatArray) -> None:
        if not (reach <= self.precision.largest).all():
            raise Rejected(f"a number can overflow in {self.precision.name}")

    def stored(self) -> "Noisy":
        """After rounding from the accumulator to the format, where they differ.

        A representable number that is off by less than half the gap to its nearest
        neighbour is rounded to itself: storing removes its noise.

        Raises:
            Rejected: If a number could overflow.
        """
        reach = np.abs(self.value) + self.total
        self._check_range(reach)
        if self.precision.digits == self.precision.accumulator_digits:
            return self
        snaps = snaps_to_itself(self.value, self.total, self.precision)
        kept = ~snaps
        rounding = self.precision.unit * (reach + self.precision.smallest)
        slopes = tuple(slope * kept for slope in self.slopes)
        rest = (self.rest + rounding) * kept
        return Noisy(self.value, slopes, self.noises, rest, self.precision)


@dataclass(frozen=True)
class Products:
    """``x @ weight`` for noisy x, with all that bounds its rounding.

    Attributes:
        value: ``(rows, columns)`` without noise, as computed in float64.
        slopes: ``(rows, columns)`` for every common noise.
        noises: The bound of each common noise.
        rest: ``(rows, columns)``: how far the rest of the noise of x takes them.
        size: ``(rows, columns)``: the sum of the absolute values of the terms.
        heard: ``(rows, columns)``: how many terms could be other than 0.
        known: ``(rows, columns)``: whether all terms are free of noise.
        grid: All terms without noise are multiples of 2^-grid.
        precision: The format that they are computed in.
    """

    value: FloatArray
    slopes: tuple[FloatArray, ...]
    noises: tuple[float, ...]
    rest: FloatArray
    size: FloatArray
    heard: FloatArray
    known: BoolArray
    grid: int
    precision: Precision

    @staticmethod
    def of(x: Noisy, weight: FloatArray) -> "Products":
        """The products of all rows of x."""
        grid = finest(x.value) + finest(weight)
        columns = Columns.of(weight)
        return Products._bounded(x, columns.after(x.value), columns, grid)

    @staticmethod
    def joint(x: Noisy, weight: FloatArray) -> tuple["Products", IntArray]:
        """The products of x, in which rows that have the same ones are one row.

        The largest terms and noises of these rows are taken for all of them. That is
        right if every common noise moves one column of x, and so all of them alike.

        Returns:
            The products, and which row of them stands for each row of x.
        """
        alone = all(_moves_one_column(slope) for slope in x.slopes)
        distinct, column = np.unique(weight, axis=1, return_inverse=True)
        if not alone or distinct.shape[1] > len(weight):
            return Products.of(x, weight), np.arange(len(x.value))
        value = x.value @ distinct + 0.0  # −0 is 0
        value, of = np.unique(value, axis=0, return_inverse=True)
        order = np.argsort(of.reshape(-1), kind="stable")
        first = np.searchsorted(of.reshape(-1)[order], np.arange(len(value)))

        def largest(numbers: FloatArray) -> FloatArray:
            return np.asarray(np.maximum.reduceat(numbers[order], first, axis=0))

        slopes, reach = tuple(map(largest, x.slopes)), largest(np.abs(x.value))
        widest = Noisy(reach, slopes, x.noises, largest(x.rest), x.precision)
        grid = finest(x.value) + finest(weight)
        found = Products._bounded(widest, value, Columns.of(distinct), grid)
        return found._columns(column.reshape(-1)), of.reshape(-1)

    @staticmethod
    def _bounded(x: Noisy, value: FloatArray, weight: Columns, grid: int) -> "Products":
        """The products ``value``, with the noises of x and terms no larger than its."""
        magnitude, counted = weight.changed(np.abs), weight.changed(used)
        common = np.zeros_like(x.rest)
        for slope, noise in zip(x.slopes, x.noises, strict=True):
            common += np.abs(slope) * noise
        noisy = x.total > 0
        return Products(
            value,
            tuple(map(weight.after, x.slopes)),
            x.noises,
            # The slopes of the products are rounded by the checker, too.
            magnitude.after(x.rest + (INFLATION - 1) * common),
            magnitude.after(np.abs(x.value) + x.total),
            counted.after(((x.value != 0) | noisy).astype(np.float64)),
            counted.after(noisy.astype(np.float64)) == 0,
            grid,
            x.precision,
        )

    def _columns(self, chosen: IntArray) -> "Products":
        """Some of the columns, any of them as often as it is chosen."""
        return Products(
            self.value[:, chosen],
            tuple(slope[:, chosen] for slope in self.slopes),
            self.noises,
            self.rest[:, chosen],
            self.size[:, chosen],
            self.heard[:, chosen],
            self.known[:, chosen],
            self.grid,
            self.precision,
        )

    def total(self, bias: FloatArray) -> Noisy:
        """The sums with a bias in the accumulator, in any order of summation."""
        size, grid = self.size + np.abs(bias), max(self.grid, finest(bias))
        rounding = sum_rounding(self.precision, self.heard, size, grid, self.known)
        rest = (self.rest + rounding) * INFLATION
        value = self.value + bias
        return Noisy(value, self.slopes, self.noises, rest, self.precision)


def _moves_one_column(slope: FloatArray) -> bool:
    """Whether a noise of x moves one of its columns only, and that by slopes ≥ 0."""
    return bool((slope >= 0).all() and slope.any(axis=0).sum() <= 1)


def snaps_to_itself(
    value: FloatArray, error: FloatArray, precision: Precision
) -> BoolArray:
    """Where storing a number within ``error`` of ``value`` gives exactly ``value``."""
    fraction, exponent = np.frexp(value)
    # Half the gap to the nearest neighbour; it is smaller below a power of two.
    half = 2.0 ** (exponent - precision.digits) / np.where(
        np.abs(fraction) == 0.5, 4, 2
    )
    near = (error < 0.75 * half) & (np.abs(value) >= precision.smallest)
    return np.asarray((precision.round(value) == value) & (near | (error == 0)))


def stored_sum(total: Callable[[FloatArray], Noisy], bias: FloatArray) -> Noisy:
    """Sums with a bias, stored in the format: the bias is added before or after that."""
    fused = total(bias).stored()
    precision = fused.precision
    if precision.digits == precision.accumulator_digits or not bias.any():
        return fused
    return fused._or(total(np.zeros_like(bias)).stored()._shifted(bias))


def sum_rounding(
    precision: Precision,
    terms: FloatArray,
    size: FloatArray,
    grid: int,
    known: BoolArray,
) -> FloatArray:
    """How much sums in the accumulator can be off by rounding, in any order.

    Args:
        precision: The format.
        terms: ``(rows, columns)``: how many terms there are besides a bias; those that
            are exactly 0, of which adding changes nothing, need not be counted.
        size: ``(rows, columns)``: the sum of the absolute values of the terms.
        grid: All terms without noise are multiples of 2^-grid.
        known: ``(rows, columns)``: whether all terms are free of noise. Sums of these are
            exact where every partial sum is a multiple of 2^-grid that fits.

    Raises:
        Rejected: If a partial sum could overflow: ∞ − ∞ is no number.
    """
    if not (2 * size <= precision.accumulator_largest).all():
        raise Rejected(f"a sum can overflow in {precision.name} before it is complete")
    count = terms + 1
    rounding = summation(precision, count) * size + count * UNDERFLOW
    exact = terms == 0
    if grid <= FINEST_GRID:
        exact |= known & (size * 2.0**grid < 2.0**precision.accumulator_digits)
    return np.asarray(rounding * ~exact)


def summation(precision: Precision, terms: FloatArray) -> FloatArray:
    """γ_n: the relative error of a dot product of n terms in any order.

    The second part is the error of this checker's own evaluation, in float64.
    """
    bounds = []
    for unit in (precision.accumulator_unit, FLOAT64.unit):
        load = terms * unit
        if np.any(load >= 0.5):
            raise Rejected(f"sums of {int(np.max(terms))} terms are too long")
        bounds.append(load / (1 - load))
    return np.asarray(bounds[0] + bounds[1])


def finest(numbers: FloatArray) -> int:
    """The least g ≥ 0 with all numbers multiples of 2^-g; beyond 32 counts as none."""
    for g in range(FINEST_GRID + 1):
        scaled = numbers * 2.0**g
        if (scaled == np.rint(scaled)).all():
            return g
    return FINEST_GRID + 1


def step_of(numbers: FloatArray) -> float:
    """The greatest power of two of which all numbers are multiples; 1 if all are 0."""
    fraction, exponent = np.frexp(numbers[numbers != 0])
    digits = (np.abs(fraction) * 2.0**FLOAT64.digits).astype(np.int64)
    steps = np.ldexp((digits & -digits).astype(np.float64), exponent - FLOAT64.digits)
    return float(steps.min(initial=np.inf)) if len(steps) else 1.0
