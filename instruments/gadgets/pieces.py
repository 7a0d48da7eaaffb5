"""Pieces of networks of ReLUs: hulls of corners, in fractions, on which they are affine.

Units bend along hyperplanes. Where none of them changes its sign a network is affine, and
is furthest off at a corner. A hull where a unit has both signs is cut into two. So nothing
is missed, and nothing is rounded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from krohn.instruments.gadgets.record import Case, Layers
from krohn.network.meaning.net import Affine
from krohn.network.meaning.rationals import IdealRationals, Rationals
from krohn.program.domains import IntArray
from krohn.program.errors import demand

RATIONALS = IdealRationals()
MOST_CORNERS = 2**12
"""Of a hull; a gadget with many inputs that are read by one output is refused."""


@dataclass(frozen=True)
class Hull:
    """The hull of some corners.

    Attributes:
        corners: ``(corners, numbers)``: inputs, and what is affine in them.
        tight: The bounds that each of them lies on, by their numbers.
    """

    corners: Rationals
    tight: tuple[frozenset[int], ...]

    def beside(self, more: Rationals) -> "Hull":
        """The same with more numbers at each corner."""
        return Hull(np.hstack([self.corners, more]), self.tight)

    def above(self, heights: Rationals) -> "Hull":
        """The part where a height, affine on it, is at least 0.

        Where an edge crosses 0 there is a new corner. Two corners have an edge if no third
        one lies on all bounds that both lie on (the double description method).

        Raises:
            Refused: If there are too many corners.
        """
        bound = 1 + max((n for bounds in self.tight for n in bounds), default=0)
        rows, tight = list[Rationals](), list[frozenset[int]]()
        for i in np.flatnonzero(heights >= 0):
            rows.append(self.corners[i])
            tight.append(self.tight[i] | ({bound} if heights[i] == 0 else set()))
        ends = np.flatnonzero(heights > 0), np.flatnonzero(heights < 0)
        for i, j in product(*ends):
            shared = self.tight[i] & self.tight[j]
            if sum(shared <= bounds for bounds in self.tight) == 2:
                share = heights[i] / (heights[i] - heights[j])
                rows.append(
                    self.corners[i] + share * (self.corners[j] - self.corners[i])
                )
                tight.append(shared | {bound})
        demand(len(rows) <= MOST_CORNERS, "a hull has too many corners")
        corners = np.array(rows, dtype=object).reshape(len(rows), self.corners.shape[1])
        return Hull(corners, tuple(tight))


def hull_of(case: Case, used: IntArray) -> Hull:
    """The inputs of a case in some dimensions.

    Raises:
        Refused: If there are too many.
    """
    ends = [sorted({case.low[i], case.high[i]}) for i in used]
    demand(2 ** len(ends) <= MOST_CORNERS, "an output reads too many inputs")
    rows = [*product(*ends)]
    corners = np.array(rows, dtype=object).reshape(len(rows), len(ends))
    low = np.array([each[0] for each in ends], dtype=object)
    sides = 2 * np.arange(len(ends)) + (corners > low)
    hull = Hull(corners, tuple(map(frozenset, sides.tolist())))
    for row, least in case.above:
        hull = hull.above(hull.corners @ row[used] - least)
    return hull


def pieces(
    layers: Sequence[Affine[Rationals]], hull: Hull, reads: IntArray
) -> Iterator[tuple[Hull, Rationals]]:
    """The hulls on which a network is affine, with its outputs at their corners.

    Args:
        layers: With ReLUs between them.
        hull: Where.
        reads: The numbers of a corner that the network reads.
    """
    if not len(hull.corners):
        return
    given, width = hull.corners[:, reads], hull.corners.shape[1]
    for i, layer in enumerate(layers):
        z = given @ layer.weight + layer.bias
        mixed = np.flatnonzero((z > 0).any(axis=0) & (z < 0).any(axis=0))
        if layer.runs and len(mixed):
            both, unit = hull.beside(given), mixed[len(mixed) // 2]
            left = np.arange(width, width + given.shape[1])
            for heights in (z[:, unit], -z[:, unit]):
                for part, said in pieces(layers[i:], both.above(heights), left):
                    yield Hull(part.corners[:, :width], part.tight), said
            return
        given = RATIONALS.relu(z) if layer.runs else z
    yield hull, given


def trim(
    layers: Sequence[Affine[Any]], dims: Sequence[int], mask: Any = ()
) -> tuple[Layers, IntArray]:
    """The layers cut down to some output dimensions, and the inputs that these need.

    Args:
        layers: Affine, with ReLUs between them.
        dims: The dimensions.
        mask: Not 0 for dimensions of the input that are kept beside the units.
    """
    parts: list[Affine[Any]] = []
    alive = np.array(dims)
    for layer in reversed(layers):
        below = np.flatnonzero((layer.weight[:, alive] != 0).any(axis=1))
        runs = (("relu", len(alive)),) if layer.runs else ()
        weight = layer.weight[np.ix_(below, alive)]
        parts.insert(0, Affine(weight, layer.bias[alive], runs))
        alive = below
    stay = [d for d in dims if len(mask) and mask[d]]
    used = np.union1d(alive, np.array(stay, dtype=np.int64)).astype(np.int64)
    wide = np.full((len(used), parts[0].weight.shape[1]), Fraction(0), dtype=object)
    wide[np.searchsorted(used, alive)] = parts[0].weight
    return (replace(parts[0], weight=wide), *parts[1:]), used
