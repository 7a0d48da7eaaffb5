"""Bounds for all products of positive operators (Lemma W9a of docs/proofs/beliefs.md)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from krohn.program.domains import BoolArray, FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import Interval, Operand, bound_underflow

MOST_WORDS, MOST_WORK = 2**10, 2**26
"""How many words of one length there are at most whose operators are multiplied out, and
half of those of all lengths; and how many steps those of one length take."""
NEAR = 2.0**128
"""Numbers lie between the inverse and this: then no product or quotient is subnormal."""
EXTREME = "a number is too large or too small to be multiplied"


@dataclass(frozen=True)
class PositiveOperators:
    """Bounds of every product of at least one operator, divided by its mass.

    The mass of X is the sum of Xb, b the start. The first axis says how many operators are
    multiplied, up to some number, and that many or more.

    Attributes:
        start: ``(n,)``: b.
        entries: ``(counts, n, n)``.
        columns: ``(counts,)``: sums of columns.
        share: ``(counts, n)``: what part of a column a row has.
        others: ``(counts,)``: above what the entries of a row are together where b is 0,
            in units of those where it is not.
        contraction: ``(T + 1,)``: what a product of so many operators multiplies
            distances between positive vectors by, at most (Birkhoff).
    """

    start: FloatArray
    entries: Interval
    columns: Interval
    share: Interval
    others: Interval
    contraction: FloatArray

    @classmethod
    def of(cls, operators: FloatArray, start: FloatArray, length: int) -> Self:
        """Those of operators ``(letters, n, n)``, for words of up to ``length`` of them.

        Raises:
            Refused: If an entry is not positive, or entries are too far apart.
        """
        demand((operators > 0) & np.isfinite(operators), "an operator has an entry 0")
        demand((start >= 0) & (start.sum() > 0), "the start has no mass")
        demand(ordinary(operators) & ordinary(start[start > 0]).all(), EXTREME)
        zero, ends = start == 0, list[float]()
        ranges, words = list[tuple[Interval, ...]](), list(_words(operators, length))
        for x in words:
            sums = x / (x @ start)[:, :, None]
            parts = x / x.sum(axis=1)[:, None]
            beside = x @ (1.0 * zero) / (x @ (1.0 * ~zero))
            each = ((sums, (0, 1)), (parts, (0, 2)), (beside, (0, 1)))
            ranges.append(tuple(_range(*one) for one in each))
            ends.append(birkhoff(x))
        high, often, others = (
            Interval.stack_intervals(x) for x in zip(*ranges, strict=True)
        )
        entries = often[:, :, None] * high[:, None]
        near = np.isfinite(entries.high) & (entries > bound_underflow(1))
        demand(near, "entries of operators are too far apart")
        columns = _range(high, (1,))
        tau = contraction(ends, length)
        return cls(start, entries, columns, often, others, tau)

    def at(self, letters: FloatArray) -> IntArray:
        """The place of bounds of products of so many operators; the first one of none."""
        place = np.clip(letters.astype(np.int64) - 1, 0, self.entries.shape[0] - 1)
        return np.asarray(place)


def _range(x: Interval, axes: tuple[int, ...]) -> Interval:
    """Between which numbers all entries along some axes are."""
    return Interval(np.asarray(x.low.min(axis=axes)), np.asarray(x.high.max(axis=axes)))


def _words(operators: FloatArray, length: int) -> Iterator[Interval]:
    """The products of each length, while they are few, divided by numbers."""
    words, size, left = Interval.of(operators), len(operators[0]), 2 * MOST_WORDS
    for _ in range(length):
        yield words
        count, left = len(words.low) * len(operators), left - len(words.low)
        if count > min(MOST_WORDS, left) or count * size**3 > MOST_WORK:
            return
        words = words[:, None] @ operators[None]
        words = words.each(lambda x: x.reshape(-1, size, size))
        words = words / words.high.max(axis=(1, 2), keepdims=True)


def apart(held: FloatArray, numbers: FloatArray) -> Interval:
    """How far logarithms of quotients of numbers are apart that stand for others.

    It is the most along the middle axis of ``(matrices, entries, columns)``.

    Raises:
        Refused: If one is 0 where the other is not.
    """
    numbers = numbers.reshape(held.shape)
    there = numbers > 0
    demand((held > 0) == there, "a matrix is 0 elsewhere than its operator")
    ratio = Interval.of(np.where(there, held, 1.0)) / np.where(there, numbers, 1.0)
    logs = ratio.through(np.log)
    high = logs.high.max(axis=1, where=there, initial=-np.inf)
    low = logs.low.min(axis=1, where=there, initial=np.inf)
    some = there.any(axis=1)
    return (Interval.of(np.where(some, high, 0)) - np.where(some, low, 0)).max()


def contraction(known: Sequence[float], length: int) -> FloatArray:
    """``(T + 1,)``: of words of known lengths, and of longer ones.

    Of these the parts contract one after the other.
    """
    coefficients, most = np.ones(length + 1), len(known)
    coefficients[1 : most + 1] = known
    for count in range(most + 1, length + 1):
        parts = (
            Interval.of(coefficients[1 : most + 1])
            * coefficients[count - most : count][::-1]
        )
        coefficients[count] = parts.high.min(initial=1.0)
    return coefficients


def ordinary(numbers: FloatArray) -> BoolArray:
    """Which positive numbers are not too large or too small to be multiplied."""
    return (numbers >= 1 / NEAR) & (numbers <= NEAR)


def birkhoff(words: Interval, more: Operand = 0.0) -> float:
    """tanh(Δ/4), Δ the largest distance between two columns of a word; 1 at most.

    Args:
        words: ``(words, n, n)``: positive on some rows and some columns, and 0 elsewhere.
        more: By how much distances may be larger.
    """
    there = words.high > 0
    logs = words.where(there, 1.0).through(np.log)
    widest = Interval.of(0.0)
    for column in range(logs.shape[2]):
        apart = logs - logs[:, :, column, None]
        both = there & there[:, :, column, None]
        high = apart.high.max(axis=1, where=both, initial=-np.inf)
        low = apart.low.min(axis=1, where=both, initial=np.inf)
        some = both.any(axis=1)
        each = Interval.of(np.where(some, high, 0.0)) - np.where(some, low, 0.0)
        widest = widest.maximum(each.max())
    return (widest + more).through(lambda x: np.tanh(x / 4)).minimum(1.0).most
