"""Heads that find the last flagged position of the block before."""

import numpy as np

from krohn.program.domains import BoolArray, IntArray
from krohn.program.operations.sibling_latest import SiblingLatest
from krohn.program.statement import Channel
from krohn.verify.checker.attention.fetches import Fetches


class LatestOfSibling(Fetches):
    """The last flagged position of the sibling block; else BOS."""

    operation = "sibling-latest"

    def right(self, channel: Channel, t: IntArray, size: int) -> tuple[BoolArray, bool]:
        """The positions of the block before, if t's block is the second of a pair."""
        assert isinstance(channel.operation, SiblingLatest)
        level = channel.operation.level
        j, block = np.arange(size), t[:, None] >> level
        high = block << level
        low = np.maximum(high - (1 << level), 1)
        return (low <= j) & (j < high) & (block % 2 == 1), True
