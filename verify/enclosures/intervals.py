"""Operations on intervals: what is computed without rounding lies within."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from krohn.network.meaning.attention import PROJECT, SCORES
from krohn.network.meaning.engine import Engine, operation
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.enclosures import functions

Boxes = dict[str, Interval]
"""What stands at each place of a forward pass (`krohn.network.meaning.forward.places`)."""


class Intervals(Engine):
    """Intervals: each operation has all results of exact ones on numbers in them.

    What is no number makes bounds that are no numbers, for which no comparison is true.

    Attributes:
        boxes: What stood at each place.
    """

    sine, gelu = operation(functions.sine), operation(functions.gelu)
    phi = operation(functions.elu_and_one)

    def __init__(self) -> None:
        self.boxes: Boxes = {}

    def contract(self, axes: str, x: Interval, y: Interval) -> Interval:
        """A sum of products."""
        if axes == PROJECT:
            return x[:, None] @ y
        if axes == SCORES:
            return x @ y.each(lambda a: a.swapaxes(2, 3))
        words, heads, count, width = x.shape
        wide = x.each(lambda a: a.swapaxes(1, 2).reshape(words, count, heads * width))
        return wide @ y.each(lambda a: a.reshape(heads * width, -1))

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
