"""Scores, and what weight rivals can have (docs/proofs/attention.md)."""

from typing import NamedTuple

import numpy as np

from krohn.program.domains import BoolArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.affine_arithmetic import FINEST, Noisy, finest
from krohn.verify.checker.arithmetic import (
    FARTHEST_EXPONENT,
    SUM,
    Format,
    Interval,
    Operand,
    enclose_sum,
    fits,
    own_error,
    store_error,
    sum_error,
)
from krohn.verify.checker.model_file import FloatArray

CELLS = 2_000_000
MOST = 2**28
"""Scores of one head that are looked at one by one: about a minute."""
NEVER = -np.inf


class Said(NamedTuple):
    """Values of the compared channel at the positions where a head looks.

    Attributes:
        values: ``(values,)``: all its values.
        later: Those that it has after BOS.
        bos: The one at BOS, where it counts as flagged.
    """

    values: IntArray
    later: IntArray
    bos: int


ONE_KEY = Said(np.ones(1, np.int64), np.ones(1, np.int64), 1)
"""Stands for the values of a channel where none is compared."""


class Scores(NamedTuple):
    """Scores of some queries and keys.

    Attributes:
        true: ``(queries, keys)``.
        off: ``(queries, keys)``: how far each can be off as it is computed.
        size: The largest, with its error.
        exponent: How far exponents can be off besides, in units of the larger of a score
            and the right one.
    """

    true: FloatArray
    off: FloatArray
    size: float
    exponent: float

    @property
    def sizes(self) -> FloatArray:
        """``(queries, keys)``: the largest absolute value that each can have."""
        return np.abs(self.true) + self.off

    def some(self, chosen: BoolArray) -> "Scores":
        """Those of some queries."""
        return self._replace(true=self.true[chosen], off=self.off[chosen])


def check_scores(size: Operand, form: Format) -> None:
    """Refuse scores up to a size that overflow, or whose weights may be 0 or ∞ (A7)."""
    fits(size, form, "a score", SUM)
    off = 2 * form.sum_unit * Interval.of(size)
    demand(off <= FARTHEST_EXPONENT, "the exponent of a score can be far off")


def scores_of(q: Noisy, k: Noisy) -> Scores:
    """All scores, and what they can be off by (section 4.2)."""
    form, size_k = q.form, np.abs(k.value) + k.total
    terms = size_k.shape[1]
    size = enclose_sum((size_k @ (np.abs(q.value) + q.total).T).max(), terms)
    check_scores(size, form)
    if q.total.any():
        scores = k.value @ q.value.T
        inherited = k.total @ np.abs(q.value).T + size_k @ q.total.T
        error = enclose_sum(inherited.max(), 2 * terms)
        error += 2 * sum_error(form, terms + 1, size)
        error += store_error(form, np.abs(scores).max() + error)
        errors = np.full(scores.shape, error.most)
    else:
        # Kernels may store scores, or not.
        grid = _grid(q.value) + _grid(k.value) - finest(q.value)
        sums = k.products(q.value.T, grid=grid).whole(np.zeros(len(q.value)))
        scores = sums.value
        errors = np.maximum(sums.total, sums.store_rounded().total)
    largest = float(np.abs(scores).max() + errors.max())
    return Scores(scores.T, errors.T, largest, 8 * form.sum_unit)


def largest_error(q: Noisy, k: Noisy) -> tuple[float, float]:
    """The largest error of `scores_of`, and the largest score, from entries alone.

    No entry of a query is larger than the largest. The absolute values of the terms of a
    score add up to the product of two lengths at most (Cauchy-Schwarz).
    """
    form, entries = q.form, k.value.shape[1]
    ends = [np.abs(x.value) + x.total for x in (q, k)]
    lengths = [enclose_sum(_sum_squares(x), entries).root() for x in ends]
    (most_q, off_q), (most_k, off_k) = (
        (x.max(axis=0), y.total.max(axis=0)) for x, y in zip(ends, (q, k), strict=True)
    )
    size = (
        enclose_sum(ends[1] @ most_q, entries)
        .minimum(lengths[0].max() * lengths[1])
        .max()
    )
    check_scores(size, form)
    error = enclose_sum(most_q @ off_k + most_k @ off_q, 2 * entries)
    exact, digits = not (off_q.any() or off_k.any()), _grid(q.value) + _grid(k.value)
    grid = digits if exact and digits <= FINEST else np.inf
    if off_q.any():
        error += 2 * sum_error(form, entries + 1, size)
    elif size.most * 2.0**grid >= 1 / form.sum_unit:
        error += sum_error(form, entries + 1, size) + own_error(entries + 1, size)
    if off_q.any() or (form.narrow and size.most * 2.0**grid >= 1 / form.unit):
        error += store_error(form, size + error)
    error += 8 * form.sum_unit * (size + error)
    return error.most, size.most


def _sum_squares(rows: FloatArray) -> FloatArray:
    """``(rows,)``, some rows at a time."""
    parts = np.array_split(rows, rows.size // CELLS + 1)
    return np.concatenate([(part**2).sum(axis=1) for part in parts])


def _grid(numbers: FloatArray) -> int:
    """The least g with all numbers multiples of 2^-g, which may be above 1.

    If there is none, a number that is far beyond 32 with that of other numbers added, too.
    """
    grid = finest(numbers)
    if grid == 0:
        return finest(numbers * 2.0**-FINEST) - FINEST
    return grid if grid <= FINEST else 4 * FINEST


def together(q: Noisy, k: Noisy) -> tuple[float, float, float]:
    """Errors of scores of queries with noise and keys without, by rows (Theorem R2).

    Returns:
        What a score is off by but for what noise moves all scores of its row by, what it
        is off by in all, and the largest score.
    """
    form, entries = q.form, k.value.shape[1]
    size = np.abs(k.value) @ (np.abs(q.value) + q.total).max(axis=0)
    most = enclose_sum(size.max(), entries)
    check_scores(most, form)
    off = 2 * sum_error(form, entries + 1, most) + 8 * form.sum_unit * most
    off += store_error(form, most + off) if form.narrow else 0.0
    moved = np.abs(k.value) @ q.total.max(axis=0)
    return off.most, (off + enclose_sum(moved.max(), entries)).most, most.most


def split_scores_by_flag(
    scores: Scores, right: BoolArray, hidden: BoolArray, keys: Said, match: BoolArray
) -> tuple[FloatArray, FloatArray, float, float, float]:
    """Scores of positions that are flagged and of others, and bounds of their errors.

    Args:
        scores: Those of all positions for one value of the key after the other.
        right: ``(rows, T + 1)``: which positions can be right, if they are flagged.
        hidden: ``(rows, T + 1)``: what the positions that look do not see.
        keys: What keys say.
        match: ``(values,)``: which of it they say if they are flagged.

    Returns:
        Twice ``(rows, T + 1)``, −∞ where a position cannot be so or is hidden; what
        cannot be right is raised by what its error is above that of what can. Then the
        error of what can be right, of any score, and the largest score.
    """
    occurs, at_bos = np.isin(keys.values, keys.later), keys.values == keys.bos
    shape, flagged = (len(hidden), len(match), -1), occurs & match
    true, size = scores.true.reshape(shape), scores.sizes.reshape(shape)
    can = (right & ~hidden)[:, None] & flagged[:, None]
    can[..., 0] = (right & ~hidden)[:, :1] & at_bos
    top = size[can].max(initial=0)
    error = scores.off.reshape(shape) + scores.exponent * np.maximum(size, top)
    least = float(error[can].max(initial=0))
    raised, suits = true + np.maximum(error - least, 0), true[:, flagged, 1:]
    demand(suits == suits[:, :1], "keys that suit score unlike")
    on = raised[:, flagged].max(axis=1, initial=NEVER)
    off = raised[:, occurs & ~match].max(axis=1, initial=NEVER)
    on[:, 0], off[:, 0] = raised[:, at_bos, 0][:, 0], NEVER
    on[hidden] = off[hidden] = NEVER
    return on, off, least, float(error.max()), scores.size


def worst_rated_leak(
    on: list[FloatArray], off: FloatArray, inside: BoolArray, default: bool, first: bool
) -> float:
    """The worst leak where of what is flagged the highest rating is right (Theorem R5).

    Args:
        on: The score of each position if it is flagged, for each rating, ascending.
        off: That if it is not.
        inside: As for `worst_leak`, which is asked for each rating.
        default: The same.
        first: The same.
    """
    leaks = list[float]()
    for flagged in on:
        leaks.append(worst_leak(flagged, off, inside, default, first))
        # Beside a higher rating it counts as not flagged, and something is flagged.
        default, off = False, np.maximum(off, flagged)
        off[:, 0] = NEVER
    return max(leaks)


def worst_leak(
    on: FloatArray,
    off: FloatArray,
    inside: BoolArray,
    default: bool,
    first: bool = False,
) -> float:
    """The worst ratio of all other weights to the right one, over all flaggings: its log.

    Args:
        on: ``(rows, T + 1)``: the score of each position if it is flagged.
        off: The same if it is not.
        inside: Where the last flagged position is the right one.
        default: Whether BOS is right where none is flagged inside.
        first: Whether the first flagged position inside is the right one instead.
    """
    either = np.maximum(on, off)
    outside = np.logaddexp.reduce(np.where(inside, NEVER, either), axis=1)[:, None]
    rivals = outside
    if inside.sum(axis=1).max() > 1:
        past, later = (off, either) if first else (either, off)
        before = earlier(np.where(inside, past, NEVER))
        after = earlier(np.where(inside, later, NEVER)[:, ::-1])[:, ::-1]
        rivals = np.logaddexp(outside, np.logaddexp(before, after))
    right = inside & (on != NEVER)
    leak = np.where(right, rivals - np.where(right, on, 0), NEVER).max()
    if default:
        left = np.where(inside, off, either)[:, 1:]
        none = (np.logaddexp.reduce(left, axis=1) - on[:, 0]).max()
        leak = np.maximum(leak, none)
    return float(leak)


def earlier(scores: FloatArray) -> FloatArray:
    """For each place the logarithm of the sum of the exponentials before it."""
    total = np.logaddexp.accumulate(scores, axis=1)
    return np.hstack([np.full((len(scores), 1), NEVER), total[:, :-1]])
