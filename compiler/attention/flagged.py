"""Heads that find a position by flags and the order of positions."""

from math import ceil, log, log2

import numpy as np

from krohn.compiler import CompileError
from krohn.compiler.attention import Lowering, Matrices, blank
from krohn.compiler.layout import Layout
from krohn.compiler.positions import (
    Positions,
    beyond,
    check_length,
    leak_target,
    recency_slope,
)
from krohn.network.precision import Precision
from krohn.program import Earliest, Final, Program, SiblingLatest

# A head that finds the first flagged position.


def earliest_scale(
    length: int, precision: Precision, largest: int = 1
) -> tuple[float, float]:
    """Slope per position and bonus, in positions, of a head for the earliest flag.

    The score is slope·(bonus·where_j − j): flagged positions lie above 0, BOS at 0, the
    others below. Rivals stand at distances 1, 2, … as for the latest flag, but
    scores go up to the bonus only: the integers up to it must fit the format.

    Raises:
        CompileError: If they do not.
    """
    slope = recency_slope(precision, largest)

    def holds(length: int) -> bool:
        bonus = beyond(length)
        return bonus <= 2.0**precision.digits and bonus * slope <= precision.largest

    task = f"{precision.name} cannot order {length} positions by what comes first"
    check_length(length, holds, task)
    return slope, beyond(length)


class EarliestLowering(Lowering):
    """Score slope·(bonus·where_j − j): the first flag wins, else BOS, which scores 0."""

    operation = Earliest
    features = frozenset({"one", "index"})

    def matrices(
        self, layout: Layout, positions: Positions, looked: Earliest
    ) -> Matrices:
        """Scores that fall with the position and are lifted by the flag."""
        slope, bonus = self.largest(positions)
        query, key = blank(layout, 1)
        query[layout.features["one"][0], 0] = slope
        key[layout.features["index"][0], 0] = -1.0
        key[layout.places[looked.where].start, 0] = bonus
        return query, key

    def largest(self, positions: Positions) -> list[float]:
        """The slope and the bonus."""
        most = positions.fetched[Earliest]
        return [*earliest_scale(positions.length, positions.precision, most)]


# Heads that find the last flagged position of the block before.


def sibling_scale(length: int, precision: Precision) -> float:
    """Slope per position of the heads that look into sibling blocks.

    With blocks of 2^k positions, bits of positions as ±1 and N bits from the k-th on, the
    score is slope·(2^k·matches + 2^(k+1)·flag + recency): N matches and a flag beat BOS
    by 2^k less half a block, BOS beats everything else by as much, and recency orders
    the positions of a block with steps of 1 (docs/numerics.md). All of it is exact.

    Raises:
        CompileError: If the format cannot hold such scores exactly.
    """

    def slope(length: int) -> float:
        return float(2 ** ceil(log2(log((length + 1) / leak_target(precision)))))

    def holds(length: int) -> bool:
        bits = length.bit_length()
        largest: int = max(2**k * (bits - k + 3) for k in range(bits))
        exact = 2 * largest <= 2.0**precision.digits
        return exact and largest * slope(length) <= precision.largest

    task = f"{precision.name} cannot order the blocks of up to {length} positions"
    check_length(length, holds, task)
    return slope(length)


class SiblingLatestLowering(Lowering):
    """Match the higher binary digits of the position, the lowest of them flipped.

    The positions before t that agree so with it are its sibling block.
    """

    operation = SiblingLatest
    features = frozenset({"one", "bos", "bits"})

    def matrices(
        self, layout: Layout, positions: Positions, looked: SiblingLatest
    ) -> Matrices:
        """One entry for each higher digit, and one for the order inside a block."""
        slope = sibling_scale(positions.length, positions.precision)
        low, level = layout.features["bits"][0], looked.level
        count = positions.bits - level
        query, key = blank(layout, count + 1)
        matched = np.arange(count)
        size = 2.0**level
        signs = np.where(matched == 0, -1, 1)
        query[low + level + matched, matched] = signs * slope * size
        key[low + level + matched, matched] = 1.0
        query[layout.features["one"][0], count] = slope
        # Centred recency: BOS, which has no digits, stands in the middle.
        key[low + np.arange(level), count] = 2.0 ** (np.arange(level) - 1)
        key[layout.places[looked.where].start, count] = 2 * size
        key[layout.features["bos"][0], count] = size * (count - 1)
        return query, key

    def largest(self, positions: Positions) -> list[float]:
        """The slope times the largest block."""
        slope = sibling_scale(positions.length, positions.precision)
        return [slope * 2.0 ** (positions.bits - 1)]

    def query_size(
        self, program: Program, positions: Positions, looked: SiblingLatest
    ) -> int:
        """The digits from the level on, and one entry for the order."""
        return positions.bits - looked.level + 1


# A head that finds the last position of the word.


class FinalLowering(Lowering):
    """Score slope·j: the last position wins."""

    operation = Final
    features = frozenset({"one", "index"})

    def matrices(self, layout: Layout, positions: Positions, looked: Final) -> Matrices:
        """One entry."""
        query, key = blank(layout, 1)
        query[layout.features["one"][0], 0] = self.largest(positions)[0]
        key[layout.features["index"][0], 0] = 1.0
        return query, key

    def largest(self, positions: Positions) -> list[float]:
        """The slope."""
        precision, length = positions.precision, positions.length
        slope = recency_slope(precision, positions.fetched[Final])
        if length > 2.0**precision.digits or length * slope > precision.largest:
            raise CompileError(
                f"{precision.name} cannot find the last of {length} positions; use a "
                "shorter length or a wider dtype"
            )
        return [slope]
