"""Uniform heads, which add up what is marked (docs/soundness.md, 4.5)."""

import numpy as np

from krohn.program.domains import IntArray
from krohn.program.errors import demand
from krohn.program.statement import Channel
from krohn.verify.checker.affine_arithmetic import Noisy
from krohn.verify.checker.arithmetic import STRETCH, Interval
from krohn.verify.checker.heads import SOFTMAX, Heads, Look
from krohn.verify.checker.model_file import FloatArray
from krohn.verify.checker.residual_stream import per_value
from krohn.verify.checker.scores import scores_of

WHOLE = 2**53
"""Below it, sums and their products with floats are what they are."""


KINDS = frozenset({SOFTMAX})


def noise(heads: Heads, channel: Channel, gain: float) -> tuple[FloatArray, Look]:
    """The noise of each value of a sum, and where its head looks (Theorem 13).

    It adds up what is marked; of a sum without marks every position but BOS is.
    """
    form, source = heads.stream.form, heads.stream.channel(channel.inputs[0])
    demand(source.integer, "a sum of values that are no numbers")
    where = heads.stream.channel(channel.inputs[1]) if channel.inputs[1:] else None
    t = np.arange(len(heads.stream.positions))
    marks = where.given if where else np.minimum(t, 1)
    demand(not where or not heads.stream.noise[where.name].any(), "marks with noise")
    bos, scores, first, second, even = _scores(heads, channel, where, marks)
    counted = np.cumsum(marks)
    sink = Interval.of(bos).through(np.exp)
    aside = (t - counted) * Interval.of(scores).through(np.exp)
    total = sink + counted + aside
    astray = sink * first.through(np.expm1) + aside * second.through(np.expm1)
    astray = (astray + counted * even.through(np.expm1)) / total
    rises = (bos <= first.most).astype(np.float64)
    if even.most:
        rises = np.full(len(t), 1 + len(t) / (STRETCH if form.narrow else 1))
    load = (2 * t + 16 + 8 * rises) * Interval.of(form.sum_unit)
    load += 2 * (1 + rises) * Interval.of(form.exponential)
    sure = (astray < 0.5) & (load < 0.5)
    demand(sure, "the weights of a sum are too uncertain")
    grown = (1 + astray / (1 - astray)) * (1 + load / (1 - load))
    grown *= even.through(np.exp) * ((1 + form.unit) ** 2 if form.narrow else 1.0)
    # As they are computed, too: what is below the normal range may be 0 (A6).
    normal = 1 / total >= form.smallest * grown * first.through(np.exp)
    demand(normal, "the weights of a sum are too small")
    leaked = 2 * aside / total * second.through(np.exp) * grown
    noise, largest = heads.carried(source).max(), int(max(source.domain))
    heads.check_sums(largest + noise)
    demand(largest * len(t) < WHOLE, "a sum of numbers that are too large")
    share = gain / total
    scale = abs(share - 1) + share * (grown - 1)
    more = leaked * largest + noise * (grown * first.through(np.exp) + leaked)
    more = gain * more.where(more.high == 0, more + heads.below(largest + noise))
    # A sum so large is reached at its first position, and may be at all later ones.
    values = np.minimum(channel.domain, counted[-1] * largest)
    at = np.searchsorted(counted * largest, values)
    slope, beside = (Interval.of(_from_then_on(x.high)[at]) for x in (scale, more))
    off = values * slope + beside
    worst = heads.written(channel, values.astype(np.float64), off.high)
    widest = max(first.most, second.most)
    look = Look(float(leaked.high.max()), 0.0, widest, widest)
    return per_value(channel, channel.domain, worst), look


def _scores(
    heads: Heads, channel: Channel, where: Channel | None, marks: IntArray
) -> tuple[FloatArray, FloatArray, Interval, Interval, Interval]:
    """Scores of each position that looks, ``(T + 1,)``, at BOS and at what is not marked.

    With them how far these can be off, and those of marked positions from 0.
    """
    form, t = heads.stream.form, np.arange(len(marks))
    q = heads.queries(channel, {}, t)
    k = heads.keys(channel, {where.name: marks} if where else {}, t)
    demand((marks == 0) | ~k.value.any(axis=1), "uneven")
    rest = t[marks == 0][1:]
    alike = np.hstack([k.value, k.total])[rest]
    demand(alike == alike[:1], "a sum prefers some positions that do not count")
    some = [k.rows(t[:1]), k.rows(np.append(rest[:1], 0))]
    own, other = (scores_of(q, keys) for keys in some)
    bos, scores = own.true, other.true
    besides = heads.besides(channel)
    first, second = (Interval.of(x.error.max()) + besides for x in (own, other))
    demand(np.abs(scores) <= 600, "the scores of a sum are too large")
    demand(not len(rest) or second <= -scores[:, 0].max(), "a sum prefers others")
    even = uneven(q, k.rows(t[marks == 1]), max(own.size, other.size)) + besides
    first, second = (e + even * 8 * form.sum_unit for e in (first, second))
    return bos[:, 0], scores[:, 0], first, second, even


def _from_then_on(x: FloatArray) -> FloatArray:
    """The largest of each number and those after it."""
    return np.maximum.accumulate(x[::-1])[::-1]


def uneven(q: Noisy, k: Noisy, peak: float) -> Interval:
    """How far scores that should be 0, with their exponents, can be from it.

    Args:
        q: The queries.
        k: The keys of positions that count; of code 0, but perhaps with noise.
        peak: The largest score that stands beside them.
    """
    if not k.total.any():
        return Interval.of(0.0)
    scores = scores_of(q, k.widest())
    beside = 16 * q.form.sum_unit * (Interval.of(peak) + scores.size)
    return beside + float(scores.error.max())
