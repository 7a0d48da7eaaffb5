"""A head that finds the last position of the word."""

from krohn.compiler.attention.base import Lowering, Matrices, blank
from krohn.compiler.errors import CompileError
from krohn.compiler.layout import Layout
from krohn.compiler.positions import Positions, recency_slope
from krohn.program import Final


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
