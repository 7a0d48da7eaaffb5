"""A head that looks as many positions back as a channel says."""

from math import ceil, log, log2
from typing import ClassVar

from krohn.compiler.attention.base import Lowering, Matrices, blank
from krohn.compiler.errors import CompileError
from krohn.compiler.layout import Layout
from krohn.compiler.positions import Positions, leak_allowed
from krohn.network.precision import Precision
from krohn.program import Operation, ShiftBy


def distance_slope(length: int, precision: Precision, largest: int = 1) -> float:
    """The score that is lost one position beside the right one.

    At a distance of d it is d² times as much, less the effect of noise in the distance:
    up to a quarter of a step leaves d²/2 at least. Rivals on both sides leak
    2·Σ e^(−d²·slope/2) ≤ 4·e^(−slope/2). Scores are up to 3·(T/2)²·slope, and are off by
    16 units of that at most (three products, their sum, and an exponent).

    Raises:
        CompileError: If that is more than a quarter of the slope.
    """
    slope = float(2 ** ceil(log2(2 * log(4 / leak_allowed(precision, largest)))))
    most = 3 / 4 * float(length) ** 2
    if 16 * most * precision.unit > 1 / 4 or most * slope > precision.largest:
        raise CompileError(
            f"{precision.name} cannot tell the squares of {length} positions apart; "
            "use a shorter length or a wider dtype"
        )
    return slope


class ShiftByLowering(Lowering):
    """Score slope·(2·(t − by)·j − j²), positions counted from the middle of the word.

    It is slope·((t − by)² − (j − (t − by))²): the nearest to t − by wins, BOS for
    positions before it. The first part is the same for all positions.
    """

    operation: ClassVar[type[Operation]] = ShiftBy
    features = frozenset({"one", "index", "square"})

    def matrices(
        self, layout: Layout, positions: Positions, looked: ShiftBy
    ) -> Matrices:
        """One entry for the product, and one for the square."""
        (slope, *_), middle = self.largest(positions), positions.length // 2
        one, index = layout.features["one"][0], layout.features["index"][0]
        query, key = blank(layout, 2)
        query[[index, layout.places[looked.by].start], 0] = 2 * slope, -2 * slope
        query[one] = -2 * slope * middle, -slope
        key[[index, one], 0] = 1.0, -middle
        key[layout.features["square"][0], 1] = 1.0
        return query, key

    def largest(self, positions: Positions) -> list[float]:
        """The slope, and the largest constant."""
        most = positions.fetched[self.operation]
        slope = distance_slope(positions.length, positions.precision, most)
        return [slope, 2 * slope * max(positions.length // 2, 1)]

    def query_size(self, program: object, positions: Positions, looked: object) -> int:
        """The product and the square."""
        return 2
