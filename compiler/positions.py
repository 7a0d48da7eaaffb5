"""Position codes and features, and the temperatures that a length and a format ask for."""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, cos, log, log2, pi
from typing import Any

import numpy as np

from krohn.compiler import CompileError
from krohn.network.precision import FloatArray, Precision
from krohn.program import Operation, Program
from krohn.program.domains import IntArray

# Position codes, and the temperatures that a length and a precision ask for.
#
# Every number here is derived in docs/numerics.md; the verifier recomputes its own
# from the tensors and trusts none of them.


# How far from a value, in steps, a table still gives its entry.
STEP_PLATEAU, CIRCLE_PLATEAU = 1 / 4, 3 / 8


@dataclass(frozen=True, slots=True)
class PositionCode:
    """Angles 2πt/2^k of position t for k = first..K.

    *Dyadic* (first = 1): two positions differ by 2 or more in the inner product. If 2^i
    is the largest power of two that divides their difference (below 2^K), frequency
    i + 1 contributes cos(odd·π) = −1 instead of 1. *Circle* (first = K): the single
    circle of Proposition 2, on which neighbours differ by 1 − cos(2π/2^K) only (E5).

    Attributes:
        frequencies: K.
        first: 1 or K.
    """

    frequencies: int
    first: int = 1

    @property
    def terms(self) -> int:
        """How many angles there are; the inner product of a code with itself."""
        return self.frequencies - self.first + 1

    @property
    def dimensions(self) -> int:
        """Two for each angle, but the sine of the period 2, which is always 0."""
        return 2 * self.terms - (self.first == 1)

    @property
    def lead(self) -> float:
        """Half of the least difference between a match and a mismatch.

        The sink scores ``terms − lead``: by so much a match beats the sink, and the sink
        all mismatches.
        """
        if self.first == 1:
            return 1.0
        return (1 - cos(2 * pi / 2**self.frequencies)) / 2

    def vectors(self, positions: FloatArray) -> FloatArray:
        """``(positions, dimensions)``: the cosines, then the sines that are not always 0.

        Angles are reduced in exact integers first, so that symmetric codes are equal.
        """
        periods = 2.0 ** np.arange(self.first, self.frequencies + 1)
        turns = np.remainder(positions[:, None], periods) / periods
        cosines, sines = _cosine(turns), _cosine(turns - 0.25)
        return np.concatenate([cosines, sines[:, int(self.first == 1) :]], axis=1)

    def rotation(self, by: int) -> FloatArray:
        """R with ``vectors(t) @ R = vectors(t - by)``, ``(dimensions, dimensions)``."""
        k = self.terms
        both = self.vectors(np.array([float(by)]))[0]
        cosine, sine = both[:k], np.concatenate([np.zeros(2 * k - len(both)), both[k:]])
        whole = np.zeros((2 * k, 2 * k))
        index = np.arange(k)
        whole[index, index] = cosine
        whole[index, k + index] = -sine
        whole[k + index, index] = sine
        whole[k + index, k + index] = cosine
        kept = np.delete(np.arange(2 * k), [k] if self.first == 1 else [])
        return whole[np.ix_(kept, kept)]


def _cosine(turns: FloatArray) -> FloatArray:
    """cos(2πx), exact at the multiples of a quarter turn."""
    quarters = np.remainder(turns, 1.0) * 4
    exact = quarters == np.round(quarters)
    table = np.array([1.0, 0.0, -1.0, 0.0, 1.0])
    return np.where(
        exact, table[np.round(quarters).astype(np.int64)], np.cos(2 * np.pi * turns)
    )


def position_code(length: int, furthest: int, circle: bool = False) -> PositionCode:
    """The smallest code in which no look-back by up to ``furthest`` wraps around."""
    frequencies = ceil(log2(length + furthest + 1))
    return PositionCode(frequencies, frequencies if circle else 1)


def beyond(length: int) -> float:
    """The least power of two above all positions."""
    return 2.0 ** ceil(log2(length + 1))


def longest_length(holds: Callable[[int], bool], length: int) -> int:
    """The longest length below one that does not hold, of those that do; 0 if none does."""
    return bisect_left(range(1, length), True, key=lambda n: not holds(n))


def check_length(
    length: int,
    holds: Callable[[int], bool],
    task: str,
    remedy: str = "a shorter length or a wider dtype",
) -> None:
    """Refuse a length at which a format cannot do what a head needs.

    Args:
        length: T.
        holds: Whether the format can at a length; then it can at all below.
        task: The format and what it cannot do.
        remedy: What to use instead.

    Raises:
        CompileError: If it cannot. The message names the longest length at which it can.
    """
    if not holds(length):
        longest = longest_length(holds, length)
        only = f", only up to {longest} by this head" if longest else ""
        raise CompileError(f"{task}{only}; use {remedy}")


def leak_target(precision: Precision) -> float:
    """The attention that may go to wrong positions: a quarter of a rounding error."""
    return precision.accumulator_unit / 4


def match_scale(code: PositionCode, length: int, precision: Precision) -> float:
    """The factor s on queries and on keys of a position match; temperature β = s².

    Margin and noise of a score are both proportional to β. A match leads the sink, and
    the sink a mismatch, by `PositionCode.lead`; rounding codes, rotation, query and score
    moves a difference of two scores by at most 13·u for each angle (docs/numerics.md).
    The rest of the lead must reach ln(T / leak). Powers of two scale without rounding.

    Raises:
        CompileError: If the format cannot tell that many positions apart.
    """
    remaining = code.lead - 13 * precision.unit * code.terms
    if remaining <= 0:
        where = " on a single circle" if code.first > 1 else ""
        raise CompileError(
            f"{precision.name} cannot tell {length} positions apart{where}; "
            "use a shorter length or a wider dtype"
        )
    temperature = log((length + 1) / leak_target(precision)) / remaining
    return float(2.0 ** ceil(log2(temperature) / 2))


def recency_slope(precision: Precision, largest: int) -> float:
    """Score per position of a head that fetches values up to ``largest``.

    Rivals at distances 1, 2, … before and behind the right position leak
    2/(e^slope − 1) at worst, whatever the length. A 16-bit format rounds the fetched
    value to itself if the leak is a 32nd of its unit over the largest value; elsewhere
    the leak is a quarter of a rounding error (docs/numerics.md).
    """
    leak = leak_allowed(precision, largest)
    return float(2 ** ceil(log2(log(1 + 2 / leak))))


def spread(count: int, precision: Precision) -> FloatArray:
    """``(2·count + 1,)``: the whole numbers next to 0 that a format holds, ascending.

    With p digits these are all up to 2^p, every second one up to 2^(p+1), and so on: of
    each sign 2^p, and half as many for each power of two beyond.
    """
    whole = 2**precision.digits
    k = np.arange(count + 1)
    octave, step = np.divmod(np.maximum(k - whole, 0), whole // 2)
    ascending = np.ldexp((np.minimum(k, whole) + 2 * step).astype(np.float64), octave)
    return np.concatenate([-ascending[:0:-1], ascending])


def leak_allowed(precision: Precision, largest: int) -> float:
    """The leak that is allowed to a head that fetches values up to ``largest``."""
    if precision.digits < precision.accumulator_digits:
        return precision.unit / (32 * max(largest, 1))
    return leak_target(precision)


def uniform_code(precision: Precision) -> PositionCode:
    """The position code of all lengths whose positions a format can order."""
    return PositionCode(precision.digits)


def circle_reader(points: int) -> tuple[float, float]:
    """How to tell one of n points of a circle from the others by an inner product.

    A value that is off by up to 3/8 of a step still counts as its own point, whose
    cosine is then above the threshold; seen from another point it is 5/8 of a step away
    at least, and the gain makes that 1 below the threshold (docs/numerics.md).

    Returns:
        The threshold, and the gain.
    """
    step = 2 * pi / points
    threshold = cos(CIRCLE_PLATEAU * step)
    return threshold, 1 / (threshold - cos((1 - CIRCLE_PLATEAU) * step))


def count_scale(length: int) -> float:
    """C, a power of two ≥ 2T: a uniform head weighs every letter 1/C (Lemma 15)."""
    return float(2 ** ceil(log2(2 * length)))


def mark_scale(marked: int) -> float:
    """C, a power of two above their number: each marked position weighs 1/C."""
    return float(2 ** ceil(log2(marked + 1)))


COARSE = 2.0**-11


def check_count(
    length: int,
    most: float,
    scale: float,
    precision: Precision,
    plateau: float = STEP_PLATEAU,
) -> None:
    """Refuse sums up to ``most`` over ``length`` positions that a format blurs.

    The normaliser and the weighted sum lose up to T·u each in the worst order, the
    scores a few u·ln C, a narrow format two roundings of a weight and exponentials that
    are off by 2^-12 each (docs/soundness.md, A6); all of it must stay
    on the plateau of the table that reads the sum (docs/numerics.md).

    Args:
        length: T.
        most: The largest sum that is told from its neighbours.
        scale: C: a position that counts weighs 1/C.
        precision: The format.
        plateau: How far off the readers of the sum tolerate.

    Raises:
        CompileError: If it does not.
    """
    unit, each = precision.accumulator_unit, -(-most // length)
    narrow = precision.digits < precision.accumulator_digits
    coarse = 4 * precision.unit + COARSE if narrow else 0.0

    def holds(length: int) -> bool:
        relative = 2 * (length + 48) * unit + 18 * unit * log(scale) + coarse
        return min(most, each * length) * relative < plateau

    check_length(
        length, holds, f"{precision.name} cannot tell sums of {length} letters apart"
    )


def count_scores(length: int) -> FloatArray:
    """The score of BOS at position t, ``(T + 1,)``: e^score + t = C."""
    positions = np.arange(length + 1, dtype=np.float64)
    return np.asarray(np.log(count_scale(length) - positions))


def mark_scores(flags: tuple[int, ...]) -> FloatArray:
    """The score of BOS where n marked positions are seen, ``(T + 1,)``: e^score + n = C."""
    scale = mark_scale(sum(flags))
    return np.asarray(np.log(scale - np.cumsum(flags, dtype=np.float64)))


def feature_scale(precision: Precision) -> float:
    """μ: φ(−μ) = e^−μ is below the rounding error of φ(x) = elu(x) + 1 near 0."""
    return float(2 ** ceil(log2(-log(precision.unit))))


# Position features: the content of the position table.


FEATURES = (
    *("one", "bos", "code", "index", "square", "lift", "count", "marked", "bits"),
    *("block", "asked"),
)
"""All of them, in the order in which they lie."""


@dataclass(frozen=True)
class Positions:
    """The position features that a Program needs.

    Attributes:
        length: T.
        precision: The format they will be stored in.
        code: The position code of its look-backs, if it has any.
        fetched: The largest value that operations of each kind fetch, among operations that
            look at other positions.
        needed: The features that their heads read.
        uniform: Whether weights must not depend on the length.
        marks: The flags, position by position, by which its marked sums choose.
        spread: Whether the index of a position is a number on either side of 0, of
            which a format holds more, and not the position itself.
        distances: How far back each of its heads for distances looks, position by position;
            none if words decide it for one of them.
        blocks: For each way in which linear heads add up a block the size of blocks, and
            the number of the block meant at each position.
        best_rating: The largest rating by which heads choose.
    """

    length: int
    precision: Precision
    code: PositionCode | None
    fetched: Mapping[type[Operation], int]
    needed: frozenset[str]
    uniform: bool = False
    marks: tuple[tuple[int, ...], ...] = ()
    spread: bool = False
    distances: tuple[tuple[int, ...], ...] = ()
    blocks: tuple[tuple[int, tuple[int, ...]], ...] = ()
    best_rating: int = 0

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """How many dimensions each feature has."""
        wide = {
            "code": self.code.dimensions if self.code else 0,
            "lift": len(self.distances),
            "marked": len(self.marks),
            "bits": self.bits,
            "block": sum(self.block_counts.values()),
            "asked": sum(self.block_counts[size] + 1 for size, _ in self.blocks),
        }
        sizes = {n: wide.get(n, 1) for n in FEATURES if n in self.needed}
        return {name: size for name, size in sizes.items() if size}

    def table(self) -> dict[str, FloatArray]:
        """Each feature at positions 0..T, ``(T + 1, size)``."""
        t = np.arange(self.length + 1, dtype=np.float64)
        whole = {
            "one": np.ones((len(t), 1)),
            "bos": (t == 0).astype(np.float64)[:, None],
            "index": self._index(t)[:, None],
            "square": self._squares(t)[:, None],
            "count": count_scores(self.length)[:, None],
        }
        digits = (t[:, None].astype(np.int64) >> np.arange(self.bits)) & 1
        whole["bits"] = (2.0 * digits - 1.0) * (t > 0)[:, None]
        if self.distances:
            whole["lift"] = self._squares((t - np.array(self.distances)).T)
        if self.marks:
            whole["marked"] = np.stack([mark_scores(m) for m in self.marks], axis=1)
        if self.blocks:
            counts = self.block_counts.items()
            own = [(-(-t // size), count) for size, count in counts]
            whole["block"] = np.hstack([_unit(x, count) for x, count in own])
            whole["asked"] = np.hstack(
                [self._block_asked(*each) for each in self.blocks]
            )
        if self.code:
            # BOS is found by the sink alone, so its code is empty.
            whole["code"] = self.code.vectors(t) * (t > 0)[:, None]
        return {name: whole[name] for name in self.sizes}

    def _squares(self, t: FloatArray) -> FloatArray:
        """Of positions counted from the middle of the word."""
        return np.asarray((t - self.length // 2) ** 2)

    def _index(self, t: FloatArray) -> FloatArray:
        if not self.spread:
            return t
        return spread((self.length + 1) // 2, self.precision)[: self.length + 1]

    def _block_asked(self, size: int, numbers: tuple[int, ...]) -> FloatArray:
        """The block that is meant, as a unit vector; then the weight of BOS, before φ."""
        t, number = np.arange(self.length + 1), np.array(numbers)
        from krohn.program.operations.block_sum import members

        present = members(number, t, size).sum(axis=1)
        filler = np.full(len(t), -feature_scale(self.precision))
        filler[present < size] = np.log1p(-present[present < size] / size)
        return np.column_stack([_unit(number, self.block_counts[size]), filler])

    @cached_property
    def block_counts(self) -> Mapping[int, int]:
        """How many blocks of each size there are."""
        return {size: -(-self.length // size) for size, _ in self.blocks}

    @property
    def block_entries(self) -> int:
        """How many entries queries and keys of linear heads have."""
        return max(self.block_counts.values()) + 1

    def block_place(self, size: int) -> int:
        """Where the number of the own block of a size stands in its feature."""
        before = list(self.block_counts)[: list(self.block_counts).index(size)]
        return sum(self.block_counts[each] for each in before)

    def asked_by(self, numbers: tuple[int, ...], size: int) -> int:
        """Where the number of the block that is meant stands in its feature."""
        before = self.blocks[: self.blocks.index((size, numbers))]
        return sum(self.block_counts[each] + 1 for each, _ in before)

    @property
    def bits(self) -> int:
        """How many binary digits of positions heads compare; 0 if none does."""
        return self.length.bit_length() if "bits" in self.needed else 0

    @property
    def horizon(self) -> int:
        """The longest word that the temperature of look-backs is chosen for."""
        return 2**self.precision.digits if self.uniform else self.length


def _unit(numbers: FloatArray | IntArray, count: int) -> FloatArray:
    """``(positions, count)``: unit vectors of 1, …, count; 0 is the zero vector."""
    return np.eye(count + 1)[numbers.astype(np.int64), 1:]


def by_position(program: Program, name: str) -> tuple[int, ...]:
    """The values of a channel that the position alone decides."""
    operation: Any = program.operations[name]
    assert operation.wire == "position"
    values: tuple[int, ...] = operation.values
    return values
