"""Heads that find the latest position with a flag."""

from math import ceil, log2

from krohn.compiler.attention import Lowering, Matrices, blank
from krohn.compiler.layout import Layout
from krohn.compiler.positions import Positions, beyond, check_length, recency_slope
from krohn.network.precision import Precision
from krohn.program import Latest, Program

# A head that finds the last flagged position (Lemma 16).


def recency_scale(
    length: int, precision: Precision, largest: int = 1
) -> tuple[float, float]:
    """Slope per position and bonus, in positions, of a latest-match head (Lemma 16).

    The score slope·(j + bonus·where_j) must be exact, so that the order of positions
    survives: the integers up to 2·bonus must fit the format.

    Raises:
        CompileError: If they do not.
    """
    slope = recency_slope(precision, largest)

    def holds(length: int) -> bool:
        most = 2 * beyond(length) * slope
        return fits_plainly(length, precision) and most <= precision.largest

    check_length(length, holds, _task(length, precision))
    return slope, beyond(length)


def fits_plainly(length: int, precision: Precision) -> bool:
    """Whether a format holds all positions, and all with the bonus of a flag."""
    return 2 * beyond(length) <= 2.0**precision.digits


def spread_scale(
    length: int, precision: Precision, largest: int = 1
) -> tuple[float, float]:
    """Slope and bonus of a latest-match head where positions are spread over both signs.

    Position j scores slope·(x_j − bonus·(1 − where_j)), x_j ascending numbers of the
    format up to M, a power of two, in absolute value. Flagged ones are exact; the others
    may be rounded, for the bonus of 9/4·M keeps them apart (docs/numerics.md).

    Raises:
        CompileError: If a score can overflow, or exponents err by half a slope.
    """
    slope = recency_slope(precision, largest)

    def furthest(length: int) -> int:
        """The exponent of M."""
        count, octave = (length + 1) // 2, 2 ** (precision.digits - 1)
        more = count - 2**precision.digits
        return ceil(log2(count)) if more <= 0 else precision.digits + -(-more // octave)

    def holds(length: int) -> bool:
        most = furthest(length)
        exponents = log2(104) + most <= precision.accumulator_digits
        return exponents and 13 / 4 * 2**most * slope <= precision.largest

    check_length(length, holds, _task(length, precision))
    return slope, 9 / 4 * 2 ** furthest(length)


def _task(length: int, precision: Precision) -> str:
    return f"{precision.name} cannot order {length} positions by recency"


def uniform_scale(length: int, precision: Precision, largest: int = 1) -> float:
    """Slope per position of a latest-match head whose weights do not know the length.

    Position t scores position j with slope·(j + (t + 1)·where_j): the bonus is one more
    than any unmarked position that t can see. Integers up to 2t + 1 must fit.

    Raises:
        CompileError: If they do not.
    """
    slope = recency_slope(precision, largest)

    def holds(length: int) -> bool:
        most = 2 * length + 1
        return most <= 2.0**precision.digits and most * slope <= precision.largest

    check_length(length, holds, _task(length, precision))
    return slope


class LatestLowering(Lowering):
    """Score slope·(j + bonus·where_j): the latest position with the flag wins.

    Where positions are spread over both signs, those without the flag lose the bonus
    instead: a constant less for all, so that the scores of flagged positions are exact.
    """

    operation = Latest
    features = frozenset({"one", "index"})
    uniform = True

    def matrices(
        self, layout: Layout, positions: Positions, looked: Latest
    ) -> Matrices:
        """The bonus is a number, or t + 1 where weights do not depend on the length."""
        one, index = layout.features["one"][0], layout.features["index"][0]
        flag = layout.places[looked.where].start
        if positions.uniform:
            query, key = blank(layout, 2)
            query[[index, one], 0] = query[one, 1] = self._slope(positions)
            key[flag, 0] = key[index, 1] = 1.0
            return query, key
        slope, bonus = self.largest(positions)
        query, key = blank(layout, 1)
        query[one, 0] = slope
        key[[index, flag], 0] = 1.0, bonus
        key[one, 0] = -bonus * positions.spread
        return query, key

    def largest(self, positions: Positions) -> list[float]:
        """The slope; and the bonus, if that is a number."""
        if positions.uniform:
            return [self._slope(positions)]
        scale = spread_scale if positions.spread else recency_scale
        most = positions.fetched[Latest]
        return [*scale(positions.length, positions.precision, most)]

    def query_size(self, program: Program, positions: Positions, looked: Latest) -> int:
        """Two where the bonus grows with the position that looks."""
        return 2 if positions.uniform else 1

    def _slope(self, positions: Positions) -> float:
        most = positions.fetched[Latest]
        return uniform_scale(positions.length, positions.precision, most)
