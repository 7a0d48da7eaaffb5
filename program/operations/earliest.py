"""The first flagged position."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from krohn.program.domains import BoolArray, ChannelDomain, IntArray, PossibleValues
from krohn.program.operations.base import Flagged, Memory

NOTHING = -1
"""The value of the cell until a flag comes."""


@dataclass(frozen=True, slots=True)
class Earliest(Flagged):
    """``source`` at the first position j, 1 ≤ j ≤ t, where ``where`` is 1.

    If there is none, ``source`` at BOS. ``where`` is 0 at BOS, which differs from `Latest`.
    """

    wire: ClassVar[str] = "earliest"
    first: ClassVar[bool] = True
    grows: ClassVar[bool] = True
    at_bos: ClassVar[int] = 0

    def candidates(
        self, t: IntArray, asked: Sequence[IntArray]
    ) -> tuple[IntArray, IntArray, bool]:
        """All positions from 1 on."""
        return np.ones_like(t), t, True

    def position(self, read: Sequence[IntArray], t: IntArray) -> IntArray:
        """The first flagged position from 1 on, or 0."""
        marked = np.where((read[0] == 1) & (t > 0), t, len(t))
        first = np.minimum.accumulate(marked, axis=1)
        return np.where(first == len(t), 0, first)

    def memory(self, own: ChannelDomain, read: Sequence[ChannelDomain]) -> Memory:
        """One cell: the source where the flag came first; `NOTHING` before."""
        return Memory(np.append(NOTHING, own.domain), NOTHING, 1)

    def step(
        self, own: ChannelDomain, read: Sequence[PossibleValues], cells: BoolArray
    ) -> tuple[BoolArray, BoolArray]:
        """The cell's value; the source, if the cell was empty and the flag may be 1."""
        source, flag = read
        old, now = cells[:, 0], source.in_domain(own.domain)
        none, filled = (
            old[:, :1] & flag.can_be(0),
            old[:, 1:] | old[:, :1] & flag.can_be(1) & now,
        )
        shown = filled | none & (own.domain == own.bos)
        return shown, np.hstack([none, filled])[:, None]
