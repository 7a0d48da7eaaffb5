"""Heads that are uniform on the positions whose key suits (docs/proofs/attention.md).

Theorem 13c.
"""

from collections.abc import Iterator

import numpy as np

from krohn.program.attention import Softmax
from krohn.program.domains import FloatArray, IntArray, distinct_values
from krohn.program.errors import demand
from krohn.program.operations.mean import Mean
from krohn.program.statement import Channel
from krohn.verify.checker.arithmetic import Interval, own_error
from krohn.verify.checker.fetches import MOST_WAYS, check_at_bos
from krohn.verify.checker.heads import Heads, Look
from krohn.verify.checker.residual_stream import per_value
from krohn.verify.checker.scores import MOST, scores_of
from krohn.verify.checker.sums import Keys, Means

KINDS = frozenset({Softmax})


def noise(heads: Heads, channel: Channel, gain: float) -> tuple[FloatArray, Look]:
    """The noise of each mean, and where its head looks."""
    operation, form = channel.operation, heads.stream.form
    assert isinstance(operation, Mean)
    source = heads.stream.channel(operation.source)
    demand(gain == 1 and source.integer, f"the head of {channel.name!r} takes no mean")
    eta, largest = heads.bound_carried_values(source).max(), int(max(source.domain))
    heads.check_sums(largest + eta)
    slope = rest = leak = widest = 0.0
    for kinds, count in _rows(heads, channel, operation):
        t = np.full(len(count), len(heads.stream.positions) - 1)
        means = Means.of(kinds, t, form)
        leaked = means.leaked(0) + means.leaked(2)
        off = leaked * largest + eta * (means.widest + leaked)
        rest = max(rest, (off + heads.below(largest + eta)).most)
        slope = max(slope, means.relative(count.astype(np.float64)).most)
        leak, widest = max(leak, leaked.most), max(widest, *(x.most for x in means.off))
    numbers = channel.code(channel.domain)[:, 0]
    off = numbers * Interval.of(slope) + own_error(1, numbers) + rest
    worst = heads.bound_write_error(channel, numbers, off.high)
    return per_value(channel, channel.domain, worst), Look(leak, 0.0, widest, widest)


def _rows(
    heads: Heads, channel: Channel, operation: Mean
) -> Iterator[tuple[list[Keys], IntArray]]:
    """BOS, what counts and what does not, and how many count, for all that is asked.

    Where nothing counts, BOS counts as one.

    Raises:
        Refused: If scores depend on more than whether a key suits.
    """
    key, query = (heads.stream.channel(n) for n in (operation.key, operation.query))
    size, values = (
        len(heads.stream.positions),
        distinct_values(np.append(key.later, key.bos)),
    )
    demand(len(values) * heads.stream.positions.size <= MOST, "too many keys to check")
    read = {key.name: np.repeat(values, size)}
    k = heads.keys(channel, read, np.tile(np.arange(size), len(values)))
    check_at_bos(heads, channel, [query], k)
    features = heads.stream.positions[:, heads.query[channel.head].any(axis=1)]
    demand(features == features[0], "a query moves with t")
    work = len(query.later) * len(k.value)
    few = work <= MOST and len(query.later) <= MOST_WAYS
    demand(few, "a head has too many scores to check")
    later, more = np.isin(values, key.later), heads.besides(channel)
    n, one = np.arange(1, size), np.ones(1, np.int64)
    for asked in query.later.tolist():
        q = heads.queries(channel, {query.name: np.array([asked])}, 0 * one)
        scores, match = scores_of(q, k), operation.suits(values, asked)
        both = np.stack([scores.true, scores.off]).reshape(2, len(values), size)
        bos = both[:, values == key.bos, 0]
        suits, others = (both[:, later & each, 1:] for each in (match, ~match))
        sink, rest = (
            _alike(bos, one, more),
            _alike(others, (size - 1) * one, more, True),
        )
        yield [_alike(bos, 0 * one, more), sink, rest], one
        if suits.size:
            counted, rest = (
                _alike(suits, n, more),
                _alike(others, size - 1 - n, more, True),
            )
            yield [_alike(bos, 0 * n + 1, more), counted, rest], n


def _alike(
    scores: FloatArray, many: IntArray, more: Interval, any_number: bool = False
) -> Keys:
    """Keys that have one score, none if there are no scores.

    Args:
        scores: ``(2, …)``: their scores, and how far these are off.
        many: ``(rows,)``: how many there are in each row.
        more: How far scores are off besides.
        any_number: Whether there may be fewer.

    Raises:
        Refused: If scores differ.
    """
    true, off = scores.reshape(2, -1)
    demand(true == true[:1], "a mean prefers some positions")
    score = np.full(len(many), true[0] if len(true) else 0.0)
    count = many if len(true) else 0 * many
    fewest = 0 * many if any_number else None
    return Keys(count, score, off.max(initial=0.0) + more, fewest)
