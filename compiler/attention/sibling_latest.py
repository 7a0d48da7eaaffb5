"""Heads that find the last flagged position of the block before."""

from math import ceil, log, log2

import numpy as np

from krohn.compiler.attention.base import Lowering, Matrices, blank
from krohn.compiler.errors import CompileError
from krohn.compiler.layout import Layout
from krohn.compiler.positions import Positions, leak_target
from krohn.network.precision import Precision
from krohn.program import Program, SiblingLatest


def sibling_scale(length: int, precision: Precision) -> float:
    """Slope per position of the heads that look into sibling blocks.

    With blocks of 2^k positions, bits of positions as ±1 and N bits from the k-th on, the
    score is slope·(2^k·matches + 2^(k+1)·flag + recency): N matches and a flag beat BOS
    by 2^k less half a block, BOS beats everything else by as much, and recency orders
    the positions of a block with steps of 1 (docs/numerics.md). All of it is exact.

    Raises:
        CompileError: If the format cannot hold such scores exactly.
    """
    slope = float(2 ** ceil(log2(log((length + 1) / leak_target(precision)))))
    bits = length.bit_length()
    largest = max(2**k * (bits - k + 3) for k in range(bits))
    if 2 * largest > 2.0**precision.digits or largest * slope > precision.largest:
        raise CompileError(
            f"{precision.name} cannot order {length} positions in blocks; "
            "use a shorter length or a wider dtype"
        )
    return slope


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

    def reach(self, looked: SiblingLatest) -> int:
        """From the end of the own block to the start of the one before."""
        return int(2 ** (looked.level + 1) - 1)

    def query_size(
        self, program: Program, positions: Positions, looked: SiblingLatest
    ) -> int:
        """The digits from the level on, and one entry for the order."""
        return positions.bits - looked.level + 1
