"""Heads that fetch, where not every score is looked at on its own.

Theorem R4 of docs/proofs/attention.md.
"""

from typing import NamedTuple

import numpy as np

from krohn.program.domains import (
    BoolArray,
    FloatArray,
    IntArray,
    distinct_values,
)
from krohn.program.errors import demand
from krohn.verify.checker.affine_arithmetic import Noisy, alike
from krohn.verify.checker.arithmetic import Interval, enclose_sum, own_error
from krohn.verify.checker.rotations import heaviest_by_distance
from krohn.verify.checker.score_tree import Asked, Asking, Rivals, some
from krohn.verify.checker.scores import (
    CELLS,
    MOST,
    NEVER,
    Said,
    earlier,
    largest_error,
    together,
)

FAINT = -700.0
"""The logarithm of a weight that stands for all that are less."""


class Keys(NamedTuple):
    """The keys of positions, with each value that the compared channel has there.

    Attributes:
        k: ``(keys, entries)``, one of them at BOS.
        place: ``(keys,)``: the position.
        value: ``(keys,)``: the value.
    """

    k: Noisy
    place: IntArray
    value: IntArray

    @staticmethod
    def of(k: Noisy, keys: Said) -> "Keys":
        """Those that there are of keys for one value after the other, at all positions."""
        size = len(k.value) // len(keys.values)
        place, value = np.tile(np.arange(size), len(keys.values)), keys.values
        value = np.repeat(value, size)
        later = np.isin(value, keys.later) & (place > 0)
        there = np.flatnonzero(later | (value == keys.bos) & (place == 0))
        if len(there) == len(place):
            return Keys(k, place, value)
        return Keys(k.rows(there), place[there], value[there])


class Looking(NamedTuple):
    """Where rows look.

    Attributes:
        low: ``(rows,)``: the first candidate.
        high: ``(rows,)``: the last one.
        end: ``(rows,)``: the last position that is seen.
        default: Whether BOS is right where no candidate is.
        first: Whether the first right candidate is looked for, not the last.
        one: Whether there is one candidate at most, which is right.
    """

    low: IntArray
    high: IntArray
    end: IntArray
    default: bool
    first: bool
    one: bool

    def some(self, chosen: IntArray) -> "Looking":
        """Some of the rows."""
        low, high, end = (x[chosen] for x in self[:3])
        return self._replace(low=low, high=high, end=end)


class Terms(NamedTuple):
    """Scores, but for what all scores of a row have in common.

    Attributes:
        moving: ``(rows, d)``: the entries of queries that are not the same in all rows.
        keys: ``(keys, d)``: those that they multiply; none is the same in all keys.
        fixed: ``(keys,)``: what the other entries score.
    """

    moving: FloatArray
    keys: FloatArray
    fixed: FloatArray

    @staticmethod
    def of(q: FloatArray, k: FloatArray) -> "Terms":
        """Of queries ``(rows, entries)`` and keys ``(keys, entries)``."""
        still = (q == q[0]).all(axis=0)
        moving = ~still & (k != k[0]).any(axis=0)
        return Terms(q[:, moving], k[:, moving], k[:, still] @ q[0, still])

    def at(self, key: IntArray) -> FloatArray:
        """``(rows,)``: the score of one key in each row."""
        own = np.einsum("rd,rd->r", self.moving, self.keys[key])
        return np.asarray(self.fixed[key] + own)


def bounds(q: Noisy, looking: Looking, keys: Keys, wanted: int) -> FloatArray:
    """The leak, errors of a score that can be right and of any, and the largest score.

    Args:
        q: ``(rows, entries)``: the queries of rows that want one value.
        looking: Where they look.
        keys: The keys.
        wanted: The value.

    Raises:
        Refused: If too many scores have to be looked at.
    """
    chosen = _longest(q, looking)
    if len(chosen) < len(q.value):
        q, looking = q.rows(chosen), looking.some(chosen)
    right = (keys.value == wanted) | (keys.place == 0)
    terms, off = Terms.of(q.value, keys.k.value), np.zeros((len(chosen), 0))
    if looking.one and q.total.any() and not keys.k.total.any():
        off, (error, widest, size) = q.total, together(q, keys.k)
    else:
        error, _ = largest_error(q, keys.k.rows(np.flatnonzero(right)))
        widest, size = largest_error(q, keys.k)
        # What cannot be right may be off by more than what can: it is raised by that.
        terms.fixed[~right] += max(widest - error, 0.0)
    # Errors of scores raise what rivals weigh: also with them it may be a rounding.
    light = q.form.sum_unit * float(np.exp(-2 * error))
    leak = _leak(terms, looking, off, keys, right, size + widest, light)
    return np.array([leak, error, widest, size])


def _leak(
    terms: Terms,
    looking: Looking,
    off: FloatArray,
    keys: Keys,
    right: BoolArray,
    size: float,
    light: float,
) -> float:
    """The worst ratio of all other weights to the right one (Theorem R4): its log.

    Args:
        terms: The scores.
        looking: Where rows look.
        off: ``(rows, entries)``: how far entries of queries are off (Theorem R2); without
            columns where errors of scores have that.
        keys: The keys.
        right: ``(keys,)``: which can be right; that of BOS among them.
        size: At least the sum of the absolute values of the terms of any score.
        light: What all rivals of a row that are not looked at may weigh together.
    """
    k, bos, rest = keys.k.value, *map(np.flatnonzero, (keys.place == 0, keys.place > 0))
    later = rest[right[rest]]
    on = np.concatenate([bos, later[np.argsort(keys.place[later])]])
    if len(on) == 1:  # only BOS can be right
        none = np.where(looking.low == 0, 0, looking.low - 1)
        looking = looking._replace(high=np.minimum(none, looking.high))
    there = looking.low <= looking.high
    first, before = compare_candidates(terms, on, looking)
    sink = terms.at(np.broadcast_to(bos, there.shape))
    floor = np.minimum(first, sink) if looking.default else first
    demand(floor < np.inf, "a head looks for nothing")
    by_distance = right.all() and not looking.default
    found = (
        _by_distance(terms, looking, off, keys, floor, size) if by_distance else None
    )
    if found is None or not found[0] <= light:
        ways, whole = np.zeros((len(off), 0, 0)), np.zeros((len(k), 0))
        if off.size:
            ways, whole = k[on[np.where(there, looking.low, 0)]][:, None], k
            if looking.default:
                ways = np.hstack([ways, np.broadcast_to(k[bos], ways.shape)])
        seen = looking.end, looking.low, looking.high
        asking = Asking(terms.moving, floor, floor, *seen, off, ways)
        key_parts = terms.fixed, terms.fixed, keys.place, right.astype(np.int64), whole
        asked = some(Asked(terms.keys, *key_parts), rest)
        rivals = Rivals.of(asking, asked, light, size)
        found = rivals.heaviest(), rivals.rounded
    heaviest, rounded = found
    ahead = np.where(there & (looking.low > 0), sink - first, NEVER)
    if off.size:
        at = on[np.where(there, looking.low, 0)]
        ahead += (off * np.abs(k[at] - k[bos])).sum(axis=1)
    parts = Interval.of(np.maximum([ahead.max(), before], FAINT))
    weight = (parts + 4 * rounded).through(np.exp).sum()
    weight += enclose_sum(heaviest, 2 * len(k))
    return weight.through(np.log).most if weight.most < np.inf else np.inf


def _by_distance(
    terms: Terms,
    looking: Looking,
    off: FloatArray,
    keys: Keys,
    floor: FloatArray,
    size: float,
) -> tuple[float, float] | None:
    """What rivals weigh where each row asks for a position as far back (Theorem R6).

    Returns:
        That, and how far a score is off as it is computed here; None if rows do not ask
        so, or scores are not known by distances.
    """
    length, (low, end) = len(keys.place) - 1, (looking.low, looking.end)
    back = int((end - low).max())
    alike = np.array_equal(low, np.maximum(end - back, 0))
    each = np.array_equal(keys.place, np.arange(length + 1))
    if not (alike and each and np.array_equal(low, looking.high)):
        return None
    far = 2 * np.abs(keys.k.value).max(axis=0)
    gained = 0.0
    if off.size:
        gained = enclose_sum(float(off.max(axis=0) @ far), off.shape[1]).most
    rounded = own_error(4 * (terms.keys.shape[1] + len(far) + 17), size + gained).most
    ahead = terms.fixed[1:].max() - floor + (gained + 4 * rounded)
    arguments = terms.moving, terms.keys[1:], end - back, ahead, size
    heaviest = heaviest_by_distance(*arguments)
    return None if heaviest is None else (heaviest, rounded)


def compare_candidates(
    terms: Terms, on: IntArray, looking: Looking
) -> tuple[FloatArray, float]:
    """The least score of candidates, and the largest weight of all before a right one.

    Args:
        terms: The scores.
        on: ``(positions,)``: the key of each position that can be right.
        looking: Where rows look.

    Returns:
        ``(rows,)``, ∞ where there is no candidate. And the logarithm of what all before a
        right candidate weigh (behind it, if the first one is looked for), in its units.

    Raises:
        Refused: If there are too many.
    """
    length = np.maximum(looking.high - looking.low + 1, 0)
    least, some = np.full(len(length), np.inf), np.flatnonzero(length)
    if length.max() <= 1:
        least[some] = terms.at(on[np.where(length > 0, looking.low, 0)])[some]
        return least, NEVER
    keys, low, length = terms.keys[on], looking.low[some], length[some]
    varies = (keys != keys[0]).any(axis=0)
    moving, keys = terms.moving[some], keys
    common = moving[:, ~varies] @ keys[0, ~varies]
    moving, keys, fixed = moving[:, varies], keys[:, varies], terms.fixed[on]
    first, of = _classes(np.column_stack([moving, low]))
    longest, before = np.zeros(len(first), np.int64), NEVER
    np.maximum.at(longest, of, length)
    demand(longest.sum() * (1 + varies.sum()) <= MOST, "too many candidates to check")
    for chosen in _parts(longest, 1 + int(varies.sum())):
        n, row = longest[chosen[0]], first[chosen]
        at = low[row][:, None] + np.arange(n)
        scores = fixed[at] + np.einsum("cd,cnd->cn", moving[row], keys[at])
        ordered = scores[:, ::-1] if looking.first else scores
        before = max(before, float((earlier(ordered) - ordered).max()))
        place = np.full(len(first), -1)
        place[chosen] = np.arange(len(chosen))
        own = np.flatnonzero(place[of] >= 0)
        lowest = np.minimum.accumulate(scores, axis=1)
        least[some[own]] = common[own] + lowest[place[of[own]], length[own] - 1]
    return least, before


def _parts(length: IntArray, width: int) -> list[IntArray]:
    """Numbers of classes, those of one length together, but not too many at once."""
    parts = []
    for n in distinct_values(length).tolist():
        alike = np.flatnonzero(length == n)
        parts += np.array_split(alike, len(alike) * n * width // CELLS + 1)
    return [part for part in parts if len(part)]


def _classes(rows: FloatArray) -> tuple[IntArray, IntArray]:
    """The first of equal rows, and the class of each row."""
    first, of = alike(rows)
    if len(first) == len(rows) or np.array_equal(rows[first][of], rows):
        return first, of
    _, first, of = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, of.reshape(-1)


def _longest(q: Noisy, looking: Looking) -> IntArray:
    """Of rows that ask the same, with the same candidates, the one that sees most."""
    parts = [q.value, q.total, looking.low[:, None], looking.high[:, None]]
    marks = sum(
        part @ np.cos(np.arange(part.shape[1]) + i) for i, part in enumerate(parts)
    )
    if len(np.unique(marks)) == len(q.value):  # rows with different marks are different
        return np.arange(len(q.value))
    first, of = _classes(np.hstack(parts))
    order, last = np.argsort(looking.end, kind="stable"), np.zeros(len(first), np.int64)
    last[of[order]] = order
    return last
