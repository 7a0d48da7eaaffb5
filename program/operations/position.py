"""A function of the position alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from krohn.program.domains import Values, distinct_values
from krohn.program.errors import demand
from krohn.program.operations.base import Frame, Operation


@dataclass(frozen=True, slots=True)
class Position(Operation):
    """A given function of the position alone.

    Attributes:
        values: Its value at 0, 1, …, T.
    """

    wire: ClassVar[str] = "position"
    is_attention: ClassVar[bool] = False
    values: tuple[int, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        """Nothing."""
        return ()

    def infer(self, read: Sequence[Values], frame: Frame) -> Values:
        """The given ones."""
        count = len(self.values)
        demand(
            count == frame.length + 1,
            f"a function of the position has {count} values, not one for each of the "
            f"positions 0..{frame.length}",
        )
        given = np.array(self.values, dtype=np.int64)
        return Values(self.values[0], distinct_values(given[1:]), given)
