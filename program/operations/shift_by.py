"""As many positions ago as a channel says."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from krohn.program.domains import IntArray
from krohn.program.operations.base import LookBack


@dataclass(frozen=True, slots=True)
class ShiftBy(LookBack):
    """``source`` at position ``max(t - by, 0)``, where ``by`` is a channel.

    It has no memory of its own: as many values would be kept as ``by`` can be large.
    """

    wire: ClassVar[str] = "shift-by"
    by: str

    @property
    def reads(self) -> tuple[str, ...]:
        """The source, and how far back it stands."""
        return (self.source, self.by)

    @property
    def asks(self) -> tuple[str, ...]:
        """The distance."""
        return (self.by,)

    def candidates(
        self, t: IntArray, asked: Sequence[IntArray]
    ) -> tuple[IntArray, IntArray, bool]:
        """One position, whatever is there."""
        at = np.maximum(t - asked[0], 0)
        return at, at, False

    def position(self, read: Sequence[IntArray], t: IntArray) -> IntArray:
        """Never before BOS."""
        return np.asarray(np.maximum(t - read[0], 0))
