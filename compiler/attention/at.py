"""A head that looks where binary digits say."""

from math import ceil, log, log2
from typing import ClassVar

import numpy as np

from krohn.compiler.attention.base import Lowering, Matrices, blank
from krohn.compiler.layout import Layout
from krohn.compiler.positions import Positions, leak_allowed
from krohn.network.precision import Precision
from krohn.program import At, Operation, Program


def pointing_scale(length: int, precision: Precision, largest: int = 1) -> float:
    """The score per matching binary digit of a head that looks where digits say.

    Of N digits as ±1 the right position matches N, others at most N − 1, which differ by
    2; BOS scores N − 1 and lies between: T rivals, all at a distance of 1 at least.
    The leak may be as large as for `recency_slope`, divided by the weight of a gate, which
    is the largest value plus 1: a bit computed from a 0 that was read opens gates in a
    sum that must be a whole number again when it is stored. All scores are
    exact.
    """
    needed = log(length / leak_allowed(precision, largest * (largest + 1)))
    return float(2 ** ceil(log2(needed)))


class AtLowering(Lowering):
    """Score slope·(digits that agree − digits that do not); BOS one below a match.

    Digits of the query are 0 and 1, digits of positions −1 and 1; BOS has none.
    """

    operation: ClassVar[type[Operation]] = At
    features = frozenset({"one", "bos", "bits"})

    def matrices(self, layout: Layout, positions: Positions, looked: At) -> Matrices:
        """One entry for each digit, and one for BOS."""
        slope, one, n = (
            self._slope(positions),
            layout.features["one"][0],
            positions.bits,
        )
        query, key = blank(layout, n + 1)
        for b, digit in enumerate(looked.digits):
            query[layout.places[digit].start, b] += 2 * slope
        query[one] = [*[-slope] * n, slope]
        key[slice(*layout.features["bits"]), :n] = np.eye(n)
        key[layout.features["bos"][0], n] = n - 1
        return query, key

    def largest(self, positions: Positions) -> list[float]:
        """Twice the slope, and the key of BOS."""
        return [2 * self._slope(positions), positions.bits - 1.0]

    def query_size(self, program: Program, positions: Positions, looked: At) -> int:
        """The digits, and one entry for BOS."""
        return positions.bits + 1

    def _slope(self, positions: Positions) -> float:
        most = positions.fetched[self.operation]
        return pointing_scale(positions.length, positions.precision, most)
