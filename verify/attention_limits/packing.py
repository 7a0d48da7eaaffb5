"""How many positions a head can tell apart: vectors that differ need room.

docs/independent.md, section 3.
"""

import numpy as np

from krohn.network.precision import FloatArray


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
