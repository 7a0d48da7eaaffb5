"""A uniform head, which adds up."""

import numpy as np

from krohn.program.errors import demand
from krohn.program.statement import Channel
from krohn.verify.checker.affine_arithmetic import Noisy
from krohn.verify.checker.arithmetic import INFLATION, OWN_UNIT, STRETCH, Format
from krohn.verify.checker.attention.heads import Heads, Look, Rule
from krohn.verify.checker.attention.scores import scores_of
from krohn.verify.checker.model_file import FloatArray
from krohn.verify.checker.residual_stream import per_value

WHOLE = 2**53
"""Below it, sums and their products with floats are what they are."""


class Summed(Rule):
    """The sum over all positions so far."""

    operation = "prefix-sum"

    def noise(
        self, heads: Heads, channel: Channel, gain: float
    ) -> tuple[FloatArray, Look]:
        """Theorem 13; every position but BOS is marked."""
        return added_up(heads, channel, gain)


def added_up(heads: Heads, channel: Channel, gain: float) -> tuple[FloatArray, Look]:
    """The noise of each value of a sum, and where its head looks (Theorem 13)."""
    form, source = heads.stream.form, heads.stream.channel(channel.inputs[0])
    demand(source.integer, "a sum of values that are no numbers")
    where = heads.stream.channel(channel.inputs[1]) if channel.inputs[1:] else None
    t = np.arange(len(heads.stream.positions))
    marks = where.given if where else np.minimum(t, 1)
    demand(not where or not heads.stream.noise[where.name].any(), "marks with noise")
    q = heads.queries(channel, None, t)
    k = heads.keys(channel, where, marks)
    demand((marks == 0) | ~k.value.any(axis=1), "uneven")
    rest = t[marks == 0][1:]
    alike = np.hstack([k.value, k.total])[rest]
    demand(alike == alike[:1], "a sum prefers some positions that do not count")
    some = [k.rows(t[:1]), k.rows(np.append(rest[:1], 0))]
    own, other = (scores_of(q, keys) for keys in some)
    bos, scores = own.true, other.true
    first, second = float(own.error.max()), float(other.error.max())
    demand(np.abs(scores) <= 600, "the scores of a sum are too large")
    demand(not len(rest) or scores[:, 0].max() <= -second, "a sum prefers others")
    even = uneven(q, k.rows(t[marks == 1]), max(own.size, other.size))
    first, second = (e + 8 * form.sum_unit * even for e in (first, second))
    counted = np.cumsum(marks)
    sink, aside = np.exp(bos[:, 0]), (t - counted) * np.exp(scores[:, 0])
    total = sink + counted + aside
    astray = sink * np.expm1(first) + aside * np.expm1(second)
    astray = (astray + counted * np.expm1(even)) / total
    rises = (bos[:, 0] <= first).astype(np.float64)
    if even:
        rises = np.full(len(t), 1 + len(t) / (STRETCH if narrow(form) else 1))
    load = (2 * t + 16 + 8 * rises) * form.sum_unit
    load = load + 2 * (1 + rises) * form.exponential
    demand(np.maximum(astray, load) < 0.5, "the weights of a sum are too uncertain")
    grown = (1 + astray / (1 - astray)) * (1 + load / (1 - load)) * np.exp(even)
    grown *= (1 + form.unit) ** 2 if narrow(form) else 1.0
    demand(1 / total >= form.smallest, "the weights of a sum are too small")
    leaked = 2 * aside / total * np.exp(second) * grown
    noise, largest = heads.carried(source).max(), int(max(source.domain))
    heads.check_sums(largest + noise)
    demand(largest * len(t) < WHOLE, "a sum of numbers that are too large")
    share = gain / total
    scale = np.abs(share - 1) + 4 * OWN_UNIT + share * (grown - 1)
    more = gain * (leaked * largest + noise * (grown * np.exp(first) + leaked))
    # A sum so large is reached at its first position, and may be at all later ones.
    values = np.minimum(channel.domain, counted[-1] * largest)
    at = np.searchsorted(counted * largest, values)
    off = (values * _from_then_on(scale)[at] + _from_then_on(more)[at]) * INFLATION
    worst = heads.written(channel, values.astype(np.float64), off)
    widest = max(first, second)
    look = Look(float(leaked.max()), 0.0, widest, widest)
    return per_value(channel, channel.domain, worst), look


def _from_then_on(x: FloatArray) -> FloatArray:
    """The largest of each number and those after it."""
    return np.maximum.accumulate(x[::-1])[::-1]


def uneven(q: Noisy, k: Noisy, peak: float) -> float:
    """How far scores that should be 0, with their exponents, can be from it.

    Args:
        q: The queries.
        k: The keys of positions that count; of code 0, but perhaps with noise.
        peak: The largest score that stands beside them.
    """
    if not k.total.any():
        return 0.0
    scores = scores_of(q, k.widest())
    return float(scores.error.max()) + 16 * q.form.sum_unit * (peak + scores.size)


def narrow(form: Format) -> bool:
    """Whether numbers are stored with fewer digits than sums have."""
    return form.unit > form.sum_unit
