"""Heads that fetch: scores respect the order of positions that an operation declares.

Theorems R1, R2 and 12b of docs/soundness.md, section 4.4. `LookBack.candidates` is the
order; nothing here depends on which operation it is, but for Theorem 12b.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from krohn.program.domains import BoolArray, FloatArray, IntArray
from krohn.program.errors import demand
from krohn.program.operations.base import LookBack, Match
from krohn.program.operations.latest import Latest
from krohn.program.statement import Channel
from krohn.verify.checker.affine_arithmetic import FINEST, Noisy, finest, rounding
from krohn.verify.checker.arithmetic import SUM, Interval, fits, store_error, summed
from krohn.verify.checker.attention_kinds import SOFTMAX, SPARSE
from krohn.verify.checker.heads import Bounds, Heads, Look
from krohn.verify.checker.scores import (
    CELLS,
    MOST,
    NEVER,
    earlier,
    flagged,
    scores_of,
    worst_leak,
)

KINDS = frozenset({SOFTMAX, SPARSE})
MOST_ROWS = MOST // 16
"""Rows are listed before their scores are counted: some 400 MB. No proof rests on it."""


class Rows(NamedTuple):
    """What looks where, row by row.

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
    return heads.copied(channel, look)


def look(heads: Heads, channel: Channel) -> Bounds:
    """The worst bounds over all that can be flagged, asked or pointed at."""
    operation = channel.operation
    assert isinstance(operation, LookBack)
    asks = [heads.stream.channel(name) for name in operation.asks]
    if operation.compared is None:
        return _one(heads, channel, asks)
    return _flagged(heads, channel, asks)


# ------------------------------------------------------------------- rows


def rows_of(heads: Heads, channel: Channel, asks: Sequence[Channel]) -> Rows:
    """All rows that there can be, but for those that another one stands for.

    Raises:
        Refused: If there are too many.
    """
    operation, positions = channel.operation, heads.stream.positions
    assert isinstance(operation, LookBack)
    last, used = len(positions) - 1, heads.query[channel.head].any(axis=1)
    place = np.unique(positions[:, used], axis=0, return_inverse=True)[1].reshape(-1)
    one = operation.grows and heads.kind.name != SPARSE
    each = np.arange(1, last + 1)
    if asks and all(c.values.given is not None for c in asks):
        t, end = each, each if operation.causal else np.full(last, last)
        demand(operation.causal or operation.grows, "a query moves with t")
        return Rows(t, end, [np.asarray(c.given)[t] for c in asks])
    if not operation.causal:
        demand(place == place[0], "a query moves with t")
    if one:
        each = last - np.unique(place[:0:-1], return_index=True)[1]
    told = _joint(asks, len(each))
    t = np.tile(each, len(told))
    return Rows(t, t, list(np.repeat(told, len(each), axis=0).T))


def _joint(asks: Sequence[Channel], rows: int) -> IntArray:
    """``(tuples, channels)``: what they can say together; one channel says one number."""
    different = {c.name: c for c in asks}
    sizes = [len(c.later) for c in different.values()]
    few = np.prod(sizes, dtype=float) * rows <= MOST_ROWS
    demand(few, "a head has too many scores to check")
    tuples = list(product(*(c.later.tolist() for c in different.values())))
    found = np.array(tuples, np.int64).reshape(len(tuples), len(different))
    names = list(different)
    return found[:, [names.index(c.name) for c in asks]]


def _of_bos(heads: Heads, channel: Channel, asks: Sequence[Channel], k: Noisy) -> None:
    """BOS looks at itself: its scores must be numbers, hidden ones too (A5).

    Raises:
        Refused: If one can overflow.
    """
    read = {c.name: np.array([c.bos]) for c in asks}
    scores_of(heads.queries(channel, read, np.zeros(1, np.int64)), k)


def _parts(rows: Rows, keys: int) -> Iterator[Rows]:
    work = len(rows.t) * keys
    demand(work <= MOST, "a head has too many scores to check")
    count = min(work // CELLS + 1, len(rows.t))
    for chosen in np.array_split(np.arange(len(rows.t)), count):
        yield rows.some(chosen)


def _seen(
    heads: Heads, channel: Channel, rows: Rows
) -> tuple[BoolArray, bool, BoolArray]:
    """Where the right position can be, whether BOS is it else, and what is hidden.

    Raises:
        Refused: If it can be where the head does not look.
    """
    operation, size = channel.operation, len(heads.stream.positions)
    assert isinstance(operation, LookBack)
    inside, default = operation.candidates(rows.end, size, rows.asked)
    if heads.kind.name == SPARSE and operation.compared and not default:
        # Elsewhere one row may stand for others. The key of some candidate is right.
        near = heads.stream.program.near.get(channel.name, size)
        inside &= rows.end[:, None] - np.arange(size) <= near
    hidden = heads.kind.hidden(rows.end, size)
    demand(~(inside & hidden), f"a head may not see {channel.name!r}")
    return inside, default, hidden


# --------------------------------------------------------- one position is right


def _one(heads: Heads, channel: Channel, asks: Sequence[Channel]) -> Bounds:
    """Of an operation without a key: what is asked says which position is right."""
    operation = channel.operation
    assert isinstance(operation, LookBack)
    k = heads.keys(channel, {}, np.arange(len(heads.stream.positions)))
    rows = rows_of(heads, channel, asks)
    _of_bos(heads, channel, asks, k)
    worst = np.array([NEVER, 0.0, 0.0, 0.0])
    for part in _parts(rows, len(k.value)):
        read = dict(zip(operation.asks, part.asked, strict=True))
        q = heads.queries(channel, read, part.t)
        inside, default, hidden = _seen(heads, channel, part)
        right = np.where(inside.any(axis=1), inside.argmax(axis=1), 0)
        worst = np.maximum(worst, against(q, k, right, hidden))
        if default:
            # In the rows that this one stands for there may be no candidate yet.
            none = np.zeros_like(right)
            worst = np.maximum(worst, against(q, k, none, hidden | inside))
    return worst[0], worst[1], worst[2], worst[3]


def against(q: Noisy, k: Noisy, right: IntArray, hidden: BoolArray) -> FloatArray:
    """The leak, errors of a score with its exponent, and the largest score.

    The first error is what a score is off by but for what all of its row are, the second
    what it is off by in all. The noise of a query moves all scores of its row at once,
    each in proportion to its key: against the right one a rival gains what noise makes of
    the difference of keys (Theorem R2). That is used where keys are exact.
    """
    if not q.total.any() or k.total.any():
        found = scores_of(q, k)
        scores, error, largest = found.true, float(found.error.max()), found.size
        widest = error
    else:
        form = q.form
        size = np.abs(k.value) @ (np.abs(q.value) + q.total).max(axis=0)
        most = summed(size.max(), k.value.shape[1])
        fits(most, form, "a score", SUM)
        apart = np.zeros((len(q.value), len(k.value)))
        for total, keys in zip(q.total.T, k.value.T, strict=True):
            apart += total[:, None] * np.abs(keys - keys[right][:, None])
        scores = q.value @ k.value.T + summed(apart, k.value.shape[1]).high
        off = (2 * (k.value.shape[1] + 1) + 8) * form.sum_unit * most
        off += store_error(form, most + off) if form.narrow else 0.0
        moved = (q.total @ np.abs(k.value).T).max()
        error, largest = off.most, most.most
        widest = (off + summed(moved, k.value.shape[1])).most
    rows = np.arange(len(scores))
    ahead = scores[rows, right]
    rivals = np.where(hidden, NEVER, scores)
    rivals[rows, right] = NEVER
    leak = np.logaddexp.reduce(rivals, axis=1) - ahead
    return np.array([leak.max(), error, widest, largest])


# ------------------------------------------------------------- keys that are right


def _flagged(heads: Heads, channel: Channel, asks: Sequence[Channel]) -> Bounds:
    """Of an operation with a key: all ways to set it are covered term by term (R1)."""
    operation = channel.operation
    assert isinstance(operation, LookBack)
    assert operation.compared is not None
    key, size = heads.stream.channel(operation.compared), len(heads.stream.positions)
    said = np.union1d(key.later, key.bos)
    demand(len(said) * heads.stream.positions.size <= MOST, "too many keys to check")
    every = np.tile(np.arange(size), len(said))
    k = heads.keys(channel, {key.name: np.repeat(said, size)}, every)
    _of_bos(heads, channel, asks, k)
    rows = rows_of(heads, channel, asks)
    far = len(rows.t) * len(k.value) > MOST and isinstance(operation, Latest)
    if far and len(said) == 2 and heads.kind.name == SOFTMAX:
        return look_far(heads.queries(channel, {}, np.arange(size)), k)
    worst = np.array([NEVER, 0.0, 0.0, 0.0])
    wanted = rows.asked[0] if isinstance(operation, Match) else np.ones_like(rows.t)
    occurs, at_bos = np.isin(said, key.later), said == key.bos
    demand(len(rows.t) * len(k.value) <= MOST, "a head has too many scores to check")
    for value in np.unique(wanted):
        for part in _parts(rows.some(np.flatnonzero(wanted == value)), len(k.value)):
            read = {c.name: x for c, x in zip(asks, part.asked, strict=True)}
            found = scores_of(heads.queries(channel, read, part.t), k)
            inside, default, hidden = _seen(heads, channel, part)
            on, off, *bounds = flagged(found, hidden, occurs, said == value, at_bos)
            leak = worst_leak(on, off, inside, default, operation.first)
            worst = np.maximum(worst, [leak, *bounds])
    return worst[0], worst[1], worst[2], worst[3]


def look_far(q: Noisy, k: Noisy) -> Bounds:
    """Of a latest flag, if only the worth of a flag moves with the query (Theorem 12b).

    Args:
        q: ``(T + 1, k)``: the queries.
        k: ``(2 · (T + 1), k)``: the keys, of unflagged positions first.
    """
    (u, f), moving = np.split(k.value, 2), (q.value != q.value[0]).any(axis=0)
    demand(not q.total.any(), "a query is not exact")
    even = not u[:, moving].any() and (f[:, moving] == f[0, moving]).all()
    demand(even, "a head has too many scores to check")
    plain, flag = (x[:, ~moving] @ q.value[0, ~moving] for x in (u, f))
    bonus = q.value[:, moving] @ f[0, moving]
    plain[0] = NEVER
    before = earlier(np.maximum(plain - bonus.min(), flag)[None])[0] - flag
    behind = np.logaddexp.accumulate(plain) - bonus - np.minimum.accumulate(flag)
    sums = k.widest().products(np.abs(q.value).max(axis=0)[:, None])
    # Multiples of a power of two above 1 may fit where as whole numbers they do not.
    grids = [finest(x.value * 2.0**-FINEST) - FINEST for x in (q, k)]
    grid = sum(grids) if max(grids) <= 0 else FINEST + 1
    off = rounding(q.form, sums.terms + 1, sums.size, sums.known, grid)
    size = float(sums.size.max())
    fits(size, q.form, "a score", SUM)
    error = Interval.of(sums.rest.max()) + float(off.max())
    error += q.form.unit * size if q.form.narrow else 0.0
    error += 8 * q.form.sum_unit * size
    leak = float(np.logaddexp(before.max(), behind.max()))
    return leak, error.most, error.most, size
