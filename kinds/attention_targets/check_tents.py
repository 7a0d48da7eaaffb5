"""Sums of tents: ReLU networks that are linear between knots and hardly round.

Their two hidden layers must be what Lemma T1 of docs/proofs/attention_targets.md says,
number by number; only the values at the knots are free.
"""

from typing import NamedTuple

import numpy as np

from krohn.architectures.attention_layer.check import Affine
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import (
    STEPS,
    Format,
    Interval,
    Operand,
    bound_underflow,
    fits,
    gamma,
)

MOST_KNOTS, FINEST_STEP = 2**13, 2.0**20


class Axis(NamedTuple):
    """A sum of tents along one of its inputs.

    Attributes:
        scale: s: the knots are at k/s.
        values: ``(K + 1, outputs)``: at k/s, k = 0, …, K.
    """

    scale: float
    values: FloatArray

    @property
    def high(self) -> float:
        """The last knot."""
        return (len(self.values) - 1) / self.scale

    def at(self, x: Operand) -> Interval:
        """``(points, outputs)``: the values at points; the first one below 0."""
        return interpolate_rows(Interval.of(x) * self.scale, self.values)

    @property
    def slope(self) -> Interval:
        """How steep it is at most."""
        return steepest(self.values).max() * self.scale


def steepest(table: FloatArray) -> Interval:
    """``(columns,)``: the most that one row differs from the next."""
    return abs(table[1:] - Interval.of(table[:-1])).max(axis=0)


def interpolate_rows(at: Operand, table: FloatArray) -> Interval:
    """``(points, columns)``: rows joined by lines, at places counted in rows.

    The first row stands before the first place, and the last after the last.
    """
    last = len(table) - 1
    place, off = Interval.of(at).middle()
    place = np.clip(place, 0, last)
    below = np.minimum(place.astype(np.int64), last - 1)
    part = Interval.of((place - below)[:, None])
    values: Interval = table[below] * (1 - part) + table[below + 1] * part
    return values.wider(off[:, None] * steepest(table)) if off.any() else values


def axes_of(layers: list[Affine]) -> list[Axis]:
    """The functions, one of each input, whose sum a network of tents computes.

    Raises:
        Refused: If its hidden layers are others.
    """
    demand(len(layers) == 3, "tents have two hidden layers")
    (first, shift), (second, ones), (values, bias) = layers
    used = first != 0
    demand(used.sum(axis=0) == 1, "a unit reads several numbers, or none")
    row = used.argmax(axis=0)
    pieces = np.bincount(row, minlength=len(first)).astype(np.int64)
    demand((pieces > 0) & (pieces < MOST_KNOTS), "an input has no knots, or too many")
    scales = first.max(axis=1)
    demand(np.frexp(scales)[0] == 0.5, "the distance of knots is no power of two")
    near = (scales <= FINEST_STEP) & (scales >= 1 / FINEST_STEP)
    demand(near, "knots are too close, or too far apart")
    demand(second.shape == (sum(pieces), sum(pieces) + len(pieces)), "no tents")
    demand(not bias.any(), "something is added to the sum of tents")
    right = _tents(scales, pieces)
    for tensor, other in zip((first, shift, second, ones), right, strict=True):
        demand(np.array_equal(tensor, other), "the hidden layers are no tents")
    ends = np.cumsum(pieces + 1)
    tables = np.split(values, ends[:-1])
    return [Axis(float(s), table) for s, table in zip(scales, tables, strict=True)]


def _tents(scales: FloatArray, pieces: IntArray) -> tuple[FloatArray, ...]:
    """The hidden layers as they must be."""
    low = int(pieces.sum())
    first, second = np.zeros((len(pieces), low)), np.zeros((low, low + len(pieces)))
    shift, ones = np.zeros(low), np.zeros(low + len(pieces))
    start = 0
    for i, count in enumerate(pieces.tolist()):
        k = np.arange(count)
        first[i, start + k], shift[start + k] = scales[i], -k
        tent = start + i + k
        second[start + k, tent] = np.where(k > 0, -2.0, -1.0)
        second[start + k, tent + 1] = 1.0
        ones[start + i] = 1.0
        start += count
    return first, shift, second, ones


def rounding(axes: list[Axis], form: Format) -> Interval:
    """``(outputs,)``: what the sum of tents can be off by (Lemma T1)."""
    sizes = [np.abs(axis.values).max(axis=0) for axis in axes]
    size, terms = sum(sizes[1:], Interval.of(sizes[0])), 2 * len(axes)
    fits(size, form, "a sum of tents", STEPS)
    return gamma(terms + 3, form.sum_unit) * size + bound_underflow(4 * terms) * (
        1 + size
    )
