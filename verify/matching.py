"""Heads that look for the latest position whose key equals a query.

The worst case runs over positions and over all pairs of a key and a query;
docs/soundness.md, section 4.4, proves that it covers every word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from algebra.semiautomaton import IntArray
from network.precision import BoolArray, FloatArray, Precision
from verify.errors import Rejected
from verify.noisy import INFLATION, Noisy
from verify.rivals import leak_latest
from verify.statement import Reach, Statement
from verify.stream import Stream

MOST_KEYS = 100_000_000


@dataclass(frozen=True)
class Scores:
    """The scores of a head that compares a key with a query, over all their values.

    Attributes:
        value: ``(1 + T·keys, queries)``: BOS first, then each key at each position.
        error: Bound of the error of a score and of the exponent made from it.
        largest: Bound of all scores.
    """

    value: FloatArray
    error: float
    largest: float


@dataclass(frozen=True)
class Matching:
    """A head that looks for the latest key that equals its query.

    Attributes:
        query: ``(d, k)``; likewise ``key``.
        positions: ``(T + 1, d)``, the position embedding.
        stream: What is known before the head.
        statement: The Program.
        reach: The values of each channel at BOS, and at later positions.
        precision: The format that it computes in.
    """

    query: FloatArray
    key: FloatArray
    positions: FloatArray
    stream: Stream
    statement: Statement
    reach: Mapping[str, Reach]
    precision: Precision

    def worst(self, key: str, query: str) -> tuple[float, float, Scores]:
        """The worst leak and smallest gap over all words, and the scores.

        Raises:
            Rejected: If a channel is not there, or the query depends on the position.
        """
        wanted = sorted(self.reach[query].later)
        found = sorted(self.reach[key].later)
        scores = compared(self._queries(query, wanted), self._keys(key, found))
        first, later = scores.value[0], scores.value[1:]
        later = later.reshape(-1, len(found), len(wanted))
        leak, gap = 0.0, np.inf
        for i, value in enumerate(wanted):
            equal = np.array(found) == value
            pair = _matched(float(first[i]), later[:, :, i], equal)
            worst = leak_latest(pair, only_bos=not equal.any())
            leak, gap = max(leak, worst[0]), min(gap, worst[1])
        return leak, gap, scores

    def _queries(self, name: str, values: list[int]) -> Noisy:
        """``(values, k)``: the query for each value, the same at every position."""
        dimensions = np.flatnonzero(self.query.any(axis=1))
        fixed = self.positions[:, dimensions]
        if (fixed != fixed[0]).any():
            raise Rejected("the query of a head that matches depends on the position")
        x, rest = self._with_channel(fixed[:1], dimensions, name, values)
        return self._projected(x, rest, self.query[dimensions])

    def _keys(self, name: str, values: list[int]) -> Noisy:
        """``(1 + T·values, k)``: the key of BOS, then each value at each position."""
        dimensions = np.flatnonzero(self.key.any(axis=1))
        positions = self.positions[:, dimensions]
        if positions.size * len(values) > MOST_KEYS:
            raise Rejected(f"the key {name!r} has too many values to check")
        bos = [self.reach[name].bos]
        first = self._with_channel(positions[:1], dimensions, name, bos)
        later = self._with_channel(positions[1:], dimensions, name, values)
        x, rest = (np.concatenate(parts) for parts in zip(first, later, strict=True))
        return self._projected(x, rest, self.key[dimensions])

    def _with_channel(
        self,
        positions: FloatArray,
        dimensions: IntArray,
        name: str,
        values: Sequence[int],
    ) -> tuple[FloatArray, FloatArray]:
        """Features with each value of a channel, and their noise.

        Returns:
            Two arrays ``(positions·values, dimensions)``.
        """
        channel = self.statement.channels[name]
        if name not in self.stream.names:
            raise Rejected(f"{name!r} is not there where a head compares it")
        codes = np.zeros((len(values), self.positions.shape[1]))
        noise = np.zeros_like(codes)
        codes[:, channel.span] = channel.code(values)
        bound = self.stream.noise_at(channel, np.array(values))
        noise[:, channel.span] = bound[:, None]
        x = positions[:, None] + codes[:, dimensions]
        rest = np.broadcast_to(noise[:, dimensions], x.shape)
        flat = (len(positions) * len(values), len(dimensions))
        return x.reshape(flat), rest.reshape(flat)

    def _projected(self, x: FloatArray, rest: FloatArray, matrix: FloatArray) -> Noisy:
        noisy = Noisy(x, (), (), rest, self.precision)
        return noisy.affine(matrix, np.zeros(matrix.shape[1]))


def compared(q: Noisy, k: Noisy) -> Scores:
    """The scores of all keys ``(keys, queries)``, where queries may have noise.

    Raises:
        Rejected: If one can overflow.
    """
    precision, score = q.precision, k.accumulated(q.value.T)
    size_q, size_k = np.abs(q.value) + q.total, np.abs(k.value) + k.total
    largest = float((size_k @ size_q.T).max()) * INFLATION
    unit = precision.accumulator_unit
    # A kernel may store scores, which removes noise or adds a rounding, or not.
    error = max(float(score.total.max()), float(score.stored().total.max()))
    if q.total.any():
        # A query with noise is no exact weight: nothing is exact, nothing snaps.
        inherited = k.total @ np.abs(q.value).T + size_k @ q.total.T
        terms = size_q.shape[1] + 1
        error = float(inherited.max()) * INFLATION
        error += (2 * terms * unit + precision.unit) * largest
    error += 8 * unit * largest
    if not largest + error <= precision.largest:
        raise Rejected(f"scores can overflow in {precision.name}")
    return Scores(score.value, error, largest + error)


def _matched(first: float, later: FloatArray, equal: BoolArray) -> FloatArray:
    """``(2, T + 1)``: the highest score of each position, as a mismatch, as a match.

    Args:
        first: The score of BOS, which is right if nothing matches.
        later: ``(T, keys)``: the score of each key at each later position.
        equal: Which key is the query; at most one.
    """
    none = np.full((len(later), 1), -np.inf)
    mismatch = np.concatenate([later[:, ~equal], none], axis=1).max(axis=1)
    match = np.concatenate([later[:, equal], none], axis=1).max(axis=1)
    return np.array([[first, *mismatch], [first, *match]])
