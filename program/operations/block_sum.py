"""Sums over the block of positions before."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from program.domains import (
    MOST,
    AnyArray,
    BoolArray,
    ChannelDomain,
    IntArray,
    PossibleValues,
    Values,
)
from program.errors import demand
from program.operations.base import Frame, Memory, Operation
from program.operations.prefix_sum import grown


@dataclass(frozen=True, slots=True)
class BlockSum(Operation):
    """The sum of ``source`` over the block of ``size`` positions before that of t.

    Blocks are {1, …, size}, {size + 1, …, 2·size} and so on, and BOS is the one before
    them all. ``source`` is 0 at BOS.
    """

    wire: ClassVar[str] = "block-sum"
    linear: ClassVar[bool] = True
    source: str
    size: int

    @property
    def reads(self) -> tuple[str, ...]:
        """The source."""
        return (self.source,)

    def evaluate(self, read: Sequence[AnyArray], tokens: IntArray) -> AnyArray:
        """A difference of sums so far."""
        total = np.cumsum(read[0], axis=1)
        before = before_block(np.arange(tokens.shape[1]), self.size)
        start = np.maximum(before - 1, 0) * self.size
        return np.asarray(total[:, before * self.size] - total[:, start])

    def infer(self, read: Sequence[Values], frame: Frame) -> Values:
        """Multiples of what all summands are multiples of, up to the largest sum."""
        (source,) = read
        demand(self.size > 0, "a block of no positions")
        demand(
            source.bos == 0 and source.later[0] >= 0,
            "a sum needs a channel that is 0 at BOS and never negative",
        )
        most = int(source.later[-1]) * min(self.size, frame.length)
        step = int(np.gcd.reduce(source.later)) or 1
        demand(most // step <= MOST, "a sum has too many values")
        return Values(0, np.arange(0, most + 1, step))

    def memory(self, own: ChannelDomain, read: Sequence[ChannelDomain]) -> Memory:
        """How far the block is, its sum so far, and that of the block before."""
        return Memory(np.union1d(own.domain, np.arange(self.size)), 0, 3)

    def step(
        self, own: ChannelDomain, read: Sequence[PossibleValues], cells: BoolArray
    ) -> tuple[BoolArray, BoolArray]:
        """A full block is the one before; then the sum begins again."""
        domain = np.union1d(own.domain, np.arange(self.size))
        sums, passed = np.isin(domain, own.domain), np.arange(self.size)
        at = np.searchsorted(domain, passed)
        far, so_far, before = cells[:, 0][:, at], cells[:, 1][:, sums], cells[:, 2]
        full, going = far[:, :1], far[:, 1:].any(axis=1, keepdims=True)
        nothing = (own.domain == 0) & full
        after = np.zeros_like(cells)
        after[:, 0, at] = np.roll(far, 1, axis=1)
        after[:, 1, sums] = grown(own, read[0], nothing | so_far & going)
        after[:, 2] = cells[:, 1] & full | before & going
        return after[:, 2, sums], after


def before_block(t: IntArray, size: int) -> IntArray:
    """The number of the block before that of each position; BOS is number 0."""
    return np.maximum(-(-t // size) - 1, 0)
