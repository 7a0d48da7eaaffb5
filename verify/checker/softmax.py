"""Softmax heads: how far what they add up is off, for every kernel that A1-A9 allow.

Theorem 12a of docs/proofs/attention.md. `weights` is for scores that are all at
hand, `mean_error` where only their sizes are known, `leak` for what must not be read.
"""

from typing import NamedTuple

import numpy as np

from krohn.program.domains import BoolArray, FloatArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import (
    SUM,
    Format,
    Interval,
    Operand,
    bound_underflow,
    fits,
    gamma,
    lost,
)
from krohn.verify.checker.softmax_weights import (
    MOST_UNITS,
    exponentials,
    exponents,
    weight_error,
)

FAR_OFF = 0.125
"""Logarithms of weights that are further off are refused."""


def product(left: Operand, right: Operand, form: Format, what: str) -> Interval:
    """``left @ right`` as the format computes it, in any order (Lemma 5).

    A product by a power of two is exact, and so is a sum of one term.

    Args:
        left: ``(rows, n)``.
        right: ``(n, columns)``.
        form: The format.
        what: The name of a result.

    Raises:
        Refused: If one can overflow.
    """
    both = [Interval.of(x) for x in (left, right)]
    size = Interval.of(both[0].size) @ both[1].size
    fits(size, form, what, SUM)
    used = [(x.size > 0).astype(np.float64) for x in both]
    rough = [_rough(x).astype(np.float64) for x in both]
    terms = used[0] @ used[1]
    rounds = np.maximum(terms - 1, 0) + (rough[0] @ rough[1] > 0)
    off = gamma(rounds, form.sum_unit) * size + bound_underflow(terms)
    enclosure, value = (both[0] @ both[1]).wider(off), both[0].low @ both[1].low
    free = [(x.low != x.high).astype(np.float64) for x in both]
    known = free[0] @ used[1] + used[0] @ free[1] == 0
    normal = (terms == 0) | (np.abs(value) >= form.smallest)
    sure = known & (rounds == 0) & normal
    low, high = (np.where(sure, value, x) for x in (enclosure.low, enclosure.high))
    return Interval(low, high)


class Weights(NamedTuple):
    """The weights by which the values of a row are multiplied, in effect (Theorem 12a).

    What is below the normal range is `lost` besides.

    Attributes:
        share: ``(rows, keys)``: before sums and quotients are rounded; they add up to 1.
        rounded: ``(rows, keys)``: by how much that changes them, of themselves.
    """

    share: Interval
    rounded: Interval

    @property
    def whole(self) -> Interval:
        """``(rows, keys)``: with that."""
        return self.share.wider(self.share * self.rounded)

    def mean(self, values: Interval) -> Interval:
        """``(rows, v)``: of values ``(rows, keys, v)``, as it is computed.

        As shares add up to 1, what is common to all values is off by roundings alone.
        """
        ends = values.low.min(axis=-2), values.high.max(axis=-2)
        centre = ends[0] / 2 + ends[1] / 2
        share, rounded = (x.each(lambda y: y[..., None]) for x in self)
        apart = (share * (values - centre[..., None, :])).sum(axis=-2)
        off = (abs(share) * rounded * abs(values)).sum(axis=-2)
        mean: Interval = (apart + centre).wider(off)
        return mean


def weights(scores: Operand, seen: BoolArray, form: Format) -> Weights:
    """The weights of rows of scores.

    Args:
        scores: ``(rows, keys)``: as the format computes them.
        seen: ``(rows, keys)``: which positions a row sees, one at least.
        form: The format, not a narrow one.

    Raises:
        Refused: If a weight can be far off.
    """
    hidden = Interval.of(scores).each(lambda x: np.where(seen, x, -np.inf))
    rises, top = above(hidden), hidden.max(axis=1).each(lambda x: x[:, None])
    some = Interval.of(scores).each(lambda x: np.where(seen, x, top.low))
    middle = some.middle()[0]
    raw = (Interval.of(middle) - middle.max(axis=1, keepdims=True)).through(np.exp)
    raw = raw.each(lambda x: np.where(seen, x, 0.0))
    share = raw / raw.sum(axis=1).each(lambda x: x[:, None])
    off = weight_error(some, top, rises, form) + (some - middle).size
    demand(off.each(lambda x: x * seen) <= FAR_OFF, "weights can be far off")
    off, rescaled = off.through(np.expm1), gamma(rises, form.sum_unit)
    uneven = (share * off).sum(axis=1).each(lambda x: x[:, None])
    moved = share * (((1 - 2 * share) * off + uneven) / (1 - uneven))
    share = share.wider(moved)
    also = (share * rescaled).sum(axis=1).each(lambda x: x[:, None])
    rounded = rescaled + _sums(seen.sum(axis=1)[:, None], form)
    rounded = (rounded.through(np.expm1) + also) / (1 - also)
    return Weights(share, rounded)


def above(scores: Interval) -> FloatArray:
    """``(rows, keys)``: how many others of a row can be computed above each score."""
    count = scores.shape[1]
    both = np.hstack([scores.high, scores.low])
    order = np.argsort(both, axis=1, kind="stable")  # of equals the greatest come first
    places = np.empty(both.shape)
    np.put_along_axis(places, order, np.cumsum(order < count, axis=1), axis=1)
    return count - places[:, count:] - (scores.high > scores.low)


def _sums(count: Operand, form: Format) -> Interval:
    """γ of the sums of weights and of values, and of a quotient."""
    demand(Interval.of(count) * form.sum_unit <= MOST_UNITS, "too long")
    return gamma(2 * Interval.of(count) + 2, form.sum_unit)


def mean_error(
    form: Format,
    count: int,
    size: Operand,
    spread: Operand,
    largest: Operand,
    kinds: int | None = None,
    astray: Operand = 0.0,
) -> Interval:
    """How far a mean is off from that of the computed scores (Theorem 12a).

    Args:
        form: The format, not a narrow one.
        count: How many positions are seen at most.
        size: The largest score of those that count, in absolute value.
        spread: The largest value less the least.
        largest: The largest value, in absolute value.
        kinds: How many different scores can count; None if all may differ.
        astray: What those that do not count weigh, as `bound_leak` says.

    Raises:
        Refused: If weights can be far off.
    """
    rises, sizes = (count if kinds is None else kinds) - 1, 2 * Interval.of(size)
    usual = rises / 2 if kinds is None else float(rises)
    if rises:
        behind = Interval.of(float(count)).through(np.log)
        mean = exponentials(usual, form) + exponents(sizes, behind, form)
        most = exponentials(rises, form) + exponents(sizes, sizes, form)
    else:  # each is the maximum: exponents are 0, or all the same rounding
        mean = most = exponentials(0, form) + exponents(sizes / 4, 0.0, form)
    demand(most <= FAR_OFF, "weights can be far off")
    uneven = mean * most.through(np.exp)
    swing = bound_sway(2 * most, spread).minimum(uneven / (1 - uneven) * spread)
    rescaled = gamma(usual, form.sum_unit) * (2 * most + 2.0**-10).through(np.exp)
    sums = _sums(count, form) + 2 * rescaled
    wrong = 2 * Interval.of(astray) * (1 + sums)
    demand(wrong <= 0.5, "weights can be far off")
    moved = (sums.through(np.expm1) + 2 * wrong) / (1 - wrong) * largest
    return swing + moved + lost(count, largest)


def bound_leak(form: Format, count: int, size: Operand, gap: Operand) -> Interval:
    """The weight of positions that do not count, in units of the largest that does.

    Args:
        form: The format.
        count: How many positions are seen at most.
        size: The largest score, in absolute value.
        gap: How far below the largest what does not count is computed, at least.
    """
    return (count - 1) * (_apart(form, count, size) - gap).through(np.exp)


def leak(
    scores: Interval, right: Interval, wrong: BoolArray, count: int, form: Format
) -> float:
    """The leak of rows whose scores are at hand, and that each copy one position.

    Args:
        scores: ``(rows, keys)``: as the format computes them.
        right: ``(rows, 1)``: that of the right position.
        wrong: ``(rows, keys)``: the others that a row sees.
        count: How many positions are seen at most.
        form: The format.
    """
    behind = (scores - right).each(lambda x: np.where(wrong, x, -np.inf))
    size = np.maximum(scores.size.max(), right.size.max())
    others = behind.through(np.exp).each(lambda x: np.where(wrong, x, 0.0))
    far = _apart(form, count, size).through(np.exp)
    return (others.sum(axis=1).max() * far + bound_underflow(count)).most


def _apart(form: Format, count: int, size: Operand) -> Interval:
    """How far the ratio of two weights is off, its logarithm: one is the maximum's."""
    _sums(count, form)
    sizes = 2 * Interval.of(size)
    ends = exponents(2 * sizes, sizes, form)
    return ends + exponentials(count, form) + exponentials(0, form)


def bound_sway(apart: Operand, spread: Operand) -> Interval:
    """How far a mean moves at most if scores move apart by so much (Lemma 11a).

    Args:
        apart: The length of an interval that has all differences of scores.
        spread: The largest value less the least.
    """
    return (Interval.of(apart) / 4).through(np.tanh) * spread


def _rough(numbers: Interval) -> BoolArray:
    """Where a number is not 0 and no power of two, or is not known."""
    is_power = (numbers.low == numbers.high) & (np.abs(np.frexp(numbers.low)[0]) == 0.5)
    return np.asarray((numbers.size > 0) & ~is_power)
