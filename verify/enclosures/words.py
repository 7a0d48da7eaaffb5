"""The engine of intervals on given words: what is computed without rounding lies within."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from krohn.network.meaning.arrays import points, with_bos
from krohn.network.meaning.attention import PROJECT, SCORES
from krohn.network.meaning.engine import Engine, operation
from krohn.network.meaning.forward import read_out, through
from krohn.network.meaning.net import Net
from krohn.network.precision import FloatArray, one_thread
from krohn.program.domains import IntArray
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.enclosures import functions

Boxes = dict[str, Interval]
"""What stands at each place of a forward pass (`krohn.network.meaning.forward.places`)."""


class Enclosed(Engine):
    """Intervals: each operation has all results of exact ones on numbers in them.

    What is no number makes bounds that are no numbers, for which no comparison is true.

    Attributes:
        boxes: What stood at each place.
    """

    who = "an enclosure"
    sine, gelu = operation(functions.sine), operation(functions.gelu)
    phi = operation(functions.elu_and_one)

    def __init__(self) -> None:
        self.boxes: Boxes = {}

    def gather(self, table: Interval, index: Any) -> Interval:
        """Rows of a table."""
        return table[index]

    def contract(self, axes: str, x: Interval, y: Interval) -> Interval:
        """A sum of products."""
        if axes == PROJECT:
            return x[:, None] @ y
        if axes == SCORES:
            return x @ y.each(lambda a: a.swapaxes(2, 3))
        words, heads, count, width = x.shape
        wide = x.each(lambda a: a.swapaxes(1, 2).reshape(words, count, heads * width))
        return wide @ y.each(lambda a: a.reshape(heads * width, -1))

    def combine(self, weights: Interval, values: Interval, seen: Any) -> Interval:
        """Numbers that are not finite spoil those that see them, and no others."""
        wrong = np.asarray(~np.isfinite(values.size).all(axis=-1, keepdims=True))
        spoilt = (seen & wrong.swapaxes(2, 3)).any(axis=-1, keepdims=True)
        mixed = weights @ values.where(~wrong, 0.0)
        return mixed.where(~spoilt, np.nan)

    def shown(self, x: Interval, seen: Any) -> Interval:
        """``x`` where it is seen, and 0 elsewhere."""
        return x.where(seen, 0.0)

    def softmax(self, scores: Interval, seen: Any) -> Interval:
        """By exponentials of differences to the largest score."""
        return functions.shares(scores, np.broadcast_to(seen, scores.shape))

    def total(self, x: Interval) -> Interval:
        """The sum over j; 1 where it is no number, as what it divides is none either."""
        total = x.sum(axis=-1)[..., None]
        return total.where(np.isfinite(total.size), 1.0)

    def relu(self, x: Interval) -> Interval:
        """max(x, 0)."""
        return x.maximum(0.0)

    def split(self, x: Interval, sizes: Sequence[int]) -> Sequence[Interval]:
        """Parts of the last axis."""
        ends = np.cumsum([0, *sizes])
        return [x[..., a:b] for a, b in pairwise(ends)]

    def join(self, parts: Sequence[Interval]) -> Interval:
        """Parts of a last axis, put together."""
        low, high = zip(*((x.low, x.high) for x in parts), strict=True)
        return Interval(np.concatenate(low, axis=-1), np.concatenate(high, axis=-1))

    def flags(self, bits: Sequence[bool], like: Any) -> Any:
        """``(h, 1, 1)``: truth values."""
        del like
        return np.array(bits)[:, None, None]

    def at(self, place: str, value: Interval) -> Interval:
        """Remember what stands at a place."""
        self.boxes[place] = value
        return value


def enclosed(net: Net[FloatArray], words: IntArray) -> Boxes:
    """What a network computes on words ``(batch, time)`` of letters, if nothing is rounded.

    Returns:
        Bounds at each place, those of BOS among them, but for ``logits``
        ``(batch, time, classes)``.

    Raises:
        Refused: If the network has what no engine of intervals is about.
    """
    o, held = Enclosed(), net.each(Interval.of)
    with one_thread(), np.errstate(all="ignore"):
        x, _ = through(held, o, points(with_bos(net, words)))
        read_out(held, o, x[:, 1:])
    return o.boxes
