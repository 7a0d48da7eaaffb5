"""A head that finds the first flagged position."""

from math import ceil, log2

from krohn.compiler.attention.base import Lowering, Matrices, blank
from krohn.compiler.errors import CompileError
from krohn.compiler.layout import Layout
from krohn.compiler.positions import Positions, recency_slope
from krohn.network.precision import Precision
from krohn.program import Earliest


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
    bonus = float(2 ** ceil(log2(length + 1)))
    slope = recency_slope(precision, largest)
    if bonus > 2.0**precision.digits or bonus * slope > precision.largest:
        raise CompileError(
            f"{precision.name} cannot order {length} positions by what comes first; "
            "use a shorter length or a wider dtype"
        )
    return slope, bonus


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
