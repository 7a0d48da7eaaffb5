"""The position that binary digits say, before or after."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from krohn.program.domains import IntArray
from krohn.program.operations.at import At, number


@dataclass(frozen=True, slots=True)
class AtAnywhere(At):
    """``source`` at the position x that ``digits`` say, if 1 ≤ x ≤ n; else at BOS.

    n is the length of the word. At BOS it is that at BOS.
    """

    wire: ClassVar[str] = "at-anywhere"
    causal: ClassVar[bool] = False

    def position(self, read: Sequence[IntArray], t: IntArray) -> IntArray:
        """The number, or 0 if the word has no such position."""
        x = number(read)
        return np.where((x <= t[-1]) & (t > 0), x, 0)
