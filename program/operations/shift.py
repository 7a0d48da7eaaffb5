"""A fixed number of positions ago."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from krohn.program.domains import (
    BoolArray,
    ChannelDomain,
    IntArray,
    Matrices,
    PossibleValues,
    Values,
)
from krohn.program.errors import demand
from krohn.program.operations.base import Frame, LookBack, Memory


@dataclass(frozen=True, slots=True)
class Shift(LookBack):
    """``source`` at position ``max(t - by, 0)``."""

    wire: ClassVar[str] = "shift"
    on_matrices: ClassVar[bool] = True
    by: int

    @property
    def reads(self) -> tuple[str, ...]:
        """The source."""
        return (self.source,)

    def candidates(
        self, t: IntArray, asked: Sequence[IntArray]
    ) -> tuple[IntArray, IntArray, bool]:
        """One position, whatever is there."""
        at = np.maximum(t - self.by, 0)
        return at, at, False

    def position(self, read: Sequence[IntArray], t: IntArray) -> IntArray:
        """Never before BOS."""
        return np.maximum(t - self.by, 0)

    def infer(self, read: Sequence[Values], frame: Frame) -> Values:
        """The values of its source; at later positions also the value at BOS."""
        demand(self.by > 0, f"a shift is by at least 1 letter, not {self.by}")
        (source,) = read
        return (
            source
            if isinstance(source, Matrices)
            else LookBack.infer(self, read, frame)
        )

    def memory(self, own: ChannelDomain, read: Sequence[ChannelDomain]) -> Memory:
        """The last values of the source, the oldest first."""
        return Memory(own.domain, own.bos, self.by)

    def step(
        self, own: ChannelDomain, read: Sequence[PossibleValues], cells: BoolArray
    ) -> tuple[BoolArray, BoolArray]:
        """The oldest value; the new one comes last."""
        now = read[0].in_domain(own.domain)
        return cells[:, 0], np.concatenate([cells[:, 1:], now[:, None]], axis=1)
