"""Heads that add up: one weight for all positions that count, hardly any for others.

The positions that count have keys that are exactly 0, so that their weights are the same
number; BOS takes what is left of the total (docs/soundness.md, section 4.5).
"""

from dataclasses import dataclass

import numpy as np

from network.precision import BoolArray, FloatArray, Precision
from verify.errors import Rejected
from verify.exponentials import is_narrow, relative_error
from verify.noisy import Noisy

# Roundings of one weight beside its exponentials, in units of the accumulator: quotient,
# product and what is of second order.
ROUNDINGS = 16
# A running maximum that rises twice rescales what was added up before it.
RESCALINGS = 8
LARGEST_SCORE = 600.0


@dataclass(frozen=True)
class Scores:
    """The scores of a head that adds up, for every position that looks.

    Attributes:
        bos: ``(T + 1,)`` that of BOS.
        others: ``(T + 1,)`` that of positions that do not count; that of the rest is 0.
        errors: How far each of the two, with its exponent, may be off.
        counted: ``(T + 1,)`` how many positions up to t count.
        passed: ``(T + 1,)`` how many positions up to t, BOS apart, do not.
        largest: Bound of all scores.
        precision: The format.
    """

    bos: FloatArray
    others: FloatArray
    errors: tuple[float, float]
    counted: FloatArray
    passed: FloatArray
    largest: float
    precision: Precision

    def weights(self) -> "Weights":
        """What the scores amount to (docs/soundness.md, Theorem 13).

        Raises:
            Rejected: If the weights are out of range, or too uncertain to be bounded.
        """
        sink, leak = np.exp(self.bos), self.passed * np.exp(self.others)
        total = sink + self.counted + leak
        bos, other = np.expm1(self.errors)
        astray = (sink * bos + leak * other) / total
        load = self._load()
        if max(astray.max(), load.max()) >= 0.5:
            raise Rejected("the weights of a sum are too uncertain, or it is too long")
        error = (1 + astray / (1 - astray)) * (1 + load / (1 - load))
        if is_narrow(self.precision):
            error = error * (1 + self.precision.unit) ** 2
        if (1 / total).min() < self.precision.smallest:
            raise Rejected("the weights of a sum are below the format's range")
        # Rounding to the format, subnormal or not, at most doubles a weight.
        leaked = 2 * leak / total * (1 + other) * error
        return Weights(1 / total, error - 1, leaked, error * (1 + bos) + leaked)

    def _load(self) -> FloatArray:
        """t·u for the normaliser and t·u for the weighted sum, in any order."""
        rises = self.bos <= self.errors[0]
        terms = 2 * (self.counted + self.passed) + ROUNDINGS + RESCALINGS * rises
        # One exponential in the numerator, one in the normaliser, and two rescalings.
        exponentials = 2 * (1 + rises) * relative_error(self.precision)
        return np.asarray(terms * self.precision.accumulator_unit + exponentials)


@dataclass(frozen=True)
class Weights:
    """The weights of a head that adds up, for every position t that looks.

    Attributes:
        each: ``(T + 1,)`` the weight of one position that counts.
        relative: ``(T + 1,)`` bound of its relative error, that of the sum included.
        leaked: ``(T + 1,)`` bound of the weights of all positions that do not count.
        whole: ``(T + 1,)`` bound of all weights together.
    """

    each: FloatArray
    relative: FloatArray
    leaked: FloatArray
    whole: FloatArray


def scores(q: Noisy, k: Noisy, counts: BoolArray) -> Scores:
    """The scores of a head from its queries and keys.

    Args:
        q: ``(T + 1, k)`` queries.
        k: ``(T + 1, k)`` keys.
        counts: ``(T + 1,)`` the positions to be added up; BOS is none of them.

    Raises:
        Rejected: If two positions that both count, or both do not, may score differently,
            or one that does not count may be ahead.
    """
    if k.value[counts].any() or k.total[counts].any():
        raise Rejected("a head that adds up prefers some of the positions that count")
    rest = np.flatnonzero(~counts)[1:]
    other = k.value[rest[:1]] if rest.size else np.zeros((1, k.value.shape[1]))
    if (k.value[rest] != other).any():
        raise Rejected("a head that adds up prefers some positions that do not count")
    keys = np.concatenate([k.value[:1], other])
    off = np.stack([k.total[0], k.total[rest].max(axis=0, initial=0.0)])
    both = q.value @ keys.T
    largest = float(np.abs(both).max())
    if not largest <= LARGEST_SCORE:
        raise Rejected("the scores of a head that adds up are too large")
    single = [_error(q, keys[:1], off[:1], both[:, :1]), _error(q, keys, off, both)]
    counted = np.cumsum(counts).astype(np.float64)
    passed = np.arange(len(counts)) - counted
    errors = (single[0], single[1])
    if rest.size and both[:, 1].max() > -errors[1]:
        raise Rejected("a head that adds up prefers positions that do not count")
    bos, others = both.T
    return Scores(bos, others, errors, counted, passed, largest, q.precision)


def _error(q: Noisy, keys: FloatArray, off: FloatArray, found: FloatArray) -> float:
    """The error of a score with some keys, stored, and of the exponent made of it."""
    size_q = (np.abs(q.value) + q.total).max(axis=0)
    size_k = (np.abs(keys) + off).max(axis=0)
    inherited = size_q @ off.max(axis=0) + size_k @ q.total.max(axis=0)
    bound = float(size_q @ size_k)
    if bound > q.precision.largest:
        raise Rejected(f"scores can overflow in {q.precision.name}")
    terms = np.count_nonzero(size_q * size_k) + 1
    unit = q.precision.accumulator_unit
    error = inherited + 2 * terms * unit * bound
    exponent = (q.precision.unit + 8 * unit) * (np.abs(found).max() + error)
    return float(error + exponent)
