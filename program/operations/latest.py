"""The last flagged position."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from program.domains import BoolArray, IntArray, Known, May
from program.operations.base import Flagged, Memory, last


@dataclass(frozen=True, slots=True)
class Latest(Flagged):
    """``source`` at the last position j ≤ t where ``where`` is 1; it is 1 at BOS."""

    wire: ClassVar[str] = "latest"

    def position(self, read: Sequence[IntArray], t: IntArray) -> IntArray:
        """The last flagged position."""
        return last(read[0] == 1)

    def memory(self, own: Known, read: Sequence[Known]) -> Memory:
        """Its value."""
        return Memory(own.domain, own.bos, 1)

    def step(
        self, own: Known, read: Sequence[May], cells: BoolArray
    ) -> tuple[BoolArray, BoolArray]:
        """The source, if the flag may be 1; what was found before, if it may be 0."""
        source, flag = read
        found = source.into(own.domain) & flag.be(1) | cells[:, 0] & flag.be(0)
        return found, found[:, None]
