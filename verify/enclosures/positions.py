"""Whole numbers of which only bounds are known, and what they may be like.

What heads see is told once, by `krohn.program.attention.visible`, with operations on
positions. Here a position stands for all those of a stretch, so that the same formula says
which stretches may see which. What it does not say with these operations is an error.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.program.domains import BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class Maybe:
    """Whether something is true of some of the numbers; where it is not, of none.

    Attributes:
        flags: Truth values, True where nobody knows.
    """

    flags: BoolArray

    def __and__(self, other: "Maybe") -> "Maybe":
        return Maybe(self.flags & other.flags)

    def __or__(self, other: "Maybe") -> "Maybe":
        return Maybe(self.flags | other.flags)


@dataclass(frozen=True, eq=False)
class Among:
    """Each a whole number between two, both included.

    Attributes:
        least: The bounds from below.
        most: Those from above.
    """

    least: IntArray
    most: IntArray

    @staticmethod
    def of(known: "Among | int | IntArray") -> "Among":
        """Numbers as they are."""
        if isinstance(known, Among):
            return known
        return Among(np.asarray(known), np.asarray(known))

    def __getitem__(self, at: Any) -> "Among":
        return Among(self.least[at], self.most[at])

    def __sub__(self, other: "Among | int") -> "Among":
        o = Among.of(other)
        return Among(self.least - o.most, self.most - o.least)

    def __mod__(self, by: int) -> "Among":
        apart = self.least // by != self.most // by
        least = np.where(apart, 0, self.least % by)
        return Among(least, np.where(apart, by - 1, self.most % by))

    def __le__(self, other: "Among | int") -> Maybe:
        return Maybe(self.least <= Among.of(other).most)

    def __lt__(self, other: "Among | int") -> Maybe:
        return Maybe(self.least < Among.of(other).most)

    def __ge__(self, other: "Among | int") -> Maybe:
        return Maybe(self.most >= Among.of(other).least)

    def __gt__(self, other: "Among | int") -> Maybe:
        return Maybe(self.most > Among.of(other).least)
