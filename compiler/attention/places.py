"""Heads that look at a distance, where digits say, or for a value."""

from math import ceil, log, log2
from typing import ClassVar

import numpy as np

from krohn.compiler import CompileError
from krohn.compiler.attention import Lowering, Matrices, blank
from krohn.compiler.layout import Layout
from krohn.compiler.positions import (
    Positions,
    by_position,
    check_length,
    leak_allowed,
    leak_target,
    longest_length,
    match_scale,
)
from krohn.network.precision import Precision
from krohn.program import (
    At,
    AtAnywhere,
    LatestMatch,
    Match,
    MatchAnywhere,
    Operation,
    Program,
    Shift,
    ShiftBy,
)
from krohn.program.domains import IntArray
from krohn.program.interpreter import interpret

# A head that looks a fixed number of positions back.


class ShiftLowering(Lowering):
    """A match at position t − by; BOS is the sink, halfway to all other positions."""

    operation = Shift
    features = frozenset({"one", "bos", "code"})
    uniform = True

    def matrices(self, layout: Layout, positions: Positions, looked: Shift) -> Matrices:
        """The code of a position, rotated by the distance."""
        code = positions.code
        assert code is not None
        scale = match_scale(code, positions.horizon, positions.precision)
        n = code.dimensions
        query, key = blank(layout, n + 1)
        low, high = layout.features["code"]
        query[low:high, :n] = scale * code.rotation(looked.by)
        key[low:high, :n] = scale * np.eye(n)
        query[layout.features["one"][0], n] = scale
        key[layout.features["bos"][0], n] = scale * (code.terms - code.lead)
        return query, key

    def largest(self, positions: Positions) -> list[float]:
        """The scale, and the key of BOS."""
        code = positions.code
        assert code is not None
        scale = match_scale(code, positions.horizon, positions.precision)
        return [scale * max(1.0, code.terms - code.lead)]

    def query_size(self, program: Program, positions: Positions, looked: Shift) -> int:
        """The dimensions of the code, and one for the sink."""
        assert positions.code is not None
        return positions.code.dimensions + 1


# A head that looks as many positions back as a channel says.


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

    def holds(length: int) -> bool:
        most = 3 / 4 * float(length) ** 2
        exact = 16 * most * precision.unit <= 1 / 4
        return exact and most * slope <= precision.largest

    task = f"{precision.name} cannot tell the squares of {length} positions apart"
    check_length(length, holds, task)
    return slope


def place_slope(length: int, precision: Precision, largest: int = 1) -> float:
    """The score that is lost one position beside a place that the position decides.

    Nothing has noise, and what is lost at a distance of d is d² times as much: rivals on
    both sides leak 2·Σ e^(−d²·slope) ≤ 2.01·e^(−slope). In 16-bit formats that may be as
    much as where digits point, in others a sixteenth of 96u, by which copies are off.

    Raises:
        CompileError: If the format cannot hold the squares.
    """
    narrow = precision.digits < precision.accumulator_digits
    allowed = leak_allowed(precision, largest * (largest + 1))
    leak = allowed if narrow else 6 * precision.unit
    slope = float(2 ** ceil(log2(log(2.01 / leak))))

    def holds(length: int) -> bool:
        return _holds_squares(length, precision, slope)

    if not holds(length):
        wider = "" if precision.name == "float64" else "--dtype float64 or "
        longest = longest_length(holds, length)
        raise CompileError(
            f"{precision.name} holds the squares of {longest} positions, "
            f"and there are {length}; say {wider}--addresses binary"
        )
    return slope


def _holds_squares(length: int, precision: Precision, slope: float) -> bool:
    """Whether all scores slope·(p² − 2pj + j²) of positions around 0 are exact sums.

    Partial sums of the terms are whole numbers up to 4·(T/2)². The exponent of the
    largest score that a kernel has seen so far is off by 1.5u of it (`check_scores`).
    """
    half = -(-length // 2)
    squares, most = np.arange(half + 1, dtype=np.float64) ** 2, 4.0 * half**2
    return (
        most < 2.0**precision.accumulator_digits
        and max(slope * most, squares[-1]) < 0.99 * precision.largest
        and 2 * precision.accumulator_unit * slope * float(length) ** 2 < 32
        and bool((precision.round(squares) == squares).all())
    )


class ShiftByLowering(Lowering):
    """Score slope·(2·(t − by)·j − j²), positions counted from the middle of the word.

    It is slope·((t − by)² − (j − (t − by))²): the nearest to t − by wins, BOS for
    positions before it. The first part is the same for all positions. Where positions
    decide all distances, a feature takes it off, so that no right score is large.
    """

    operation: ClassVar[type[Operation]] = ShiftBy
    features = frozenset({"one", "index", "square", "lift"})

    def matrices(
        self, layout: Layout, positions: Positions, looked: ShiftBy
    ) -> Matrices:
        """One entry for the product, one for the square, and perhaps one for its own."""
        (slope, *_), middle = self.largest(positions), positions.length // 2
        one, index = layout.features["one"][0], layout.features["index"][0]
        query, key = blank(layout, 2 + bool(positions.distances))
        query[[index, layout.places[looked.by].start], 0] = 2 * slope, -2 * slope
        query[one, :2] = -2 * slope * middle, -slope
        key[[index, one], 0] = 1.0, -middle
        key[layout.features["square"][0], 1] = 1.0
        if positions.distances:
            own = by_position(layout.plan.program, looked.by)
            lift = layout.features["lift"][0] + positions.distances.index(own)
            query[lift, 2], key[one, 2] = -slope, 1.0
        return query, key

    def largest(self, positions: Positions) -> list[float]:
        """The slope, and the largest constant."""
        most = positions.fetched[self.operation]
        choose = place_slope if positions.distances else distance_slope
        slope = choose(positions.length, positions.precision, most)
        return [slope, 2 * slope * max(positions.length // 2, 1)]

    def query_size(self, program: object, positions: Positions, looked: object) -> int:
        """The product, the square, and that of the place if the position decides it."""
        return 2 + bool(positions.distances)


# A head that looks where binary digits say.


def pointing_scale(length: int, precision: Precision, largest: int = 1) -> float:
    """The score per matching binary digit of a head that looks where digits say.

    Of N digits as ±1 the right position matches N, others at most N − 1, which differ by
    2; BOS scores N − 1 and lies between: T rivals, all at a distance of 1 at least.
    The leak may be as large as for `recency_slope`, divided by the weight of a gate, which
    is the largest value plus 1: a bit computed from a 0 that was read opens gates in a
    sum that must be a whole number again when it is stored. All scores are
    exact.
    """
    needed = log(length / leak_allowed(precision, largest * (largest + 1)))
    return float(2 ** ceil(log2(needed)))


class AtLowering(Lowering):
    """Score slope·(digits that agree − digits that do not); BOS one below a match.

    Digits of the query are 0 and 1, digits of positions −1 and 1; BOS has none.
    """

    operation: ClassVar[type[Operation]] = At
    features = frozenset({"one", "bos", "bits"})

    def matrices(self, layout: Layout, positions: Positions, looked: At) -> Matrices:
        """One entry for each digit, and one for BOS."""
        slope, one, n = (
            self._slope(positions),
            layout.features["one"][0],
            positions.bits,
        )
        query, key = blank(layout, n + 1)
        for b, digit in enumerate(looked.digits):
            query[layout.places[digit].start, b] += 2 * slope
        query[one] = [*[-slope] * n, slope]
        key[slice(*layout.features["bits"]), :n] = np.eye(n)
        key[layout.features["bos"][0], n] = n - 1
        return query, key

    def largest(self, positions: Positions) -> list[float]:
        """Twice the slope, and the key of BOS."""
        return [2 * self._slope(positions), positions.bits - 1.0]

    def query_size(self, program: Program, positions: Positions, looked: At) -> int:
        """The digits, and one entry for BOS."""
        return positions.bits + 1

    def _slope(self, positions: Positions) -> float:
        most = positions.fetched[self.operation]
        return pointing_scale(positions.length, positions.precision, most)


# A head that looks where binary digits say, before or after.


class AtAnywhereLowering(AtLowering):
    """The scores do not say who looks, so they serve whoever sees all positions."""

    operation = AtAnywhere


# A head that finds the last position whose key equals the query.


def equality_scale(ranks: int, precision: Precision) -> tuple[float, float]:
    """Slope per rank and bonus, in ranks, of a head that matches values.

    A position of rank r, 1 to R, scores slope·(r + bonus·[key is query]), BOS
    slope·bonus/2. The bonus is at least 2(R + 1), so that BOS lies above all mismatches by
    at least 1 and below all matches by R + 2. Scores must be exact: integers up to R +
    bonus must fit. The rank is the position, or a rating comes before it.

    Raises:
        CompileError: If they do not.
    """
    slope = float(2 ** ceil(log2(log(2 / leak_target(precision)))))

    def bonus(ranks: int) -> float:
        return float(2 ** ceil(log2(2 * (ranks + 1))))

    def holds(ranks: int) -> bool:
        most = ranks + bonus(ranks)
        return most <= 2.0**precision.digits and most * slope <= precision.largest

    check_length(
        ranks,
        holds,
        f"{precision.name} cannot order {ranks} ratings or positions behind a match",
        "smaller ratings, a shorter length or a wider dtype",
    )
    return slope, bonus(ranks)


class LatestMatchLowering(Lowering):
    """Score slope·(j + bonus·[key_j = query]): the latest match wins, else the sink.

    The sink is BOS, at slope·bonus/2. Its own key is subtracted, so that no query finds
    it among the matches.
    """

    operation: ClassVar[type[Operation]] = LatestMatch
    features = frozenset({"one", "bos", "index"})

    def matrices(self, layout: Layout, positions: Positions, looked: Match) -> Matrices:
        """One entry for each value that keys and queries share, and one for the order."""
        program = layout.plan.program
        slope, bonus = self.largest(positions)
        compared = _common_values(program, looked)
        n, index = len(compared), np.arange(len(compared))
        query, key = blank(layout, n + 1)
        query[layout.places[looked.query].start + compared, index] = slope
        key[layout.places[looked.key].start + compared, index] = bonus
        query[layout.features["one"][0], n] = slope
        key[layout.features["index"][0], n] = 1.0
        bos = layout.features["bos"][0]
        key[bos, n] = bonus / 2
        key[bos, index] = -bonus * (compared == value_at_bos(program, looked.key))
        return query, key

    def largest(self, positions: Positions) -> list[float]:
        """The slope and the bonus."""
        return [*equality_scale(positions.length, positions.precision)]

    def query_size(self, program: Program, positions: Positions, looked: Match) -> int:
        """The values compared, and one entry for the order."""
        return len(_common_values(program, looked)) + 1


def _common_values(program: Program, looked: Match) -> IntArray:
    """The values that a key and a query can both have, ascending."""
    assert program.one_hot.issuperset((looked.key, looked.query))
    return np.intersect1d(program.domains[looked.key], program.domains[looked.query])


def value_at_bos(program: Program, name: str) -> int:
    """The value of a channel at BOS."""
    return int(interpret(program, np.zeros((1, 0), dtype=np.int64))[name][0, 0])


# A head that finds the last position of the word with a key.


class MatchAnywhereLowering(LatestMatchLowering):
    """The scores do not say who looks, so they serve whoever sees all positions."""

    operation = MatchAnywhere
