"""Numbers known up to noise, and what sums of them can be off by, in any order.

Assumptions A1-A12 of docs/soundness.md, and Lemmas 5-10 of docs/proofs/arithmetic.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from krohn.program.domains import BoolArray, IntArray, distinct_values
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import (
    FARTHEST,
    INSIDE,
    STORED,
    Format,
    fits,
    two_sum,
)
from krohn.verify.checker.model_file import FloatArray, StrArray
from krohn.verify.checker.upper_bounds import (
    Upper,
    both_sum_errors,
    gelu_error,
    gelu_new_error,
    sine_error,
)

FINEST, SAMPLE = 32, 256


@dataclass(frozen=True)
class Noisy:
    r"""All numbers ``value + Σ slopes_i·e_i + r`` with |e_i| ≤ 1 and |r| ≤ rest.

    Attributes:
        value: ``(rows, width)``.
        slopes: ``(noises, rows, width)``: noises that entries of a row have in common.
        rest: ``(rows, width)``.
        form: The format that is computed in.
    """

    value: FloatArray
    slopes: FloatArray
    rest: FloatArray
    form: Format

    @cached_property
    def total(self) -> FloatArray:
        """``(rows, width)``: how far each number can be from its value."""
        return _total(self.slopes, self.rest)

    @cached_property
    def reach(self) -> Upper:
        """``(rows, width)``: the largest absolute values."""
        size, total = np.abs(self.value), self.total
        return Upper.of(size) + total if total.any() else Upper.of(size)

    def each(self, change: Callable[[FloatArray], FloatArray]) -> "Noisy":
        """Change the value, every slope and the rest alike."""
        value, slopes, rest = map(change, (self.value, self.slopes, self.rest))
        return Noisy(value, slopes, rest, self.form)

    def rows(self, chosen: IntArray) -> "Noisy":
        """Some of the rows."""
        return self.each(lambda x: x[..., chosen, :])

    def columns(self, chosen: IntArray) -> "Noisy":
        """Some of the columns."""
        return self.each(lambda x: x[..., chosen])

    def widest(self) -> "Noisy":
        """One row whose entries are as large, and as far off, as those of any row."""
        ends = np.abs(self.value), self.total
        value, rest = (x.max(axis=0, keepdims=True) for x in ends)
        return Noisy(value, np.zeros((0, *value.shape)), rest, self.form)

    def affine(self, weight: FloatArray, bias: FloatArray) -> "Noisy":
        """``x @ weight + bias`` as computed in the format, stored in it."""
        return self.products(weight).store_with_bias(bias)

    def together(
        self, weight: FloatArray, apart: bool
    ) -> tuple["Noisy", FloatArray, IntArray]:
        """Rows with equal products as one (Lemma 6a), unless they must stay ``apart``.

        Returns:
            Such rows as wide as the widest of each, their products, and which of them
            stands for each row.
        """
        columns, column = np.unique(weight, axis=1, return_inverse=True)
        value = self.value @ columns + 0.0  # -0 is 0
        first, of = alike(value)
        moved = self.slopes.any(axis=1).sum(axis=1)
        apart = apart or bool((self.slopes < 0).any() or (moved > 1).any())
        if apart or not np.array_equal(value[first][of], value):
            return self, value[:, column.reshape(-1)], np.arange(len(value))
        order = np.argsort(of, kind="stable")
        start = np.searchsorted(of[order], np.arange(len(first)))

        def largest(x: FloatArray) -> FloatArray:
            return np.maximum.reduceat(np.abs(x)[..., order, :], start, axis=-2)

        return self.each(largest), value[first][:, column.reshape(-1)], of

    def products(
        self,
        weight: FloatArray,
        value: FloatArray | None = None,
        grid: int | None = None,
    ) -> "Sums":
        """``x @ weight`` inside a sum (Lemmas 6 and 7).

        Args:
            weight: ``(width, columns)``.
            value: The value, where this array only bounds the terms.
            grid: All numbers are multiples of 2^-grid then.
        """
        used, magnitude = weight != 0, np.abs(weight)
        ones, only, total = used.astype(np.float64), only_rows(used), self.total
        # `both_sum_errors` is for roundings of values, slopes and rest of this checker.
        there = ((self.value != 0) | (total != 0)).astype(np.float64)
        terms = times(there, ones, only)
        rest, known = np.zeros_like(terms), np.full(terms.shape, True)
        if total.any():
            rest = times(self.rest, magnitude, only)
            known = times((total > 0).astype(np.float64), ones, only) == 0
        return Sums(
            times(self.value, weight, only) if value is None else value,
            times(self.slopes, weight, only),
            rest,
            times(self.reach.most, magnitude, only),
            terms,
            known,
            (finest(self.value) if grid is None else grid) + finest(weight),
            self.form,
            (~used | (np.frexp(magnitude)[0] == 0.5)).all(axis=0),
        )

    def relu(self) -> "Noisy":
        """max(x, 0): linear where the sign is certain, else only bounded (Lemma 8)."""
        total = self.total
        positive, can = self.value - total > 0, self.value + total > 0
        rest = np.where(positive, self.rest, total * can)
        value = np.maximum(self.value, 0.0) * can
        return Noisy(value, self.slopes * positive, rest, self.form)

    def sine(self) -> "Noisy":
        """The sine: noise moves along the tangent, and the curve leaves it (Lemma 8a)."""
        total, t = self.total, np.minimum(self.total, 1.0)
        demand(self.reach.most <= FARTHEST, "a sine of too large a number")
        value, rise = np.sin(self.value), np.cos(self.value) * (total <= 1)
        bend = np.abs(rise) * (t - np.sin(t)) + np.abs(value) * (1 - np.cos(t))
        near = np.abs(rise) * self.rest + bend
        rest = np.where(total <= 1, near, np.minimum(total, 2.0))
        rest = (Upper.of(rest) + sine_error(self.form)).most
        return Noisy(value, self.slopes * rise, rest, self.form).store_rounded()

    def gelu(self) -> "Noisy":
        """The GeLU: nearly the ReLU where the sign is certain, else bounded (Lemma 8b)."""
        total, size = self.total, np.abs(self.value)
        reach, nearest = self.reach, np.maximum(size - total, 0.0)
        apart = np.minimum(0.4 * np.exp(-nearest * nearest / 2), reach.most / 2)
        off = gelu_error(self.form, reach)
        return self._bent(np.minimum(apart, 0.17), off).store_rounded()

    def gelu_new(self) -> "Noisy":
        """The GeLU by a hyperbolic tangent, likewise; the ReLU far from 0 (Lemma 8c)."""
        reach, size = self.reach, np.abs(self.value)
        nearest = np.maximum(size - self.total, 0.0)
        near = np.minimum(nearest, 100.0)
        tail = near * np.exp(-1.595 * near - 0.0713 * near**3)
        apart = np.minimum(np.where(near >= 1, tail, 0.171), reach.most / 2)
        bent = nearest < (8.0 if self.form.digits > 24 else 6.0)
        return self._bent(apart * bent, gelu_new_error(self.form, reach) * bent)

    def _bent(self, apart: FloatArray, off: Upper) -> "Noisy":
        """The ReLU, ``apart`` where the sign is certain, and ``off`` everywhere."""
        total = self.total
        positive, can = self.value - total > 0, self.value + total > 0
        own = Upper.of(np.where(positive, self.rest, np.where(can, total, 0.0)))
        rest = own + apart * (positive == can) + off
        value = np.maximum(self.value, 0.0) * can
        return Noisy(value, self.slopes * positive, rest.most, self.form)

    def apply_activations(self, names: StrArray) -> "Noisy":
        """After the activation of each column."""
        kinds = distinct_values(names).tolist()
        if len(kinds) == 1:
            return ACTIVATIONS[kinds[0]](self)
        after = self.each(np.empty_like)
        for kind in kinds:
            at = np.flatnonzero(names == kind)
            part = ACTIVATIONS[kind](self.columns(at))
            for name in ("value", "slopes", "rest"):
                getattr(after, name)[..., at] = getattr(part, name)
        return after

    def where(self, kept: FloatArray | BoolArray) -> "Noisy":
        """These numbers where ``kept``, and 0 elsewhere."""
        return self.each(lambda x: x * kept)

    def plus(self, other: "Noisy") -> "Noisy":
        """The sum of two arrays with the same common noises, stored (Lemma 10)."""
        value, left = two_sum(self.value, other.value)
        slopes, lost = two_sum(self.slopes, other.slopes)
        own, lost = np.abs(left), np.abs(lost)
        error = Upper.of(self.total) + other.total + own
        reach = error + np.abs(value)
        fits(reach.most, self.form, "a number", STORED)
        one = (self.reach.most == 0) | (other.reach.most == 0)
        off = 2 * self.form.unit * reach * ~one + own + Upper.of(lost).sum(axis=0)
        kept = ~snaps(value, error.most, self.form)
        rest = (Upper.of(self.rest) + other.rest + off).most
        return Noisy(value, slopes * kept, rest * kept, self.form)

    def store_rounded(self) -> "Noisy":
        """After rounding from the sum's format to the stored one (Lemma 9)."""
        reach = self.reach
        fits(reach.most, self.form, "a number", STORED)
        if not self.form.narrow:
            return self
        kept = ~snaps(self.value, self.total, self.form)
        rest = self.form.unit * (reach + self.form.smallest) + self.rest
        return Noisy(self.value, self.slopes * kept, rest.most * kept, self.form)


ACTIVATIONS = {
    "relu": Noisy.relu,
    "sine": Noisy.sine,
    "gelu": Noisy.gelu,
    "gelu_new": Noisy.gelu_new,
}


def exact(value: FloatArray, form: Format, noises: int = 0) -> Noisy:
    """Numbers without noise, beside others with ``noises`` common ones."""
    return Noisy(value, np.zeros((noises, *value.shape)), np.zeros_like(value), form)


def join_rows(parts: Sequence[Noisy]) -> Noisy:
    """Rows of several arrays, one below the other."""
    if len(parts) == 1:
        return parts[0]
    most = max(len(part.slopes) for part in parts)
    slopes = [
        np.pad(x.slopes, ((0, most - len(x.slopes)), (0, 0), (0, 0))) for x in parts
    ]
    value = np.concatenate([part.value for part in parts])
    rest = np.broadcast_to(0.0, value.shape)  # takes no memory
    if any(part.rest.any() for part in parts):
        rest = np.concatenate([part.rest for part in parts])
    return Noisy(value, np.concatenate(slopes, axis=1), rest, parts[0].form)


class Sums(NamedTuple):
    """Sums of products, before a bias is added to them.

    Attributes:
        value: ``(rows, width)``.
        slopes: ``(noises, rows, width)``: noises that entries of a row have in common.
        rest: ``(rows, width)``: how far the other noise of the terms takes them.
        size: ``(rows, width)``: the sum of the absolute values of the terms.
        terms: ``(rows, width)``: how many terms could be other than 0.
        known: ``(rows, width)``: whether all terms are free of noise.
        grid: All terms without noise are multiples of 2^-grid.
        form: The format that they are computed in.
        plain: ``(width,)``: whether all weights are 0 or ± powers of two.
    """

    value: FloatArray
    slopes: FloatArray
    rest: FloatArray
    size: FloatArray
    terms: FloatArray
    known: BoolArray
    grid: int
    form: Format
    plain: BoolArray | bool = False

    @property
    def total(self) -> FloatArray:
        """``(rows, width)``: how far noise takes them."""
        return _total(self.slopes, self.rest)

    def whole(self, bias: FloatArray) -> Noisy:
        """With a bias, before they are stored."""
        size = self.size + np.abs(bias)
        grid = max(self.grid, finest(bias)) if bias.any() else self.grid
        off = rounding(self.form, self.terms + 1, size, self.known, grid)
        value = self.value + bias
        rest = Upper.of(self.rest) + off * ~self._few(value, bias, grid)
        return Noisy(value, self.slopes, rest.most, self.form)

    def _few(self, value: FloatArray, bias: FloatArray, grid: int) -> BoolArray:
        """Whether sums are exact as they have one or two terms (Lemma 7a)."""
        exact = np.asarray(self.known & self.plain)
        if not exact.any():
            return exact
        fine, size = grid <= FINEST, np.abs(value)
        two = fine & (self.terms + (bias != 0) <= 2)
        two &= size * 2.0 ** min(grid, FINEST) < 1 / self.form.sum_unit
        one = (self.terms == 1) & (bias == 0) & (size >= self.form.smallest)
        return np.asarray(exact & (one | two))

    def store_with_bias(self, bias: FloatArray) -> Noisy:
        """With a bias, which is added before or after they are stored (A2)."""
        whole, form = self.whole(bias).store_rounded(), self.form
        if not form.narrow or not bias.any():
            return whole
        after = exact(np.broadcast_to(bias, whole.value.shape), form, len(whole.slopes))
        split = self.whole(np.zeros_like(bias)).store_rounded().plus(after)
        alike = (whole.slopes == split.slopes).all(axis=0)
        rest = np.maximum(whole.rest, split.rest)
        rest = np.where(alike, rest, np.maximum(whole.total, split.total))
        apart = Upper.from_computed(np.abs(whole.value - split.value)) + rest
        return Noisy(whole.value, whole.slopes * alike, apart.most, form)


def _total(slopes: FloatArray, rest: FloatArray) -> FloatArray:
    """How far common noises and others take numbers together."""
    return (
        rest if not len(slopes) else (Upper.of(np.abs(slopes)).sum(axis=0) + rest).most
    )


def only_rows(used: BoolArray) -> IntArray | None:
    """The row that each column uses, if no column uses two."""
    if not len(used) or np.count_nonzero(used, axis=0).max(initial=0) > 1:
        return None
    return np.asarray(used.argmax(axis=0))


def times(x: FloatArray, weight: FloatArray, only: IntArray | None) -> FloatArray:
    """``x @ weight`` of finite numbers, faster by the `only_rows` of the weight."""
    if only is None:
        return np.asarray(x @ weight)
    return np.asarray(x[..., only] * weight[only, np.arange(len(only))])


def alike(rows: FloatArray) -> tuple[IntArray, IntArray]:
    """Rows with the same mark: the first of each group, and the group of each row.

    Equal rows nearly always have the same mark, and others do not; both must be checked.
    """
    marks = rows @ np.cos(np.arange(rows.shape[1]))
    _, first, of = np.unique(marks, return_index=True, return_inverse=True)
    return first, of.reshape(-1)


def rounding(
    form: Format, terms: FloatArray, size: FloatArray, known: BoolArray, grid: int
) -> FloatArray:
    """The largest error of sums of ``terms`` numbers with absolute values up to ``size``.

    Sums of ``known`` numbers, multiples of 2^-grid that all fit, are exact (Lemma 7).
    """
    fits(size, form, "a sum", INSIDE)
    whole = known & (grid <= FINEST) & (size * 2.0**grid < 1 / form.sum_unit)
    off = both_sum_errors(form, terms, size).most
    return np.asarray(off * ~(whole | (terms == 1)))


def finest(numbers: FloatArray) -> int:
    """The least g ≥ 0 with all numbers multiples of 2^-g; beyond 32 counts as none."""
    g = 0
    # Where some numbers are no such multiples, the others need not be looked at.
    for some in (numbers.reshape(-1)[:SAMPLE], numbers):
        while g <= FINEST and not ((x := some * 2.0**g) == np.rint(x)).all():
            g += 1
    return g


def snaps(value: FloatArray, error: FloatArray, form: Format) -> BoolArray:
    """Where storing a number within ``error`` of ``value`` gives exactly ``value``."""
    fraction, exponent = np.frexp(value)
    digits = np.ldexp(fraction, form.digits)
    representable = (digits == np.rint(digits)) & (np.abs(value) >= form.smallest)
    # Half the gap to the nearest neighbour; it is smaller below a power of two.
    part = np.where(np.abs(fraction) == 0.5, 0.25, 0.5)
    near = error < 0.75 * np.ldexp(part, exponent - form.digits)
    return np.asarray(
        (representable & near) | ((error == 0) & (representable | (value == 0)))
    )
