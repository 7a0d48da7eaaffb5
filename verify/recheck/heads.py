"""Attention: where each head looks, and what its channels hold (docs/recheck.md, 4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from program.domains import BoolArray, IntArray
from program.errors import demand
from program.statement import Channel
from verify.recheck.bounds import (
    FINEST,
    INFLATION,
    OWN_UNIT,
    Noisy,
    finest,
    rounding,
    snaps,
)
from verify.recheck.model import LARGEST_FLOAT32, FloatArray, Format
from verify.recheck.stream import FEATURE, FREE, Stream, per_value

CELLS = 2_000_000
MOST = 2**28  # scores: about a minute for one head
NEVER = -np.inf
# Exponentials in 16-bit formats, also next to 0, and how often they may rescale (A6, A8).
COARSE, AT_ZERO, NEAR, STRETCH = 2.0**-12, 2.0**-14, 2.0**-10, 16
SUMS = ("prefix-sum", "marked-sum")
FLAGGED = ("latest", "sibling-latest", "earliest")
ATTENTION = ("shift", *FLAGGED, "latest-match", "at", *SUMS)


@dataclass(frozen=True)
class Look:
    """Where a head looks.

    Attributes:
        leak: Bound of the weight on wrong positions, in units of the right one.
        gap: How far the right score is above the logarithm of the summed exponentials
            of all others, at least, without errors; 0 for heads that add up.
        error: Bound of the error of a score with that of its exponent.
    """

    leak: float
    gap: float
    error: float


@dataclass(frozen=True)
class Heads:
    """The heads of a block: their matrices, and what is known of the stream before."""

    stream: Stream
    query: FloatArray
    key: FloatArray
    value: FloatArray
    out: FloatArray
    looks: dict[Any, Any]

    def copies(self, channels: Sequence[Channel]) -> None:
        """The heads write the given channels' sources to them, and nothing else."""
        expected = set[tuple[int | None, int, int]]()
        for channel in channels:
            source = self.stream.channel(channel.inputs[0])
            alike = source.one_hot == channel.one_hot
            demand(alike and len(source.span) == len(channel.span), "unlike codes")
            demand(channel.head in range(len(self.out)), f"{channel.name!r}: no head")
            demand(self.stream.owner[channel.span] == FREE, "a head overwrites a value")
            both = zip(source.span, channel.span, strict=True)
            expected |= {(channel.head, *pair) for pair in both}
        serving = len({head for head, _, _ in expected}) == len(self.out)
        demand(serving, "a head serves no channel")
        single = (self.value != 0).sum(axis=1) <= 1
        demand(single & np.isin(self.value, (0, 1)).all(axis=1), "values are no copies")
        demand(self.value.any(axis=1) == self.out.any(axis=2), "a value goes nowhere")
        demand((self.out != 0).sum(axis=(0, 1)) <= 1, "heads write to one dimension")
        head, column, written = self.out.nonzero()
        read = (self.value != 0).argmax(axis=1)[head, column]
        found = set(zip(*(x.tolist() for x in (head, read, written)), strict=True))
        demand(found == expected, "the heads of a block copy something else")

    def noise(self, channel: Channel) -> tuple[FloatArray, Look]:
        """``(values,)``: the noise of each value of a channel; and where its head looks."""
        demand(channel.op in ATTENTION, f"no head computes {channel.name!r}")
        gain = self.out[channel.head][:, channel.span].sum(axis=0)
        demand((gain == gain[0]) & (np.frexp(gain)[0] == 0.5), "an uneven gain")
        demand(
            len(self.stream.positions) * self.stream.form.sum_unit <= 0.25, "too long"
        )
        if channel.op in SUMS:
            return self._added_up(channel, float(gain[0]))
        demand(gain == 1, f"the head of {channel.name!r} changes what it copies")
        return self._copied(channel)

    def _copied(self, channel: Channel) -> tuple[FloatArray, Look]:
        """Theorem 12."""
        form, source = self.stream.form, self.stream.channel(channel.inputs[0])
        alike = channel.head, channel.op, channel.by, channel.inputs[1:]
        if alike not in self.looks:
            self.looks[alike] = self._look(channel)
        ratio, error, peak = self.looks[alike]
        count, narrow = len(self.stream.positions), form.unit > form.sum_unit
        rescaled = (count // STRETCH + 1 if narrow else count) * (
            relative_error(form) + form.sum_unit
        )
        leak = float(np.exp(ratio + 2 * error + 4 * OWN_UNIT * count * peak + rescaled))
        demand(leak < 0.125, f"the head of {channel.name!r} may look elsewhere")
        largest = max(source.domain) + self.stream.noise[source.name].max()
        astray = 2 * leak + 96 * form.sum_unit
        if narrow:
            exponent = 1.5 * form.sum_unit * peak
            astray += exponent + (AT_ZERO if exponent <= NEAR else COARSE)
            astray += 2 * form.unit * (astray >= form.unit / 2)
        noise = self.stream.noise[source.name][source.place(channel.domain)][:, None]
        code = np.abs(channel.code(channel.domain))
        off = noise + (code + noise) * astray + 4 * leak * max(largest, 1.0)
        self._check_sums(largest)
        off = self._written(channel, code, off * INFLATION).max(axis=1)
        return per_value(channel, channel.domain, off), Look(
            leak, float(-ratio), float(error)
        )

    def _check_sums(self, largest: float) -> None:
        most = largest * len(self.stream.positions)
        demand(most <= LARGEST_FLOAT32, "a sum of values can overflow")

    def _written(
        self, channel: Channel, code: FloatArray, off: FloatArray
    ) -> FloatArray:
        """The error after storing a result and adding it to a free dimension."""
        form, free = self.stream.form, self.stream.free[channel.span].max()
        for more in (0.0, free) if free else (0.0,):
            off = off + more
            demand(code + off <= form.largest, f"{channel.name!r} can overflow")
            coarse = (off + form.unit * (code + off + form.smallest)) * INFLATION
            off = np.where(snaps(code, off, form), 0.0, coarse)
        return off

    def _look(self, channel: Channel) -> tuple[float, float, float]:
        """The worst leak's logarithm, error of a score with its exponent, largest score.

        Every position is right for some word or for none; all ways to set flags, and
        all keys and queries, are covered term by term (docs/recheck.md, Theorem R1).
        """
        if channel.op == "at":
            return self._look_at(channel)
        key = self.stream.channel(channel.inputs[1]) if channel.inputs[1:] else None
        query = self.stream.channel(channel.inputs[2]) if channel.inputs[2:] else None
        said = np.union1d(key.later, key.bos) if key else np.zeros(1, np.int64)
        demand(len(said) * self.stream.positions.size <= MOST, "too many keys to check")
        every = np.ones(len(self.stream.positions), np.int64)
        k = self._projected(self.key[channel.head], key, np.kron(said, every))
        worst = np.array([NEVER, 0.0, 0.0])
        asked = query.later if query else np.ones(1, np.int64)
        for value in asked:
            q = self._projected(self.query[channel.head], query, value * every)
            looking = _looking(channel, q)
            work = len(asked) * len(looking) * len(k.value)
            if work > MOST and channel.op == "latest" and len(said) == 2:
                return _growing(q, k)
            demand(work <= MOST, "a head has too many scores to check")
            parts = work // len(asked) // CELLS + 1
            for t in np.array_split(looking, min(parts, len(looking))):
                scores, *bounds = _scores(q.rows(t), k)
                scores = scores.reshape(len(t), len(said), -1)
                occurs = np.isin(said, key.later) if key else np.array([True])
                match = said == value if key else np.array([True])
                on = scores[:, occurs & match].max(axis=1, initial=NEVER)
                off = scores[:, occurs & ~match].max(axis=1, initial=NEVER)
                on[:, 0] = scores[:, said == (key.bos if key else 0), 0][:, 0]
                off[:, 0] = NEVER
                hidden = np.arange(on.shape[1]) > t[:, None]
                on[hidden] = off[hidden] = NEVER
                first = channel.op == "earliest"
                leak = _leak(on, off, *_right(channel, t, on.shape[1]), first)
                worst = np.maximum(worst, [leak, *bounds])
        return worst[0], worst[1], worst[2]

    def _look_at(self, channel: Channel) -> tuple[float, float, float]:
        """The same of a head that looks where digits say, for all that they can say."""
        positions = self.stream.positions
        digits = [self.stream.channel(n) for n in channel.inputs[1:]]
        demand(not any(c.one_hot for c in digits), "a digit is one-hot")
        demand(len({c.name for c in digits}) == len(digits), "a digit is there twice")
        query = self.query[channel.head]
        used = np.flatnonzero(query.any(axis=1))
        own = np.isin(used, [d for c in digits for d in c.span])
        demand(own | (self.stream.owner[used] == FEATURE), "scores depend on too much")
        demand(positions[:, used] == positions[:1, used], "a pointer moves with t")
        k = self._projected(self.key[channel.head], None, np.arange(len(positions)))
        said, j = np.arange(2 ** len(digits)), np.arange(len(positions))
        demand(len(said) * len(j) <= MOST, "a head has too many scores to check")
        worst = np.array([NEVER, 0.0, 0.0])
        for x in np.array_split(said, len(said) * len(j) // CELLS + 1):
            noise = np.zeros((len(x), positions.shape[1]))
            asked = np.tile(positions[:1], (len(x), 1))
            for b, c in enumerate(digits):
                asked[:, c.span] = (x >> b & 1)[:, None]
                noise[:, c.span] = self.stream.noise[c.name].max()
            q = Noisy(asked, np.zeros((0, *asked.shape)), noise, self.stream.form)
            q = q.columns(used).affine(query[used], np.zeros(query.shape[1]))
            scores, *bounds = _scores(q, k)
            right = (j == x[:, None]) & (j > 0)
            leak = _leak(scores, np.where(right, NEVER, scores), right, True)
            worst = np.maximum(worst, [leak, *bounds])
        return worst[0], worst[1], worst[2]

    def _projected(
        self, matrix: FloatArray, read: Channel | None, column: IntArray
    ) -> Noisy:
        """``(rows, k)``: queries or keys of all positions, again for each T + 1 rows.

        They may read position features, and one channel, which has values ``column``.
        """
        used = np.flatnonzero(matrix.any(axis=1))
        own = np.isin(used, read.span if read else ())
        demand(own | (self.stream.owner[used] == FEATURE), "scores depend on too much")
        positions = self.stream.positions
        base = np.tile(positions, (len(column) // len(positions), 1))
        x = self.stream.at({read.name: column} if read else {}, base)
        return x.columns(used).affine(matrix[used], np.zeros(matrix.shape[1]))

    def _added_up(self, channel: Channel, gain: float) -> tuple[FloatArray, Look]:
        """Theorem 13."""
        form, source = self.stream.form, self.stream.channel(channel.inputs[0])
        demand(not source.one_hot, "a sum of what is no number")
        where = self.stream.channel(channel.inputs[1]) if channel.inputs[1:] else None
        t = np.arange(len(self.stream.positions))
        marks = where.given if where else np.minimum(t, 1)
        demand(not where or not self.stream.noise[where.name].any(), "marks with noise")
        q = self._projected(self.query[channel.head], None, t)
        k = self._projected(self.key[channel.head], where, marks)
        demand((marks == 0) | ~(k.value.any(axis=1) | k.total.any(axis=1)), "uneven")
        rest = t[marks == 0][1:]
        alike = np.hstack([k.value, k.total])[rest]
        demand(alike == alike[:1], "a sum prefers some positions that do not count")
        some = [k.rows(t[:1]), k.rows(np.append(rest[:1], 0))]
        (bos, first, _), (scores, second, _) = (_scores(q, keys) for keys in some)
        demand(np.abs(scores) <= 600, "the scores of a sum are too large")
        demand(not len(rest) or scores[:, 0].max() <= -second, "a sum prefers others")
        counted = np.cumsum(marks)
        sink, aside = np.exp(bos[:, 0]), (t - counted) * np.exp(scores[:, 0])
        total = sink + counted + aside
        astray = (sink * np.expm1(first) + aside * np.expm1(second)) / total
        rises = bos[:, 0] <= first
        load = (2 * t + 16 + 8 * rises) * form.sum_unit
        load = load + 2 * (1 + rises) * relative_error(form)
        demand(np.maximum(astray, load) < 0.5, "the weights of a sum are too uncertain")
        grown = (1 + astray / (1 - astray)) * (1 + load / (1 - load))
        grown *= (1 + form.unit) ** 2 if form.unit > form.sum_unit else 1.0
        demand(1 / total >= form.smallest, "the weights of a sum are too small")
        leaked = 2 * aside / total * np.exp(second) * grown
        noise, largest = self.stream.noise[source.name].max(), max(source.domain)
        self._check_sums(largest + noise)
        share, most = gain / total, counted * float(largest)
        error = most * (np.abs(share - 1) + 4 * OWN_UNIT + share * (grown - 1))
        error += gain * (leaked * largest + noise * (grown * np.exp(first) + leaked))
        worst = self._written(channel, most, error * INFLATION).max()
        look = Look(float(leaked.max()), 0.0, float(max(first, second)))
        values = channel.domain
        return per_value(channel, values, np.full(len(values), worst)), look


def relative_error(form: Format) -> float:
    """How far exponentials may be off (A6)."""
    return COARSE if form.unit > form.sum_unit else 40 * form.sum_unit


def _looking(channel: Channel, q: Noisy) -> IntArray:
    """From where to look: of those that ask the same the last has all their rivals."""
    t = np.arange(1, len(q.value))
    if channel.op not in ("latest", "latest-match", "earliest"):
        return t
    asked = np.hstack([q.value, q.total])[:0:-1]
    return t[::-1][np.unique(asked, axis=0, return_index=True)[1]]


def _scores(q: Noisy, k: Noisy) -> tuple[FloatArray, float, float]:
    """``(queries, keys)``: all scores; their error with the exponent; the largest."""
    form, size_k = q.form, np.abs(k.value) + k.total
    size = (size_k @ (np.abs(q.value) + q.total).T).max() * INFLATION
    demand(size <= form.largest, "a score can overflow")
    if q.total.any():
        scores = k.value @ q.value.T
        error = (k.total @ np.abs(q.value).T + size_k @ q.total.T).max() * INFLATION
        error += 2 * (size_k.shape[1] + 1) * form.sum_unit * size
        error += form.unit * (np.abs(scores).max() + error)
    else:
        # Kernels may store scores, or not.
        found = k.products(q.value.T).whole(np.zeros(len(q.value)))
        scores = found.value
        error = max(found.total.max(), found.stored().total.max())
    largest = np.abs(scores).max() + error
    return scores.T, error + 8 * form.sum_unit * largest, largest


def _growing(q: Noisy, k: Noisy) -> tuple[float, float, float]:
    """As `Heads._look`, if only the worth of a flag moves with the query (Theorem 12b).

    Args:
        q: ``(T + 1, k)``: the queries.
        k: ``(2 · (T + 1), k)``: the keys, of unflagged positions first.
    """
    (u, f), moving = np.split(k.value, 2), (q.value != q.value[0]).any(axis=0)
    demand(not q.total.any(), "a query is not exact")
    even = not u[:, moving].any() and (f[:, moving] == f[0, moving]).all()
    demand(even, "a head has too many scores to check")
    plain, flagged = (x[:, ~moving] @ q.value[0, ~moving] for x in (u, f))
    bonus = q.value[:, moving] @ f[0, moving]
    plain[0] = NEVER
    before = _earlier(np.maximum(plain - bonus.min(), flagged)[None])[0] - flagged
    behind = np.logaddexp.accumulate(plain) - bonus - np.minimum.accumulate(flagged)
    widest = k.each(lambda x: np.abs(x).max(axis=-2, keepdims=True))
    sums = widest.products(np.abs(q.value).max(axis=0)[:, None])
    # Multiples of a power of two above 1 may fit where as whole numbers they do not.
    grid = sum(finest(x.value * 2.0**-FINEST) - FINEST for x in (q, k))
    grid = grid if grid <= 0 else FINEST + 1
    off = rounding(q.form, sums.terms + 1, sums.size, sums.known, grid)
    size, error = (float(x.max()) for x in (sums.size, sums.rest + off))
    demand(size <= q.form.largest, "a score can overflow")
    narrow = q.form.unit * size * (q.form.unit > q.form.sum_unit)
    error = (error + narrow) * INFLATION + 8 * q.form.sum_unit * size
    return float(np.logaddexp(before.max(), behind.max())), error, size


def _right(channel: Channel, t: IntArray, size: int) -> tuple[BoolArray, bool]:
    """``(rows, T + 1)``: where the right one can be; and whether BOS is it if none is."""
    j, row = np.arange(size), t[:, None]
    if channel.op == "shift":
        return j == np.maximum(row - channel.by, 0), False
    if channel.op == "latest":
        return j <= row, False
    if channel.op in ("latest-match", "earliest"):
        return (1 <= j) & (j <= row), True
    block, high = row >> channel.by, row >> channel.by << channel.by
    low = np.maximum(high - (1 << channel.by), 1)
    return (low <= j) & (j < high) & (block % 2 == 1), True


def _leak(
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
        before = _earlier(np.where(inside, past, NEVER))
        after = _earlier(np.where(inside, later, NEVER)[:, ::-1])[:, ::-1]
        rivals = np.logaddexp(outside, np.logaddexp(before, after))
    right = inside & (on != NEVER)
    leak = np.where(right, rivals - np.where(right, on, 0), NEVER).max()
    if default:
        left = np.where(inside, off, either)[:, 1:]
        none = (np.logaddexp.reduce(left, axis=1) - on[:, 0]).max()
        leak = np.maximum(leak, none)
    return float(leak)


def _earlier(scores: FloatArray) -> FloatArray:
    """For each place the logarithm of the sum of the exponentials before it."""
    total = np.logaddexp.accumulate(scores, axis=1)
    return np.hstack([np.full((len(scores), 1), NEVER), total[:, :-1]])
