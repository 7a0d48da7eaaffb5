"""Attention dilution: a softmax over many scores leaves little for each (Proposition 4).

docs/proofs/limits.md has the theorems and their proofs.
"""

from dataclasses import dataclass

import numpy as np

from krohn.network.precision import FloatArray


def holds_among(spread: float, weight: float) -> float:
    """Among how many positions a weight above 0 can be held; ∞ if a float cannot say.

    Beyond it no position has this weight, whatever the word is.
    """
    with np.errstate(over="ignore"):
        return float(np.floor(1.0 + np.exp(spread) * (1.0 - weight) / weight))


def spread_of_norms(query: FloatArray, key: FloatArray, norm: float) -> float:
    """2σB²: how far two scores of one query can differ (Proposition 4).

    Args:
        query: ``(d, k)``.
        key: ``(d, k)``; the score is (x·query)·(y·key).
        norm: B: no x and y are longer.
    """
    asks, answers = np.linalg.qr(query).R, np.linalg.qr(key).R
    return 2.0 * float(np.linalg.norm(asks @ answers.T, 2)) * norm**2


@dataclass(frozen=True)
class Sharpest:
    """The most weight that any word gives, at each length.

    Attributes:
        earlier: ``(T,)``: to some one letter before the last of 1, …, T, which looks.
        first: ``(T,)``: to the first letter.
    """

    earlier: FloatArray
    first: FloatArray


def sharpest(
    query: FloatArray, key: FloatArray, tokens: FloatArray, positions: FloatArray
) -> Sharpest:
    """The largest weights that a head on the embedding can reach; words attain them.

    Args:
        query: ``(d, k)``.
        key: ``(d, k)``.
        tokens: ``(letters + 1, d)``: the embedding of each letter, BOS last.
        positions: ``(T + 1, d)``: of each position, BOS at 0.
    """
    rows = [_at(t, query, key, tokens, positions) for t in range(1, positions.shape[0])]
    earlier, first = np.array(rows, dtype=np.float64).reshape(-1, 2).T
    return Sharpest(earlier, first)


def _at(
    t: int,
    query: FloatArray,
    key: FloatArray,
    tokens: FloatArray,
    positions: FloatArray,
) -> tuple[float, float]:
    """The most weight on one earlier letter, and on the first, as seen from t."""
    letters = tokens[:-1]
    queries = (letters + positions[t]) @ query
    seen = letters[:, None] + positions[1:t]
    scores = np.einsum("qk,ljk->qlj", queries, seen @ key)
    bos = (tokens[-1] + positions[0]) @ key
    itself = (letters + positions[t]) @ key
    # BOS and the letter itself are given; the letters between are free.
    fixed = np.stack([queries @ bos, (queries * itself).sum(axis=1)], axis=1)
    high = np.concatenate([scores.max(axis=1, initial=-np.inf), fixed], axis=1)
    low = np.concatenate([scores.min(axis=1, initial=np.inf), fixed], axis=1)
    weights = _alone(high, low)
    first = weights[:, 0 if t > 1 else -1]
    return float(weights[:, :-2].max(initial=0.0)), float(first.max())


def _alone(high: FloatArray, low: FloatArray) -> FloatArray:
    """The weight of each position at its highest, all others at their lowest."""
    none = np.full((len(low), 1), -np.inf)
    before = np.logaddexp.accumulate(np.hstack([none, low[:, :-1]]), axis=1)
    behind = np.logaddexp.accumulate(np.hstack([none, low[:, :0:-1]]), axis=1)
    rivals = np.logaddexp(before, behind[:, ::-1])
    with np.errstate(over="ignore"):
        weights: FloatArray = 1.0 / (1.0 + np.exp(rivals - high))
    return weights


def last_at_least(weights: FloatArray, weight: float) -> int:
    """The last of the lengths 1, 2, … at which a weight is reached; 0 if none is."""
    reached = np.flatnonzero(weights >= weight)
    return int(reached[-1]) + 1 if len(reached) else 0


def kept_apart(queries: float, keys: float, rank: int, weight: float) -> float:
    """How many positions of a word can each be given a weight by some query, at most.

    Args:
        queries: No query is longer.
        keys: No key is longer.
        rank: Of the bilinear form of the scores.
        weight: Above 1/2.

    Returns:
        (1 + 2·queries·keys / ln(weight/(1 − weight)))^rank; ∞ if a float cannot say.
    """
    gap = np.log(weight / (1.0 - weight))
    with np.errstate(over="ignore"):
        return float(np.floor(np.float64(1.0 + 2.0 * queries * keys / gap) ** rank))


def rank_of(query: FloatArray, key: FloatArray) -> int:
    """The rank of the scores' bilinear form, for matrices ``(d, k)``."""
    asks, answers = np.linalg.qr(query).R, np.linalg.qr(key).R
    return int(np.linalg.matrix_rank(asks @ answers.T))
