"""A uniform head, which adds up (Lemma 15)."""

from krohn.compiler.attention.base import Lowering, Matrices, blank
from krohn.compiler.layout import Layout
from krohn.compiler.positions import Positions, count_scale
from krohn.program import PrefixSum, Program


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
