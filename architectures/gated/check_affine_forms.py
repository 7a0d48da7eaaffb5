"""Affine forms: numbers that share noises (de Figueiredo and Stolfi 2004).

Lemmas 18d and 18e of docs/proofs/gated.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from krohn.program.domains import BoolArray, FloatArray, IntArray
from krohn.verify.checker.arithmetic import (
    Interval,
    Operand,
    enclose_sum,
    own_error_anywhere,
)

WIDE = 2.0**-20
"""A secant over a shorter stretch is taken for the slope at its middle."""


def sigmoid(x: FloatArray) -> FloatArray:
    """1 / (1 + e^−x)."""
    return np.asarray(1 / (1 + np.exp(-x)))


class Curve(NamedTuple):
    """A rising function, convex up to 0 and concave from there on.

    Attributes:
        value: The function.
        slope: Its slope where it has a value.
        where: About where its slope is a number, above 0; any answer is sound.
    """

    value: Callable[[FloatArray], FloatArray]
    slope: Callable[[Interval], Interval]
    where: Callable[[FloatArray], FloatArray]

    def beside(self, bounds: Interval, slope: FloatArray) -> Interval:
        """The range of f(x) − slope·x for x within bounds (Lemma 18d)."""
        low, high = bounds.low, bounds.high
        middle, place = np.clip(0.0, low, high), self.where(slope)
        candidates: list[Interval] = []
        for start, end, at in ((low, middle, -place), (middle, high, place)):
            at = np.clip(at, start, end)
            value = Interval.of(at).through(self.value)
            steeper = self.slope(value) - slope
            for x in (start, end):
                there = Interval.of(x)
                candidates.append(there.through(self.value) - there * slope)
                tangent = value + steeper * (there - at)
                candidates.append(tangent - Interval.of(at) * slope)
        least, most = ([x.low for x in candidates], [x.high for x in candidates])
        return Interval(np.minimum.reduce(least), np.maximum.reduce(most))

    def secant(self, bounds: Interval) -> FloatArray:
        """The slope of a secant."""
        low, high = bounds.low, bounds.high
        wide = high - low > WIDE
        rise = self.value(high) - self.value(low)
        middle = Interval.of(self.value(low / 2 + high / 2))
        return np.where(
            wide, rise / np.where(wide, high - low, 1.0), self.slope(middle).low
        )


def _tangent(square: FloatArray) -> FloatArray:
    return np.asarray(np.arctanh(np.sqrt(np.clip(square, 0.0, 1 - 2.0**-50))))


TANH = Curve(np.tanh, lambda y: 1 - y * y, lambda s: _tangent(1 - s))
SIGMOID = Curve(sigmoid, lambda y: y * (1 - y), lambda s: 2 * _tangent(1 - 4 * s))


@dataclass(frozen=True, eq=False)
class AffineForm:
    """All numbers ``b + Σ slopes_i·e_i`` with b in the base and |e_i| ≤ 1.

    Entries of a row share the noises e_i. Without any these are intervals.

    Attributes:
        base: ``(rows, …, width)``.
        slopes: ``(noises, rows, …, width)``.
    """

    base: Interval
    slopes: FloatArray
    __array_ufunc__ = None  # so that arrays leave operations to forms

    @staticmethod
    def of(base: Interval) -> "AffineForm":
        """An interval."""
        return AffineForm(base, np.zeros((0, *base.shape)))

    @cached_property
    def spread(self) -> FloatArray:
        """``(rows, …, width)``: how much all noises can change, at most."""
        return enclose_sum(np.abs(self.slopes).sum(axis=0), len(self.slopes)).high

    @cached_property
    def bounds(self) -> Interval:
        """The least and the greatest numbers."""
        return self.base.wider(self.spread) if len(self.slopes) else self.base

    def reshape(self, *shape: int) -> "AffineForm":
        """With other axes before the width."""
        width = self.base.shape[-1]
        base = self.base.each(lambda x: x.reshape(*shape, width))
        return AffineForm(base, self.slopes.reshape(len(self.slopes), *base.shape))

    def columns(self, first: int, last: int) -> "AffineForm":
        """Some of the width."""
        return AffineForm(self.base[..., first:last], self.slopes[..., first:last])

    def rows(self, chosen: IntArray) -> "AffineForm":
        """Some of the rows."""
        return AffineForm(self.base[chosen], self.slopes[:, chosen])

    def wider(self, off: Operand) -> "AffineForm":
        """With all that is within ``off``."""
        return AffineForm(self.base.wider(off), self.slopes)

    def replace_entries(self, chosen: BoolArray, other: Interval) -> "AffineForm":
        """With an interval in place of the entries that are chosen."""
        slopes = np.where(chosen, 0.0, self.slopes)
        return AffineForm(other.where(chosen, self.base), slopes)

    def pad_noises(self, noises: int) -> "AffineForm":
        """With further noises, which it does not depend on."""
        more = np.zeros((noises - len(self.slopes), *self.slopes.shape[1:]))
        return AffineForm(self.base, np.concatenate([self.slopes, more]))

    def __neg__(self) -> "AffineForm":
        return AffineForm(-self.base, -self.slopes)

    def __add__(self, other: "AffineForm | Operand") -> "AffineForm":
        if not isinstance(other, AffineForm):
            base = self.base + other
            shape = (len(self.slopes), *base.shape)
            return AffineForm(base, np.broadcast_to(self.slopes, shape))
        x, y = alike(self, other)
        off = _off(1, Interval.of(x.spread) + y.spread)
        return _make_form(x.base + y.base, x.slopes + y.slopes, off)

    def __sub__(self, other: "AffineForm") -> "AffineForm":
        return self + -other

    def __mul__(self, other: "AffineForm") -> "AffineForm":
        """The product (Lemma 18e)."""
        x, y = alike(self, other)
        (b, by), (c, around) = x.base.middle(), y.base.middle()
        s, t = Interval.of(x.spread), Interval.of(y.spread)
        base, slopes, count = (
            x.base * y.base,
            b * y.slopes + c * x.slopes,
            len(x.slopes),
        )
        if not count:
            return AffineForm(base, slopes)
        both = x.slopes * y.slopes
        ends = Interval(
            np.minimum(both, 0).sum(axis=0), np.maximum(both, 0).sum(axis=0)
        )
        same = Interval.of(np.abs(both).sum(axis=0))
        mixed = (s * t - same).maximum(0.0) + by * t + around * s
        off = _off(3, np.abs(b) * t + np.abs(c) * s) + _off(2 * count + 2, s * t)
        return _make_form(base + ends, slopes, mixed + off)

    def __matmul__(self, weight: FloatArray) -> "AffineForm":
        base = self.base @ weight
        if not len(self.slopes):
            return AffineForm.of(base)
        off = _off(weight.shape[-2], Interval.of(self.spread) @ np.abs(weight))
        return _make_form(base, self.slopes @ weight, off)

    def through(self, curve: Curve) -> "AffineForm":
        """A curve, along a secant where there are noises (Lemma 18d)."""
        if not len(self.slopes):
            return AffineForm(self.base.through(curve.value), self.slopes)
        slope = curve.secant(self.bounds)
        base = self.base * slope + curve.beside(self.bounds, slope)
        return _make_form(
            base, slope * self.slopes, _off(1, Interval.of(self.spread) * slope)
        )

    def with_noises(self) -> "AffineForm":
        """With a noise for each number of the base in place of its width."""
        middle, off = self.base.middle()
        width, between = middle.shape[-1], [1] * (middle.ndim - 1)
        own = np.eye(width).reshape(width, *between, width)
        slopes = np.concatenate([self.slopes, own * off])
        return AffineForm(Interval.of(middle), slopes)

    def fewer(self, most: int) -> "AffineForm":
        """With the largest noises only; the others widen the base."""
        if len(self.slopes) <= most:
            return self
        order = np.argsort(-np.abs(self.slopes).sum(axis=-1), axis=0, kind="stable")
        slopes = np.take_along_axis(self.slopes, order[..., None], axis=0)
        lost = enclose_sum(np.abs(slopes[most:]).sum(axis=0), len(slopes))
        return AffineForm(self.base.wider(lost), slopes[:most])


def alike(*forms: AffineForm) -> list[AffineForm]:
    """Forms with equally many noises."""
    most = max(len(form.slopes) for form in forms)
    return [
        form if len(form.slopes) == most else form.pad_noises(most) for form in forms
    ]


def join_forms(forms: "list[AffineForm]", axis: int) -> AffineForm:
    """Forms side by side, along an axis of the base, counted from the end."""
    parts = alike(*forms)
    low, high = (
        np.concatenate([getattr(form.base, end) for form in parts], axis=axis)
        for end in ("low", "high")
    )
    slopes = np.concatenate([form.slopes for form in parts], axis=axis)
    return AffineForm(Interval(low, high), slopes)


def _off(operations: int, size: Interval) -> Interval:
    """The largest error of all slopes together, after so many roundings."""
    return own_error_anywhere(float(operations), size)


def _make_form(base: Interval, slopes: FloatArray, off: Operand) -> AffineForm:
    return AffineForm(base.wider(off) if len(slopes) else base, slopes)
