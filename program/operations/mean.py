"""The mean of the positions whose key suits the query."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from krohn.program.domains import (
    MOST,
    BoolArray,
    FloatArray,
    IntArray,
    Values,
    distinct_values,
)
from krohn.program.errors import demand
from krohn.program.operations.base import Frame, Operation
from krohn.program.operations.best import check_pairs, keys_that_suit


@dataclass(frozen=True, slots=True)
class Mean(Operation):
    """The mean of ``source`` over the 1 ≤ j ≤ t whose ``key`` suits the ``query`` at t.

    If no key suits, it is ``source`` at BOS (MEAN of Feng et al. 2023, A.10). A mean is a
    fraction; its value is the place of the fraction among all that there can be, and in
    the stream it stands as the fraction itself. Only tables read it. It has no memory.

    Attributes:
        source: A channel with values 0, …, ``largest``.
        key: The channel that is compared there.
        query: The channel that it is compared with, read here.
        pairs: What suits what: a key, its query, the next key, its query, ….
        largest: The largest value of the source.
        longest: How many positions there are at most; T is no more.
    """

    wire: ClassVar[str] = "mean"
    check: ClassVar[str] = "means"
    source: str
    key: str
    query: str
    pairs: tuple[int, ...]
    largest: int
    longest: int

    @property
    def reads(self) -> tuple[str, ...]:
        """The source, the key and the query."""
        return (self.source, self.key, self.query)

    @property
    def numbers(self) -> FloatArray:
        """All fractions, ascending."""
        return fractions(self.largest, self.longest)

    def suits(self, keys: IntArray, asked: int) -> BoolArray:
        """Which keys are in a pair with what is asked."""
        return keys_that_suit(self.pairs, keys, asked)

    def means(self, source: IntArray, keys: IntArray, queries: IntArray) -> IntArray:
        """``(batch, length + 1)``: the place of the mean, from what is read."""
        later, shown = np.arange(keys.shape[1]) > 0, np.broadcast_to(source, keys.shape)
        mean = np.repeat(shown[:, :1], keys.shape[1], axis=1).astype(np.float64)
        for value in distinct_values(queries).tolist():
            right = self.suits(keys, value) & later
            count, total = np.cumsum(right, axis=1), np.cumsum(right * shown, axis=1)
            there = (queries == value) & (count > 0)
            mean[there] = total[there] / count[there]
        return np.searchsorted(self.numbers, mean)

    def infer(self, read: Sequence[Values], frame: Frame) -> Values:
        """All places."""
        check_pairs(self.pairs, read[2])
        demand(read[0].within(0, self.largest), "a mean of numbers that are too large")
        demand(frame.length <= self.longest, "a mean of too many positions")
        bos = int(np.searchsorted(self.numbers, read[0].bos))
        return Values(bos, np.arange(len(self.numbers)))


@cache
def fractions(largest: int, longest: int) -> FloatArray:
    """The numbers a/b, 0 ≤ a ≤ largest·b, 1 ≤ b ≤ longest, ascending, as float64.

    Different ones are 1/longest² apart at least, and are different in float64: they are
    less than 2³¹, and few.

    Raises:
        Refused: If they are too many.
    """
    demand(
        (largest + 1) * longest**2 < MOST,
        "a mean has too many values; use smaller numbers or fewer letters",
    )
    counts = np.arange(1, longest + 1)
    each = [np.arange(largest * count + 1) / count for count in counts.tolist()]
    return distinct_values(np.concatenate(each))
