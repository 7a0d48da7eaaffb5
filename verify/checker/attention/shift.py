"""A head that looks a fixed number of positions back."""

import numpy as np

from program.domains import BoolArray, IntArray
from program.statement import Channel
from verify.checker.attention.heads import Fetches


class Shifted(Fetches):
    """Position t − by, or BOS."""

    operation = "shift"

    def right(self, channel: Channel, t: IntArray, size: int) -> tuple[BoolArray, bool]:
        """One position, whatever is there."""
        return np.arange(size) == np.maximum(t[:, None] - channel.by, 0), False
