"""A head that is uniform on marked positions (Proposition 9)."""

from math import ceil, log, log2

from krohn.compiler.attention.base import Lowering, Matrices, blank, flags
from krohn.compiler.layout import Layout
from krohn.compiler.positions import Positions, leak_target, mark_scale
from krohn.network.precision import Precision
from krohn.program import MarkedSum, Program


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
        marked = flags(layout.plan.program, looked)
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
        return mark_scale(sum(flags(program, looked)))
