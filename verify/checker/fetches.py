"""Heads that fetch: scores respect the order of positions that an operation declares.

Theorems R1, R2, R4 and R5 of docs/proofs/attention.md. `LookBack.candidates` is the
order; nothing here depends on which operation it is.
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from krohn.program.attention import Softmax, Sparse
from krohn.program.domains import (
    BoolArray,
    FloatArray,
    IntArray,
    distinct_values,
    joint,
)
from krohn.program.errors import demand
from krohn.program.operations.base import LookBack, Match
from krohn.program.statement import Channel
from krohn.verify.checker.affine_arithmetic import Noisy
from krohn.verify.checker.arithmetic import enclose_sum
from krohn.verify.checker.heads import Bounds, Heads, Look, hidden_positions
from krohn.verify.checker.scores import (
    CELLS,
    MOST,
    NEVER,
    ONE_KEY,
    Said,
    largest_error,
    scores_of,
    split_scores_by_flag,
    together,
    worst_leak,
    worst_rated_leak,
)

KINDS = frozenset({Softmax, Sparse})
MOST_ROWS = MOST // 16
"""Rows are listed before their scores are counted: some 400 MB. No proof rests on it."""
WALKED, MOST_NUMBERS, MOST_WAYS = 2**20, 2**24, 2**17
"""So many scores are looked at one by one; so many entries of queries are listed at once;
so many queries and ratings are looked at, some 10 s. No proof rests on any."""


class Rows(NamedTuple):
    """Queries and the positions that they look at, row by row.

    Attributes:
        t: ``(rows,)``: the position that looks, or any one if all look alike.
        end: ``(rows,)``: the last position before which the right one is looked for.
        asked: ``(rows,)`` for each channel that the operation asks with.
    """

    t: IntArray
    end: IntArray
    asked: Sequence[IntArray]

    def some(self, chosen: IntArray) -> "Rows":
        """Some of the rows."""
        return Rows(self.t[chosen], self.end[chosen], [x[chosen] for x in self.asked])


def noise(heads: Heads, channel: Channel, gain: float) -> tuple[FloatArray, Look]:
    """Theorem 12."""
    demand(gain == 1, f"the head of {channel.name!r} changes what it copies")
    return heads.bound_copies(channel, look)


def look(heads: Heads, channel: Channel) -> Bounds:
    """The worst bounds over all that can be flagged, asked or pointed at."""
    operation, positions = channel.operation, heads.stream.positions
    assert isinstance(operation, LookBack)
    asks = [heads.stream.channel(name) for name in operation.asks]
    keys, read = ONE_KEY, dict[str, IntArray]()
    if operation.compared_channel is not None:
        key = heads.stream.channel(operation.compared_channel)
        keys = Said(distinct_values(np.append(key.later, key.bos)), key.later, key.bos)
        many = len(keys.values) * positions.size
        demand(many <= MOST, "too many keys to check")
        read = {key.name: np.repeat(keys.values, len(positions))}
    rows = rows_of(heads, channel, asks)
    if operation.rated_channel is not None:
        return _by_ratings(heads, channel, rows, keys, read)
    k = heads.keys(channel, read, np.tile(np.arange(len(positions)), len(keys.values)))
    check_at_bos(heads, channel, asks, k)
    # Not every score is looked at on its own where there are many.
    each = len(rows.t) * len(k.value) <= WALKED or heads.block.attention != Softmax()
    way = _one_by_one if each else _by_nodes
    wanted = rows.asked[0] if isinstance(operation, Match) else np.ones_like(rows.t)
    worst = np.array([NEVER, 0.0, 0.0, 0.0])
    for value in distinct_values(wanted).tolist():
        some = rows.some(np.flatnonzero(wanted == value))
        worst = np.maximum(worst, way(heads, channel, some, keys, k, value))
    return worst[0], worst[1], worst[2], worst[3]


# ------------------------------------------------------------------- rows


def rows_of(heads: Heads, channel: Channel, asks: Sequence[Channel]) -> Rows:
    """All rows that there can be, but for those that another one stands for.

    Raises:
        Refused: If there are too many.
    """
    operation, positions = channel.operation, heads.stream.positions
    assert isinstance(operation, LookBack)
    last, used = len(positions) - 1, heads.query[channel.head].any(axis=1)
    features = positions[:, used]
    one = operation.grows and not isinstance(heads.block.attention, Sparse)
    each = np.arange(1, last + 1)
    if asks and all(c.values.given is not None for c in asks):
        t, end = each, each if operation.causal else np.full(last, last)
        demand(operation.causal or operation.grows, "a query moves with t")
        return Rows(t, end, [np.asarray(c.values_by_position)[t] for c in asks])
    if not operation.causal:
        demand(features == features[0], "a query moves with t")
    if one:
        place = np.unique(features, axis=0, return_inverse=True)[1].reshape(-1)
        each = last - np.unique(place[:0:-1], return_index=True)[1]
    # What is asked with can say anything together; one channel says one number.
    different = {c.name: c.later for c in asks}
    few = prod(map(len, different.values())) * len(each) <= MOST_ROWS
    demand(few, "a head has too many scores to check")
    answers = joint([*different.values(), np.zeros(1, np.int64)])
    answers_of = dict(
        zip(different, np.repeat(answers, len(each), axis=0).T, strict=False)
    )
    t = np.tile(each, len(answers))
    return Rows(t, t, [answers_of[c.name] for c in asks])


def check_at_bos(
    heads: Heads, channel: Channel, asks: Sequence[Channel], k: Noisy
) -> None:
    """BOS looks at itself: its scores must be numbers, hidden ones too (A5).

    Raises:
        Refused: If one can overflow.
    """
    read = {c.name: np.array([c.bos]) for c in asks}
    scores_of(heads.queries(channel, read, np.zeros(1, np.int64)), k)


def _locate_right(
    heads: Heads, channel: Channel, rows: Rows
) -> tuple[BoolArray, bool, BoolArray]:
    """Where the right position can be, whether BOS is it else, and what is hidden.

    Raises:
        Refused: If it can be where the head does not look.
    """
    operation, size = channel.operation, len(heads.stream.positions)
    assert isinstance(operation, LookBack)
    low, high, default = operation.candidates(rows.end, rows.asked)
    j = np.arange(size)
    inside = (low[:, None] <= j) & (j <= high[:, None])
    if (
        isinstance(heads.block.attention, Sparse)
        and operation.compared_channel
        and not default
    ):
        # Elsewhere one row may stand for others. The key of some candidate is right.
        near = heads.stream.program.near.get(channel.name, size)
        inside &= rows.end[:, None] - j <= near
    hidden = hidden_positions(heads.block.attention, rows.end, size)
    demand(~(inside & hidden), f"a head may not see {channel.name!r}")
    return inside, default, hidden


# ----------------------------------------------------------------- scores


def _by_nodes(
    heads: Heads, channel: Channel, rows: Rows, keys: Said, k: Noisy, value: int
) -> FloatArray:
    """The bounds of rows that want one value (Theorem R4)."""
    # No proof of fewer scores rests on it.
    from krohn.verify.checker.node_scores import Keys, Looking, bounds

    operation, many = channel.operation, len(rows.t) * k.value.shape[1]
    assert isinstance(operation, LookBack)
    demand(many <= MOST_NUMBERS, "a head has too many queries to check")
    q = heads.queries(
        channel, dict(zip(operation.asks, rows.asked, strict=True)), rows.t
    )
    if len(rows.t) * len(k.value) <= MOST and largest_error(q, k)[0] > 1:
        # Bounds of all scores are too rough where far ones are large.
        return _one_by_one(heads, channel, rows, keys, k, value)
    low, high, default = operation.candidates(rows.end, rows.asked)
    seen = (low > high) | (low >= 0) & (high <= rows.end)
    demand(seen, f"a head may not see {channel.name!r}")
    ways = default, operation.first, operation.compared_channel is None
    looking = Looking(low, high, rows.end, *ways)
    flags = Keys.of(k, keys)
    right = operation.suits(flags.value, value).astype(np.int64)
    return bounds(q, looking, flags._replace(value=right), 1)


def _one_by_one(
    heads: Heads, channel: Channel, rows: Rows, keys: Said, k: Noisy, value: int
) -> FloatArray:
    """The same, from all ways to set the keys, term by term (Theorems R1 and R2)."""
    operation, work = channel.operation, len(rows.t) * len(k.value)
    assert isinstance(operation, LookBack)
    demand(work <= MOST, "a head has too many scores to check")
    count, leaks = min(work // CELLS + 1, len(rows.t)), list[FloatArray]()
    for chosen in np.array_split(np.arange(len(rows.t)), count):
        part = rows.some(chosen)
        read = dict(zip(operation.asks, part.asked, strict=True))
        q = heads.queries(channel, read, part.t)
        inside, default, hidden = _locate_right(heads, channel, part)
        if operation.compared_channel is None and q.total.any() and not k.total.any():
            right = np.where(inside.any(axis=1), inside.argmax(axis=1), 0)
            leaks.append(against(q, k, right, hidden))
            if default:
                # In the rows that this one stands for there may be no candidate yet.
                leaks.append(against(q, k, np.zeros_like(right), hidden | inside))
            continue
        match = operation.suits(keys.values, value)
        right = inside | default & (np.arange(inside.shape[1]) == 0)
        scores = scores_of(q, k)
        on, off, *errors = split_scores_by_flag(scores, right, hidden, keys, match)
        leak = worst_leak(on, off, inside, default, operation.first)
        leaks.append(np.array([leak, *errors]))
    return np.asarray(np.max(leaks, axis=0))


def _by_ratings(
    heads: Heads, channel: Channel, rows: Rows, keys: Said, read: dict[str, IntArray]
) -> Bounds:
    """The bounds of a head that prefers high ratings: one after the other (Theorem R5)."""
    operation, j = channel.operation, np.arange(len(heads.stream.positions))
    assert isinstance(operation, LookBack)
    rating = heads.stream.channel(str(operation.rated_channel))
    demand(rating.name not in read, "a key is its own rating")
    work = len(rows.t) * len(keys.values) * len(j) * len(rating.later)
    demand(work <= MOST, "a head has too many scores to check")
    ways = len(distinct_values(rows.asked[0])) * len(rating.later)
    demand(ways <= MOST_WAYS, "a head has too many ratings to check")
    asked = dict(zip(operation.asks, rows.asked, strict=True))
    q, (wanted,) = heads.queries(channel, asked, rows.t), rows.asked
    inside, default, hidden = _locate_right(heads, channel, rows)
    right = inside | default & (j == 0)
    on, off, errors = list[FloatArray](), np.full(inside.shape, NEVER), np.zeros(3)
    for each in rating.later:
        said = np.tile(np.where(j > 0, each, rating.bos), len(keys.values))
        k = heads.keys(
            channel, {**read, rating.name: said}, np.tile(j, len(keys.values))
        )
        check_at_bos(heads, channel, [heads.stream.channel(n) for n in asked], k)
        scores, flagged = scores_of(q, k), np.full(inside.shape, NEVER)
        for value in distinct_values(wanted).tolist():
            at, match = wanted == value, operation.suits(keys.values, value)
            flagged[at], rest, *own = split_scores_by_flag(
                scores.some(at), right[at], hidden[at], keys, match
            )
            off[at], errors = np.maximum(off[at], rest), np.maximum(errors, own)
        on.append(flagged)
    # Each rating has errors of its own: all rivals are raised by the largest.
    leak = worst_rated_leak(on, off, inside, default, operation.first) + errors[0]
    return float(leak), float(errors[0]), float(errors[1]), float(errors[2])


def against(q: Noisy, k: Noisy, right: IntArray, hidden: BoolArray) -> FloatArray:
    """The leak, errors of a score with its exponent, and the largest score.

    The first error is what a score is off by but for what all of its row are, the second
    what it is off by in all. The noise of a query moves all scores of its row at once,
    each in proportion to its key, which is exact: against the right one a rival gains
    what noise makes of the difference of keys (Theorem R2).
    """
    apart = np.zeros((len(q.value), len(k.value)))
    for total, keys in zip(q.total.T, k.value.T, strict=True):
        apart += total[:, None] * np.abs(keys - keys[right][:, None])
    scores = q.value @ k.value.T + enclose_sum(apart, k.value.shape[1]).high
    rows = np.arange(len(scores))
    ahead = scores[rows, right]
    rivals = np.where(hidden, NEVER, scores)
    rivals[rows, right] = NEVER
    leak = np.logaddexp.reduce(rivals, axis=1) - ahead
    return np.array([leak.max(), *together(q, k)])
