"""Uniform heads, which add up what is marked (docs/proofs/attention.md)."""

from typing import NamedTuple

import numpy as np

from krohn.program.attention import Softmax
from krohn.program.domains import IntArray
from krohn.program.errors import demand
from krohn.program.statement import Channel
from krohn.verify.checker.affine_arithmetic import Noisy
from krohn.verify.checker.arithmetic import Format, Interval, Operand
from krohn.verify.checker.heads import Heads, Look
from krohn.verify.checker.model_file import FloatArray
from krohn.verify.checker.residual_stream import per_value
from krohn.verify.checker.scores import scores_of
from krohn.verify.checker.softmax_weights import factors, weight_error

WHOLE = 2**53
"""Below it, sums and their products with floats are what they are."""


KINDS = frozenset({Softmax})


class Keys(NamedTuple):
    """Keys that have one score in a row: that of BOS, those that count, or all others.

    Attributes:
        many: ``(rows,)``: how many of them each row sees, at most.
        score: ``(rows,)``: their score.
        off: How far it can be off as it is computed, for each key by itself.
        fewest: ``(rows,)``: how many it sees at least; as many if it is not said.
    """

    many: IntArray
    score: FloatArray
    off: Interval
    fewest: IntArray | None = None

    @property
    def computed_scores(self) -> Interval:
        """Where their scores are in the rows that see one; −∞ in others."""
        around = Interval.of(self.score).wider(self.off)
        return around.each(lambda x: np.where(self.many > 0, x, -np.inf))

    @property
    def different(self) -> IntArray:
        """``(rows,)``: how many scores are computed that differ, at most."""
        return self.many if self.off.most > 0 else np.minimum(self.many, 1)

    @property
    def mass(self) -> Interval:
        """What they weigh together, if a score of 0 weighs 1."""
        least = self.many if self.fewest is None else self.fewest
        count = Interval(least.astype(np.float64), self.many.astype(np.float64))
        return Interval.of(self.score).through(np.exp) * count


class Means(NamedTuple):
    """What rows make of three kinds of keys: BOS, those that count, others (Theorem 13).

    Attributes:
        kinds: They.
        total: What all weigh, if a score of 0 weighs 1.
        off: How far the logarithm of a weight can be off, for each kind.
        grown: By what the share of a key of each kind can be too large.
    """

    kinds: list[Keys]
    total: Interval
    off: list[Interval]
    grown: list[Interval]

    @classmethod
    def of(cls, kinds: list[Keys], t: IntArray, form: Format) -> "Means":
        """For keys that are gone through in any order, by rows of positions ``t``.

        Raises:
            Refused: If their weights are too uncertain, or scores are too large.
        """
        largest = max(float(np.abs(keys.score).max()) for keys in kinds)
        demand(largest <= 600, "the scores of a sum are too large")
        total = sum((keys.mass for keys in kinds), Interval.of(0.0))
        off = [weight_errors(keys, kinds, t, form) for keys in kinds]
        uneven = sum(
            (k.mass * e.through(np.expm1) for k, e in zip(kinds, off, strict=True)),
            Interval.of(0.0),
        )
        many = t.astype(np.float64)
        astray, load = uneven / total, Interval.of(form.sum_unit) * (2 * many + 16)
        sure = (astray < 0.5) & (load < 0.5)
        demand(sure, "the weights of a sum are too uncertain")
        grown = (1 + astray / (1 - astray)) * (1 + load / (1 - load))
        grown *= (1 + form.unit) ** 2 if form.narrow else 1.0
        means = cls(kinds, total, off, [grown * e.through(np.exp) for e in off])
        # As they are computed, too: what is below the normal range may be 0 (A6).
        one = Interval.of(kinds[1].score).through(np.exp) / total
        demand(
            one >= form.smallest * means.widest, "the weights of a sum are too small"
        )
        return means

    def relative(self, gain: Operand) -> Interval:
        """``(rows,)``: by what part of itself a sum of what counts can be off."""
        share = Interval.of(self.kinds[1].score).through(np.exp) * gain / self.total
        return abs(share - 1) + share * (self.grown[1] - 1)

    def leaked(self, kind: int) -> Interval:
        """``(rows,)``: the share of all keys of a kind that does not count, at most."""
        return 2 * self.kinds[kind].mass / self.total * self.grown[kind]

    @property
    def widest(self) -> Interval:
        """``(rows,)``: by what the share of a key that counts, or of BOS, can grow."""
        return self.grown[0].maximum(self.grown[1])


def weight_errors(keys: Keys, kinds: list[Keys], t: IntArray, form: Format) -> Interval:
    """``(rows,)``: how far the logarithm of a weight of some keys can be off (Lemma 11b).

    In whatever order a kernel goes through keys, its maximum can rise after one of them to
    each score that can be computed above it, once.
    """
    own = top = keys.computed_scores
    higher = np.maximum(keys.different - 1, 0)
    for others in kinds:
        if others is not keys:
            top = top.maximum(others.computed_scores)
            higher = higher + others.different * (others.computed_scores.high > own.low)
    own = own.where(keys.many > 0, top)
    return keys.off + weight_error(own, top, factors(higher, t + 1, form), form)


def noise(heads: Heads, channel: Channel, gain: float) -> tuple[FloatArray, Look]:
    """The noise of each value of a sum, and where its head looks (Theorem 13).

    It adds up what is marked; of a sum without marks every position but BOS is.
    """
    form, source = heads.stream.form, heads.stream.channel(channel.inputs[0])
    demand(source.integer, "a sum of values that are no numbers")
    where = heads.stream.channel(channel.inputs[1]) if channel.inputs[1:] else None
    t = np.arange(len(heads.stream.positions))
    marks = where.values_by_position if where else np.minimum(t, 1)
    demand(not where or not heads.stream.noise[where.name].any(), "marks with noise")
    kinds = _keys(heads, channel, where, marks)
    means, counted = Means.of(kinds, t, form), kinds[1].many
    leaked = means.leaked(2)
    noise, largest = heads.bound_carried_values(source).max(), int(max(source.domain))
    heads.check_sums(largest + noise)
    demand(largest * len(t) < WHOLE, "a sum of numbers that are too large")
    more = leaked * largest + noise * (means.widest + leaked)
    more = gain * more.where(more.high == 0, more + heads.below(largest + noise))
    # A sum so large is reached at its first position, and may be at all later ones.
    values = np.minimum(channel.domain, counted[-1] * largest)
    at = np.searchsorted(counted * largest, values)
    slope, rest = (
        Interval.of(_from_then_on(x.high)[at]) for x in (means.relative(gain), more)
    )
    off = values * slope + rest
    worst = heads.bound_write_error(channel, values.astype(np.float64), off.high)
    widest = max(x.most for x in means.off)
    look = Look(float(leaked.high.max()), 0.0, widest, widest)
    return per_value(channel, channel.domain, worst), look


def _keys(
    heads: Heads, channel: Channel, where: Channel | None, marks: IntArray
) -> list[Keys]:
    """BOS, what is marked, and what is not, as the head of a sum sees them.

    Raises:
        Refused: If scores depend on more than that.
    """
    t = np.arange(len(marks))
    q = heads.queries(channel, {}, t)
    k = heads.keys(channel, {where.name: marks} if where else {}, t)
    demand((marks == 0) | ~k.value.any(axis=1), "uneven")
    rest = t[marks == 0][1:]
    alike = np.hstack([k.value, k.total])[rest]
    demand(alike == alike[:1], "a sum prefers some positions that do not count")
    some = [k.rows(t[:1]), k.rows(np.append(rest[:1], 0))]
    bos, others = (scores_of(q, keys) for keys in some)
    off = bound_unevenness(q, k.rows(t[marks == 1]))
    counted, besides = np.cumsum(marks), heads.besides(channel)
    return [
        Keys(np.ones_like(t), bos.true[:, 0], bos.off.max() + besides),
        Keys(counted, np.zeros(len(t)), off + besides),
        Keys(t - counted, others.true[:, 0], others.off.max() + besides),
    ]


def _from_then_on(x: FloatArray) -> FloatArray:
    """The largest of each number and those after it."""
    return np.maximum.accumulate(x[::-1])[::-1]


def bound_unevenness(q: Noisy, k: Noisy) -> float:
    """How far scores that should be 0 can be computed from it.

    Args:
        q: The queries.
        k: The keys of positions that count; of code 0, but perhaps with noise.
    """
    return float(scores_of(q, k.widest()).off.max()) if k.total.any() else 0.0
