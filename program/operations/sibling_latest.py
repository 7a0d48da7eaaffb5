"""The last flagged position of the block before."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from krohn.program.domains import IntArray, Values
from krohn.program.errors import demand
from krohn.program.operations.base import Flagged, Frame, last

MOST_LEVELS = 63


@dataclass(frozen=True, slots=True)
class SiblingLatest(Flagged):
    """``source`` at the last flagged position of the block just before t's block.

    Positions fall into blocks of 2^level. If t's block is the second of a pair, this is
    ``source`` at the last j of the first one where ``where`` is 1; otherwise, or if
    there is none, ``source`` at BOS. ``where`` is 1 at BOS.

    The siblings of t's blocks at all levels partition 0..t−1, blocks of lower levels
    lying later: so the first of them that answers is the latest position *before* t,
    which no single head can find (spec/shallower, section 3, with fewer comparisons).
    It has no memory of its own: where in its block t lies is not remembered.
    """

    wire: ClassVar[str] = "sibling-latest"
    level: int

    def candidates(
        self, t: IntArray, asked: Sequence[IntArray]
    ) -> tuple[IntArray, IntArray, bool]:
        """The positions of the block before, if t's block is the second of a pair."""
        block = t >> self.level
        end = block << self.level
        low = np.maximum(end - (1 << self.level), 1)
        return low, np.where(block % 2 == 1, end, low) - 1, True

    def position(self, read: Sequence[IntArray], t: IntArray) -> IntArray:
        """The last flagged position of the block before, or 0."""
        block = t >> self.level
        positions = last(read[0] == 1)[:, np.maximum((block << self.level) - 1, 0)]
        inside = (block % 2 == 1) & (positions >> self.level == block - 1)
        return np.where(inside, positions, 0)

    def infer(self, read: Sequence[Values], frame: Frame) -> Values:
        """The values of its source."""
        demand(0 <= self.level < MOST_LEVELS, "blocks of no size")
        return Flagged.infer(self, read, frame)
