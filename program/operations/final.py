"""The last position of the word."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from krohn.program.domains import IntArray, Values
from krohn.program.operations.base import Frame, LookBack


@dataclass(frozen=True, slots=True)
class Final(LookBack):
    """``source`` at the last letter of the word; at BOS that at BOS.

    Every value of a causal Program at the end of a word, a total as well as a verdict, is
    seen by all positions through it.
    """

    wire: ClassVar[str] = "final"
    causal: ClassVar[bool] = False

    @property
    def reads(self) -> tuple[str, ...]:
        """The source."""
        return (self.source,)

    def candidates(
        self, t: IntArray, asked: Sequence[IntArray]
    ) -> tuple[IntArray, IntArray, bool]:
        """The last one."""
        return t, t, False

    def position(self, read: Sequence[IntArray], t: IntArray) -> IntArray:
        """The last one."""
        return np.where(t > 0, t[-1], 0)

    def infer(self, read: Sequence[Values], frame: Frame) -> Values:
        """The values of its source."""
        return Values(read[0].bos, read[0].later)
