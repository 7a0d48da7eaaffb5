"""The best-rated position whose key suits the query."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from krohn.program.domains import BoolArray, IntArray, Values, distinct_values
from krohn.program.errors import demand
from krohn.program.operations.base import Frame, LookBack, Match

MOST_PAIRS = 2**28
"""How often pairs are looked at, all queries together: a second."""


@dataclass(frozen=True, slots=True)
class Best(Match):
    """``source`` at the 1 ≤ j ≤ t of the largest ``rating`` whose ``key`` suits the query.

    Of equal ratings it is the last one; ``source`` at BOS if no key suits. (COPY of Feng
    et al. 2023, A.10, with a relation in place of products of vectors.) It has no memory:
    any value of the query might be asked for.

    Attributes:
        rating: The channel that is the larger, the better, read there.
        pairs: What suits what: a key, its query, the next key, its query, ….
    """

    wire: ClassVar[str] = "best"
    rating: str
    pairs: tuple[int, ...]

    @property
    def rated_channel(self) -> str:
        """The rating."""
        return self.rating

    @property
    def reads(self) -> tuple[str, ...]:
        """The source, the key, the query and the rating."""
        return (self.source, self.key, self.query, self.rating)

    def suits(self, keys: IntArray, asked: int) -> BoolArray:
        """Those that are in a pair with what is asked."""
        return keys_that_suit(self.pairs, keys, asked)

    def position(self, read: Sequence[IntArray], t: IntArray) -> IntArray:
        """The position of the best rating so far among keys that suit."""
        keys, queries, ratings = read
        order, positions = ratings * len(t) + t, np.zeros_like(keys)
        for value in distinct_values(queries).tolist():
            right = self.suits(keys, value) & (t > 0)
            best = np.maximum.accumulate(np.where(right, order, 0), axis=1)
            positions = np.where(queries == value, best % len(t), positions)
        return positions

    def infer(self, read: Sequence[Values], frame: Frame) -> Values:
        """The values of its source."""
        check_pairs(self.pairs, read[2])
        return LookBack.infer(self, read, frame)


def check_pairs(pairs: tuple[int, ...], query: Values) -> None:
    """Refuse pairs that are none, or too many to be gone through for each query.

    Raises:
        Refused: If they are.
    """
    demand(len(pairs) % 2 == 0, "a key that suits is without its query")
    work = len(pairs) * len(query.domain)
    demand(work <= MOST_PAIRS, "too many keys and queries suit each other")


def keys_that_suit(pairs: tuple[int, ...], keys: IntArray, asked: int) -> BoolArray:
    """Which keys are in a pair with a query: a key, its query, the next key, …."""
    each = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return np.isin(keys, each[each[:, 1] == asked, 0])
