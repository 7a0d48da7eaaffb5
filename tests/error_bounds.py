"""What A1 to A14 of docs/soundness.md let a forward pass be off by, operation by operation.

An engine of true numbers, each beside a bound: any arithmetic that meets the assumptions
is as near to it, in whatever order it adds up. Overflows are another matter.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import mpmath
import numpy as np
from many_digits import DIGITS, ManyDigits, exact, near

from krohn.network.meaning.arrays import whole
from krohn.network.meaning.attention import SCORES, View
from krohn.network.meaning.engine import Engine
from krohn.network.meaning.net import Affine, Heads, Net
from krohn.program.domains import BoolArray, FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import (
    FARTHEST,
    FORMATS,
    GATE,
    INFLATION,
    SINE,
    UNDERFLOW,
    Format,
    Interval,
    gamma,
    gelu_units,
    lost,
    store_error,
    sum_error,
)
from krohn.verify.checker.block_sum import FEATURE_ERROR, SILENT_ERROR
from krohn.verify.checker.softmax_weights import factors, weight_error

GELU_SLOPE, SIGMOID_SLOPE = 1.13, 0.25
"""The most by which GeLUs and sigmoids change, of what their arguments do."""
ANY_WEIGHT = 1 + 2.0**-4
"""Where scores may be anything: weights are from 0 to 1, up to their own roundings."""
TRUE = ManyDigits()
Product = Callable[[Any, Any], Any]


def enclosed(net: Net[Any], words: IntArray, dtype: str) -> tuple[Any, FloatArray]:
    """The true logits of words, and how far those that a format gives may be from them.

    Raises:
        Refused: If there is no bound.
    """
    with mpmath.workdps(DIGITS):
        found = whole(net.each(exact), Errors(FORMATS[dtype]), words)
    return found.true, found.off * INFLATION


@dataclass(frozen=True, eq=False)
class Near:
    """True numbers, and how far those that are computed may be.

    Attributes:
        true: Numbers of mpmath.
        off: Bounds of the same shape, of float64.
        form: The format that is computed in.
    """

    true: Any
    off: FloatArray
    form: Format
    __array_ufunc__ = None

    @cached_property
    def about(self) -> FloatArray:
        """The absolute values of true numbers."""
        return np.abs(near(self.true))

    @property
    def size(self) -> FloatArray:
        """The largest absolute values that may be computed."""
        return np.asarray(self.about + self.off)

    def each(self, change: Callable[[Any], Any]) -> "Near":
        """With both arrays rearranged alike."""
        return replace(self, true=change(self.true), off=change(self.off))

    def __getitem__(self, at: Any) -> "Near":
        return self.each(lambda x: x[at])

    def wider(self, off: Interval | FloatArray | float) -> "Near":
        """With an error more."""
        more = off.high if isinstance(off, Interval) else off
        return replace(self, off=self.off + more)

    def rounded(self) -> "Near":
        """Rounded once."""
        return self.wider(store_error(self.form, self.size))

    def stored(self) -> "Near":
        """Of an accumulator, stored: in float32 and float64 it is there already (A2)."""
        return self.rounded() if self.form.narrow else self

    def times(self, other: "Near", product: Product) -> "Near":
        """Sums of products (A1), not stored."""
        off = product(self.off, other.size) + product(self.about, other.off)
        terms = product(np.ones_like(self.off), np.ones_like(other.off))
        found = Near(product(self.true, other.true), off, self.form)
        size = product(self.size, other.size)
        return found.wider(sum_error(self.form, terms, size))

    def __truediv__(self, other: "Near") -> "Near":
        least = other.about - other.off
        demand(least > 0, "a sum of weights may be 0")
        found = replace(self, true=self.true / other.true)
        off = (self.off + found.about * other.off) / least
        return replace(found, off=off).rounded()


class Errors(Engine):
    """True numbers with the errors of all arithmetics that are assumed.

    Args:
        form: The format that is computed in.
    """

    who = "the bounds of errors"

    def __init__(self, form: Format) -> None:
        self.form = form

    def known(self, true: Any) -> Near:
        """Numbers of a file."""
        return Near(true, np.zeros(np.shape(true)), self.form)

    # Sums and products.

    def gather(self, table: Any, index: Any) -> Near:
        """Copied (A3)."""
        return self.known(TRUE.gather(table, index))

    def add(self, x: Near, y: Near) -> Near:
        """Rounded once (A3, A4)."""
        return Near(x.true + y.true, x.off + y.off, self.form).rounded()

    def scale_by(self, x: Near, factor: Any) -> Near:
        """Rounded once, but exact by 0 and 1 (A5)."""
        size = np.abs(near(factor))
        found = Near(x.true * factor, x.off * size, self.form)
        off = np.where((size == 0) | (size == 1), found.off, found.rounded().off)
        return replace(found, off=off)

    def affine(self, x: Near, layer: Affine[Any]) -> Near:
        """The bias may be added to what is stored (A2)."""
        found = x.times(self.known(layer.weight), np.matmul).stored()
        return self.add(found, self.known(layer.bias))

    def contract(self, axes: str, x: Near, y: Any) -> Near:
        """Stored; scores may be (A2)."""
        other = y if axes == SCORES else self.known(y)
        return x.times(other, lambda a, b: TRUE.contract(axes, a, b)).stored()

    # Attention.

    def attend(
        self, heads: Heads[Any], query: Any, key: Any, value: Any, view: View
    ) -> Near:
        """Stored (A2)."""
        found: Near = super().attend(heads, query, key, value, view)
        return found.stored()

    def combine(self, weights: Near, values: Near, seen: BoolArray) -> Near:
        """Sums that lose what is below the normal range (A9)."""
        found = weights.times(values, lambda a, b: TRUE.combine(a, b, seen))
        largest = values.size.max(axis=2, keepdims=True)
        return found.wider(lost(values.off.shape[2], largest))

    def keep_seen(self, x: Near, seen: BoolArray) -> Near:
        """Exact (A5)."""
        return x.each(lambda a: TRUE.keep_seen(a, seen))

    def total(self, x: Near) -> Near:
        """A sum (A1)."""
        size = x.size.sum(axis=-1, keepdims=True)
        return x.each(TRUE.total).wider(sum_error(self.form, x.off.shape[-1], size))

    def softmax(self, scores: Near, seen: BoolArray) -> Near:
        """Lemma 11b, and the sums of Theorem 12a.

        In 16-bit formats weights differ where they are added up (A8), and so are off to
        different sides.
        """
        true = TRUE.softmax(scores.true, seen)
        seen = np.broadcast_to(seen, true.shape)
        count = seen.sum(axis=-1, keepdims=True)
        unit, p = self.form.sum_unit, near(true)
        each = scores.each(lambda x: np.where(seen, x, 0))
        rises, logarithm = self._logarithms(each, seen, count)
        e = np.where(seen, np.expm1(np.minimum(logarithm, 1)), 0)
        mean = (p * e).sum(axis=-1, keepdims=True)
        known = (mean < 0.5) & (logarithm < 1)
        mean = np.minimum(mean, 0.5)
        r = gamma(rises, unit).high
        most, sums = r.max(axis=-1, keepdims=True), gamma(2.0 * count + 2, unit).high
        factor = (1 + (e + mean) / (1 - mean)) * (
            1 + (np.expm1(r + sums) + most) / (1 - most)
        )
        off = np.where(known, p * (factor - 1), ANY_WEIGHT) + lost(count, 0).high
        off = np.where(seen, off, 0)
        return Near(true, off, self.form).stored()

    def _logarithms(
        self, scores: Near, seen: BoolArray, count: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """How many maxima can come after each score, and how far its weight is off."""
        s = Interval.of(near(scores.true)).wider(scores.size * 2.0**-52 + scores.off)
        ends = (np.where(seen, x, -np.inf) for x in (s.low, s.high))
        top = Interval(*(x.max(axis=-1, keepdims=True) for x in ends))
        above = s.high[..., None, :] > s.low[..., :, None]
        rises = (seen[..., None, :] & above).sum(axis=-1) - 1
        several = factors(np.where(seen, rises, 0), count, self.form)
        return several, weight_error(s, top, several, self.form).high + scores.off

    # Functions: by how much they change, and what is assumed of them.

    def relu(self, x: Near) -> Near:
        """Exact (A5)."""
        return replace(x, true=TRUE.relu(x.true))

    def sine(self, x: Near) -> Near:
        """A11."""
        demand(x.size <= FARTHEST, "a sine of too large a number")
        found = replace(x, true=TRUE.sine(x.true))
        return found.wider(SINE * self.form.sum_unit).stored()

    def gelu(self, x: Near) -> Near:
        """A12."""
        units = gelu_units(x.size, self.form) * self.form.sum_unit
        found = Near(TRUE.gelu(x.true), GELU_SLOPE * x.off, self.form)
        return found.wider(units * x.size + UNDERFLOW).stored()

    def sigmoid(self, x: Near) -> Near:
        """A14."""
        found = Near(TRUE.sigmoid(x.true), SIGMOID_SLOPE * x.off, self.form)
        return found.wider(GATE * self.form.sum_unit).stored()

    def tanh(self, x: Near) -> Near:
        """A14."""
        found = replace(x, true=TRUE.tanh(x.true))
        return found.wider(GATE * self.form.sum_unit).stored()

    def phi(self, x: Near) -> Near:
        """A13, which says nothing of 16-bit formats."""
        demand(not self.form.narrow, "nothing is assumed of features in 16 bits")
        found, unit = replace(x, true=TRUE.phi(x.true)), self.form.sum_unit
        silent = found.size * INFLATION <= unit / 2
        units = np.where(silent, SILENT_ERROR, FEATURE_ERROR)
        return found.wider(units * unit * np.maximum(found.size, 1))

    # Parts of arrays.

    def split(self, x: Near, sizes: Sequence[int]) -> Sequence[Near]:
        """Parts of both."""
        return self._cut(x, lambda a: TRUE.split(a, sizes))

    def parts(self, x: Near, count: int) -> Sequence[Near]:
        """Parts of both."""
        return self._cut(x, lambda a: TRUE.parts(a, count))

    def join(self, parts: Sequence[Near]) -> Near:
        """Both."""
        true, off = (
            TRUE.join(each)
            for each in zip(*((x.true, x.off) for x in parts), strict=True)
        )
        return Near(true, off, self.form)

    def append(self, before: Near, new: Near) -> Near:
        """Both."""
        true = TRUE.append(before.true, new.true)
        return Near(true, TRUE.append(before.off, new.off), self.form)

    def flags(self, bits: Sequence[bool], like: Any) -> Any:
        """Those of arrays."""
        return TRUE.flags(bits, like)

    def _cut(self, x: Near, cut: Callable[[Any], Sequence[Any]]) -> list[Near]:
        both = zip(cut(x.true), cut(x.off), strict=True)
        return [Near(true, off, self.form) for true, off in both]
