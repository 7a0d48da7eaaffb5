"""A head that looks a fixed number of positions back."""

import numpy as np

from krohn.program.domains import BoolArray, IntArray
from krohn.program.operations.shift import Shift
from krohn.program.statement import Channel
from krohn.verify.checker.attention.fetches import Fetches


class Shifted(Fetches):
    """Position t − by, or BOS."""

    operation = "shift"

    def right(self, channel: Channel, t: IntArray, size: int) -> tuple[BoolArray, bool]:
        """One position, whatever is there."""
        assert isinstance(channel.operation, Shift)
        right = np.maximum(t[:, None] - channel.operation.by, 0)
        return np.arange(size) == right, False
