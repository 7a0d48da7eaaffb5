"""A head that finds the last position whose key is what is asked for."""

import numpy as np

from krohn.program.domains import BoolArray, IntArray
from krohn.program.statement import Channel
from krohn.verify.checker.attention.fetches import Fetches


class LatestEqual(Fetches):
    """The last position from 1 up to t with the key; else BOS."""

    operation = "latest-match"
    last_asks = True

    def right(self, channel: Channel, t: IntArray, size: int) -> tuple[BoolArray, bool]:
        """Any position from 1 up to t."""
        j = np.arange(size)
        return (j >= 1) & (j <= t[:, None]), True
