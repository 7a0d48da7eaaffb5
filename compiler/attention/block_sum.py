"""A linear head that finds the mean of a block (Yang et al. 2024, Lemma A.9)."""

from math import ceil, log, log2

import numpy as np

from compiler.attention.base import Lowering, Matrices, blank
from compiler.attention_scales import STEP_PLATEAU
from compiler.errors import CompileError
from compiler.layout import Layout
from compiler.position_table import Positions
from network.precision import Precision
from program import BlockSum, Program
from program.operations.block_sum import before_block


def feature_scale(precision: Precision) -> float:
    """μ: φ(−μ) = e^−μ is below the rounding error of elu(x) + 1 near 0."""
    return float(2 ** ceil(log2(-log(precision.unit))))


def check_block_sum(
    length: int, size: int, most: int, blocks: int, precision: Precision
) -> None:
    """Refuse sums that the roundings of φ and of the running sums blur (Theorem 13b).

    Each φ is off by up to 51u, so each position outside the block weighs up to 104u; and
    weights of the block differ by 208u and by what two sums of all terms lose.

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
    sums = 4 * (2 * length + 2 * blocks + 40)
    relative = precision.unit * (208 + sums + 104 * (length + 1) / size)
    if most * relative >= STEP_PLATEAU:
        raise CompileError(
            f"{precision.name} cannot tell sums of blocks among {length} letters apart; "
            "use a shorter length or a wider dtype"
        )


class BlockSumLowering(Lowering):
    """Queries and keys 0 at the block that is asked for and −μ at all others.

    After φ these are 1 and almost 0. All heads have entries for the most blocks: one
    more entry of 0 in both would weigh all positions alike.
    """

    operation = BlockSum
    features = frozenset({"one", "block"})

    def matrices(
        self, layout: Layout, positions: Positions, looked: BlockSum
    ) -> Matrices:
        """The number of a block as a unit vector, and the one before it."""
        scale, entries = self.largest(positions)[0], max(positions.block_counts)
        low, _ = layout.features["block"]
        place = positions.blocks.index(looked.size)
        low += sum(positions.block_counts[:place])
        numbers = np.arange(positions.block_counts[place])
        before = before_block(numbers, 1)
        query, key = blank(layout, entries)
        query[low + numbers, before] = key[low + numbers, numbers] = scale
        query[layout.features["one"][0]] = key[layout.features["one"][0]] = -scale
        return query, key

    def largest(self, positions: Positions) -> list[float]:
        """μ."""
        return [feature_scale(positions.precision)]

    def query_size(
        self, program: Program, positions: Positions, looked: BlockSum
    ) -> int:
        """One entry for each block."""
        return max(positions.block_counts)

    def gain(self, program: Program, looked: BlockSum) -> float:
        """The mean becomes the sum."""
        return float(looked.size)
