"""A head that finds the first flagged position."""

import numpy as np

from krohn.program.domains import BoolArray, IntArray
from krohn.program.statement import Channel
from krohn.verify.checker.attention.fetches import Fetches


class EarliestFlag(Fetches):
    """The first flagged position from 1 up to t; else BOS."""

    operation = "earliest"
    first = True
    last_asks = True

    def right(self, channel: Channel, t: IntArray, size: int) -> tuple[BoolArray, bool]:
        """Any position from 1 up to t."""
        j = np.arange(size)
        return (j >= 1) & (j <= t[:, None]), True
