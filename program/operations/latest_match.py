"""The last position whose key equals the query."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from krohn.program.domains import (
    BoolArray,
    ChannelDomain,
    IntArray,
    PossibleValues,
    distinct_values,
)
from krohn.program.operations.base import Match, Memory, last


@dataclass(frozen=True, slots=True)
class LatestMatch(Match):
    """``source`` at the last j ≤ t, j ≥ 1, whose ``key`` is ``query`` at t.

    If there is none, ``source`` at BOS: BOS is found when no other position is. Its
    own key therefore means nothing; whether or not it equals the query, the value is
    the same.
    """

    wire: ClassVar[str] = "latest-match"

    def position(self, read: Sequence[IntArray], t: IntArray) -> IntArray:
        """The last position with that key; BOS is 0 in any case."""
        keys, queries = read
        positions = np.zeros_like(keys)
        for value in distinct_values(queries):
            positions = np.where(queries == value, last(keys == value), positions)
        return positions

    def memory(self, own: ChannelDomain, read: Sequence[ChannelDomain]) -> Memory:
        """The last value behind each value of the key."""
        return Memory(own.domain, own.bos, len(read[1].domain))

    def step(
        self, own: ChannelDomain, read: Sequence[PossibleValues], cells: BoolArray
    ) -> tuple[BoolArray, BoolArray]:
        """The cell of the query's value, after the cell of the key has got the source."""
        source, key, query = read
        now = source.in_domain(own.domain)[:, None]
        sure = key.sets.sum(axis=1)[:, None, None] == 1
        new = np.where(key.sets[:, :, None], now | cells & ~sure, cells)
        unknown = ~np.isin(query.domain, key.domain)
        missed = query.sets[:, unknown].any(axis=1, keepdims=True)
        asked = query.in_domain(key.domain)
        fetched = (asked[:, :, None] & new).any(axis=1)
        return fetched | missed & (own.domain == own.bos), new
