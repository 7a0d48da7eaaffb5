"""Heads that add up: all positions, marked ones, or a block."""

from math import ceil, log, log2

import numpy as np

from krohn.compiler import CompileError
from krohn.compiler.attention import Lowering, Matrices, blank
from krohn.compiler.layout import Layout
from krohn.compiler.positions import (
    STEP_PLATEAU,
    Positions,
    by_position,
    check_length,
    count_scale,
    feature_scale,
    leak_target,
    mark_scale,
)
from krohn.network.precision import Precision
from krohn.program import BlockSum, MarkedSum, PrefixSum, Program

# A uniform head, which adds up (Lemma 15).


class PrefixSumLowering(Lowering):
    """Score 0 everywhere but at BOS, whose score keeps all weights at 1/C."""

    operation = PrefixSum
    features = frozenset({"bos", "count"})

    def matrices(
        self, layout: Layout, positions: Positions, looked: PrefixSum
    ) -> Matrices:
        """The score of BOS stands in the position table."""
        query, key = blank(layout, 1)
        query[layout.features["count"][0], 0] = 1.0
        key[layout.features["bos"][0], 0] = 1.0
        return query, key

    def largest(self, positions: Positions) -> list[float]:
        """C, by which the mean is multiplied."""
        return [count_scale(positions.length)]

    def gain(self, program: Program, looked: PrefixSum) -> float:
        """C."""
        return count_scale(program.length)


# A head that is uniform on marked positions (Proposition 9).


def mark_penalty(length: int, precision: Precision) -> float:
    """How far below the marked positions all others score (Proposition 9).

    Before they are multiplied by C, they weigh e^−penalty beside a marked position: T of
    them together a quarter of a rounding error. A power of two is exact in every format.
    """
    needed = log(length / leak_target(precision))
    return float(2 ** ceil(log2(needed)))


class MarkedSumLowering(Lowering):
    """Score 0 where marked, −penalty elsewhere; BOS keeps the weights at 1/C."""

    operation = MarkedSum
    features = frozenset({"one", "bos", "marked"})

    def matrices(
        self, layout: Layout, positions: Positions, looked: MarkedSum
    ) -> Matrices:
        """The score of BOS stands in the position table, once for each way to mark."""
        marked = by_position(layout.plan.program, looked.where)
        penalty = mark_penalty(positions.length, positions.precision)
        one, bos = layout.features["one"][0], layout.features["bos"][0]
        count = layout.features["marked"][0] + positions.marks.index(marked)
        query, key = blank(layout, 2)
        query[count, 0] = key[bos, 0] = 1.0
        query[one, 1] = penalty
        key[[layout.places[looked.where].start, bos, one], 1] = 1.0, 1.0, -1.0
        return query, key

    def largest(self, positions: Positions) -> list[float]:
        """The penalty, and every C."""
        penalty = mark_penalty(positions.length, positions.precision)
        return [penalty, *(mark_scale(sum(marks)) for marks in positions.marks)]

    def query_size(
        self, program: Program, positions: Positions, looked: MarkedSum
    ) -> int:
        """One entry for BOS, one for the marks."""
        return 2

    def gain(self, program: Program, looked: MarkedSum) -> float:
        """C."""
        return mark_scale(sum(by_position(program, looked.where)))


# A linear head that finds the mean of a block (Yang et al. 2024, Lemma A.9).


def check_block_sum(
    length: int, size: int, most: int, blocks: int, precision: Precision
) -> None:
    """Refuse sums that the roundings of φ and of the running sums blur (Theorem 13b).

    Each φ is off by up to 51u, so each position outside the block weighs up to 104u; and
    weights of the block differ by 208u and by the rounding of two sums of all terms.

    Args:
        length: T.
        size: The positions of a block.
        most: The largest sum.
        blocks: How many blocks queries and keys tell apart.
        precision: The format.

    Raises:
        CompileError: If they do.
    """
    if precision.digits < precision.accumulator_digits:
        raise CompileError(
            f"{precision.name} blurs the sums of linear attention; use a wider dtype"
        )
    if size & (size - 1):
        raise CompileError(f"a block of {size} positions is no power of two")

    def holds(length: int) -> bool:
        sums = 4 * (2 * length + 2 * blocks + 40)
        relative = precision.unit * (208 + sums + 104 * (length + 1) / size)
        return most * relative < STEP_PLATEAU

    task = f"{precision.name} cannot tell sums of blocks among {length} letters apart"
    check_length(length, holds, task)


class BlockSumLowering(Lowering):
    """Queries and keys 0 at the block that is asked for and −μ at all others.

    After φ these are 1 and almost 0. One more entry is for BOS, where every source is 0: if
    the block has n positions so far, φ is 1 − n/size in the query and size in the key. So
    all weights add up to `size`, and no count has to be divided out. (Yang et al. 2024
    multiply by the count in an MLP.) All heads have entries for the most blocks: one more
    entry of 0 in both would weigh all positions alike.
    """

    operation = BlockSum
    features = frozenset({"one", "bos", "block", "asked"})

    def matrices(
        self, layout: Layout, positions: Positions, looked: BlockSum
    ) -> Matrices:
        """The number of a position's block and of the block asked for, as unit vectors."""
        scale, entries = self.largest(positions)[0], positions.block_entries
        count, own = positions.block_counts[looked.size], layout.features["block"][0]
        own += positions.block_place(looked.size)
        asked = layout.features["asked"][0]
        numbers = by_position(layout.plan.program, looked.block)
        asked += positions.asked_by(numbers, looked.size)
        query, key = blank(layout, entries)
        query[layout.features["one"][0], : entries - 1] = -scale
        key[layout.features["one"][0]] = -scale
        each = np.arange(count)
        query[asked + each, each] = key[own + each, each] = scale
        query[asked + count, -1] = 1.0
        key[layout.features["bos"][0], -1] = scale + looked.size - 1
        return query, key

    def largest(self, positions: Positions) -> list[float]:
        """μ, and the weight of BOS."""
        return [
            feature_scale(positions.precision),
            feature_scale(positions.precision)
            + max(size for size, _ in positions.blocks),
        ]

    def query_size(
        self, program: Program, positions: Positions, looked: BlockSum
    ) -> int:
        """One entry for each block, and one for BOS."""
        return positions.block_entries

    def gain(self, program: Program, looked: BlockSum) -> float:
        """The mean becomes the sum."""
        return float(looked.size)
