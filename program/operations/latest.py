"""The last flagged position."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from krohn.program.domains import BoolArray, ChannelDomain, IntArray, PossibleValues
from krohn.program.operations.base import Flagged, Memory, last


@dataclass(frozen=True, slots=True)
class Latest(Flagged):
    """``source`` at the last position j ≤ t where ``where`` is 1; it is 1 at BOS."""

    wire: ClassVar[str] = "latest"
    grows: ClassVar[bool] = True

    def candidates(
        self, t: IntArray, asked: Sequence[IntArray]
    ) -> tuple[IntArray, IntArray, bool]:
        """All of them."""
        return np.zeros_like(t), t, False

    def position(self, read: Sequence[IntArray], t: IntArray) -> IntArray:
        """The last flagged position."""
        return last(read[0] == 1)

    def memory(self, own: ChannelDomain, read: Sequence[ChannelDomain]) -> Memory:
        """Its value."""
        return Memory(own.domain, own.bos, 1)

    def step(
        self, own: ChannelDomain, read: Sequence[PossibleValues], cells: BoolArray
    ) -> tuple[BoolArray, BoolArray]:
        """The source, if the flag may be 1; the value found before, if it may be 0."""
        source, flag = read
        sets = source.in_domain(own.domain) & flag.can_be(1) | cells[
            :, 0
        ] & flag.can_be(0)
        return sets, sets[:, None]
