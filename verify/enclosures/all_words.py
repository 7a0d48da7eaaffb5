"""The engine of intervals on all words at once: how large each number can get.

A point stands for all positions of a stretch, and for all words: its token is any letter,
and a head takes anything that it may see from there. Which stretches may see which follows
from `krohn.program.attention.visible` (`krohn.verify.enclosures.positions`).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from krohn.network.meaning.attention import Points, View, weigh
from krohn.network.meaning.forward import read_out, through
from krohn.network.meaning.net import Affine, Heads, Net
from krohn.network.precision import FloatArray, one_thread
from krohn.program.attention import Linear, Rectified, Softmax, Sparse
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import INSIDE, STORED, Format, Interval, fits
from krohn.verify.enclosures.intervals import Intervals
from krohn.verify.enclosures.positions import Among, Maybe

MEANS, SUMS = (Softmax, Sparse, Linear), (Rectified,)
"""Kinds whose weights add up to 1 in the end, and others."""


class Sizes(NamedTuple):
    """The largest absolute numbers at a place, and on the way to it.

    Attributes:
        stored: Of what is stored.
        inside: Sums of the absolute values of terms: no partial sum is larger.
    """

    stored: float = 0.0
    inside: float = 0.0


class Ranges(Intervals):
    """Intervals that hold for all words of up to a length.

    Args:
        counts: ``(points,)``: how many positions each point stands for.

    Attributes:
        sizes: By place how large numbers can get.
    """

    who = "a range of numbers"

    def __init__(self, counts: FloatArray) -> None:
        super().__init__()
        self.counts = counts
        self.sizes: dict[str, Sizes] = {}
        self._so_far = Sizes()

    def check(self, form: Format) -> None:
        """Refuse a network in which numbers can be too large for a format.

        Raises:
            Refused: Which names the first place.
        """
        for place, size in self.sizes.items():
            fits(size.stored, form, place, STORED)
            fits(size.inside, form, f"a sum before {place}", INSIDE)

    def gather(self, table: Interval, index: Among) -> Interval:
        """All between the rows of each stretch."""
        ends = zip(index.least.flat, index.most.flat, strict=True)
        rows = Interval.stack_intervals(
            hull(table[low : high + 1]) for low, high in ends
        )
        return rows.each(lambda x: x.reshape(*index.least.shape, -1))

    # Sums, and how large their terms are.

    def contract(self, axes: str, x: Interval, y: Interval) -> Interval:
        """A sum of products."""
        self._inside(super().contract(axes, _take_sizes(x), _take_sizes(y)))
        return self._record_stored(super().contract(axes, x, y))

    def affine(self, x: Interval, layer: Affine[Interval]) -> Interval:
        """The affine map of a layer, whose bias may be added to what is stored."""
        self._inside(_take_sizes(x) @ _take_sizes(layer.weight) + layer.bias.size)
        return self._record_stored(self._record_stored(x @ layer.weight) + layer.bias)

    def scale_by(self, x: Interval, factor: Any) -> Interval:
        """A multiple."""
        return self._record_stored(super().scale_by(x, factor))

    def phi(self, x: Interval) -> Interval:
        """elu(x) + 1."""
        return self._record_stored(super().phi(x))

    def total(self, x: Interval) -> Interval:
        """The sum over all positions."""
        many = x * self.counts
        self._inside(super().total(_take_sizes(many)))
        return super().total(many)

    def combine(self, weights: Interval, values: Interval, seen: Maybe) -> Interval:
        """Of each position that is seen, its part."""
        many = self.counts[:, None] * values
        terms = (weights[..., None] * many[:, :, None]).where(
            seen.flags[..., None], 0.0
        )
        self._inside(_take_sizes(terms).sum(axis=3))
        return terms.sum(axis=3)

    # Heads.

    def keep_seen(self, x: Interval, seen: Maybe) -> Interval:
        """``x``, or 0 where it may be hidden."""
        return x.join_with(0.0).where(seen.flags, 0.0)

    def softmax(self, scores: Interval, seen: Maybe) -> Interval:
        """Anything from 0 to 1, as before exponentials are divided by their sum."""
        most = np.broadcast_to(seen.flags, scores.shape).astype(np.float64)
        raised = Interval(np.zeros_like(most), most)
        self.total(raised)
        return raised

    def flags(self, bits: Sequence[bool], like: Any) -> Maybe:
        """``(h, 1, 1)``: truth values."""
        return Maybe(super().flags(bits, like))

    def attend(
        self,
        heads: Heads[Interval],
        query: Interval,
        key: Interval,
        value: Interval,
        view: View,
    ) -> Interval:
        """A mean is between the values that are seen, a sum in the sum of all."""
        kind = type(heads.kind)
        demand(kind in MEANS + SUMS, f"{self.who} is not about {heads.kind.kind!r}")
        weights, total = weigh(self, heads, query, key, view)
        self._record_place(view.places.pattern)
        mixed = self.combine(weights, value, view.visibility)
        if kind in SUMS:
            return mixed
        if total is not None:  # both are stored, and then divided
            self._record_stored(mixed)
            self._record_stored(total)
        return _hull_of_seen(value, view.visibility)

    # How large all that is.

    def at(self, place: str, value: Interval) -> Interval:
        """Remember what stands at a place, and how large numbers were on the way."""
        self._record_stored(value)
        self._record_place(place)
        return super().at(place, value)

    def _record_place(self, place: str) -> None:
        self.sizes[place], self._so_far = self._so_far, Sizes()

    def _record_stored(self, x: Interval) -> Interval:
        stored, inside = self._so_far
        self._so_far = Sizes(_larger(stored, x), inside)
        return x

    def _inside(self, terms: Interval) -> None:
        stored, inside = self._so_far
        self._so_far = Sizes(stored, _larger(inside, terms))


def _larger(most: float, x: Interval) -> float:
    """The largest absolute number; none if one of them is none."""
    return float(np.maximum(most, x.size.max(initial=0.0)))


def hull(rows: Interval) -> Interval:
    """``(…)``: the least interval that has all of several ``(rows, …)``."""
    return Interval(rows.low.min(axis=0), rows.high.max(axis=0))


def _take_sizes(x: Interval) -> Interval:
    """The largest absolute values, as numbers."""
    return Interval.of(x.size)


def _hull_of_seen(values: Interval, seen: Maybe) -> Interval:
    """All between the values that may be seen."""
    flags, all_of = seen.flags[..., None], values[:, :, None]
    low = np.where(flags, all_of.low, np.inf).min(axis=3)
    return Interval(low, np.where(flags, all_of.high, -np.inf).max(axis=3))


def ranges(net: Net[FloatArray], stretches: Sequence[range] | None = None) -> Ranges:
    """Between which bounds all numbers of a network lie, on all words, without rounding.

    Args:
        net: The network.
        stretches: Positions that one point stands for, in order, BOS, at 0, in one of its
            own; by default all letters in another one. More of them give closer bounds,
            and take time and memory with the square of their number.

    Returns:
        Boxes ``(1, points, …)`` by place, and sizes.

    Raises:
        Refused: If the network has what no engine of all words is about.
    """
    if stretches is None:
        stretches = [range(1), range(1, len(net.position))]
    stretches = [each for each in stretches if each]
    first, last = (np.array([x[end] for x in stretches]) for end in (0, -1))
    start, t = len(net.token) - 1, Among(first, last)
    tokens = Among(np.where(first > 0, 0, start), np.where(first > 0, start - 1, start))
    given = Points(tokens[None], t, lambda: (t[:, None], t))
    o, interval_net = Ranges(last - first + 1.0), net.each(Interval.of)
    with one_thread(), np.errstate(all="ignore"):
        x, _ = through(interval_net, o, given)
        read_out(interval_net, o, x)
    return o
