"""The last position of the word whose key equals the query."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from krohn.program.domains import IntArray, distinct_values
from krohn.program.operations.base import Match, last


@dataclass(frozen=True, slots=True)
class MatchAnywhere(Match):
    """``source`` at the last 1 ≤ j ≤ n whose ``key`` is ``query`` at t.

    n is the length of the word. If there is none, and at BOS, ``source`` at BOS.
    """

    wire: ClassVar[str] = "match-anywhere"
    causal: ClassVar[bool] = False

    def position(self, read: Sequence[IntArray], t: IntArray) -> IntArray:
        """The last position with that key; 0 if there is none."""
        keys, queries = read
        positions = np.zeros_like(keys)
        for value in distinct_values(queries):
            match = (keys == value) & (t > 0)
            positions = np.where(queries == value, last(match)[:, -1:], positions)
        return np.where(t > 0, positions, 0)
