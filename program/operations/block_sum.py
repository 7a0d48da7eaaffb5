"""Sums over a block of positions that the position chooses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from krohn.program.domains import AnyArray, BoolArray, IntArray, Values
from krohn.program.errors import Refused, demand
from krohn.program.operations.base import Frame, Operation
from krohn.program.operations.prefix_sum import totals


@dataclass(frozen=True, slots=True)
class BlockSum(Operation):
    """The sum of ``source`` over the positions of 1..t that lie in one block.

    Blocks are {1, …, size}, {size + 1, …, 2·size} and so on, numbered from 1. Which one is
    meant at t is the value there of ``block``, a `Position`; 0 means none, and the sum is
    0. ``source`` is 0 at BOS. It has no memory: any block so far might be asked for.
    """

    wire: ClassVar[str] = "block-sum"
    check: ClassVar[str] = "block_sum"
    linear: ClassVar[bool] = True
    source: str
    block: str
    size: int

    @property
    def reads(self) -> tuple[str, ...]:
        """The source and the number of the block."""
        return (self.source, self.block)

    def block_sums(self, total: AnyArray, block: IntArray) -> AnyArray:
        """The sums over blocks from sums so far, ``(batch, positions)``, 0 at BOS."""
        t = np.arange(total.shape[1])
        start = np.minimum(np.maximum(block - 1, 0) * self.size, t)
        end = np.minimum(block * self.size, t)
        return np.asarray(total[:, end] - total[:, start])

    def infer(self, read: Sequence[Values], frame: Frame) -> Values:
        """Multiples of the summands' greatest common divisor, up to the largest sum."""
        source, block = read
        demand(self.size > 0, "a block of no positions")
        if block.given is None:
            raise Refused("the sum over a block needs a function of the position")
        given = block.given

        def largest(most: IntArray) -> np.int64:
            # Of T² positions in blocks a list would be too long: a file states them in T.
            total = np.cumsum(np.append(0, most))
            return np.max(self.block_sums(total[None], given))

        return totals(source, frame.length, largest)


def members(block: IntArray, t: IntArray, size: int) -> BoolArray:
    """``(rows, T + 1)``: the positions of the block that is meant at each t, up to t.

    Args:
        block: ``(T + 1,)``: the number of the block that is meant at each position.
        t: ``(rows,)``: positions.
        size: The positions of a block.
    """
    j = np.arange(len(block))
    here: BoolArray = -(-j // size) == block[t][:, None]
    return here & (j > 0) & (j <= t[:, None])
