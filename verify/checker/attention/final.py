"""A head that finds the last position of the word."""

import numpy as np

from krohn.program.domains import BoolArray, IntArray
from krohn.program.statement import Channel
from krohn.verify.checker.attention.fetches import Fetches


class LastOfAll(Fetches):
    """The last position n: row t stands for words of t letters."""

    operation = "final"

    def right(self, channel: Channel, t: IntArray, size: int) -> tuple[BoolArray, bool]:
        """That position."""
        return np.arange(size) == t[:, None], False
