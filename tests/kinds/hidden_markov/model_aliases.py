"""Models that predict the same as others (Liu 2024, section 2.2)."""

import numpy as np

from krohn.kinds.hidden_markov.source_masked import (
    Pair,
    rotation,
)
from krohn.program.domains import FloatArray
from krohn.program.errors import demand


def turned(emissions: FloatArray, transitions: FloatArray, angle: float) -> Pair:
    """O Rᵀ and R T Rᵀ, for a rotation R about (1, 1, 1): the same pairwise predictions.

    The law of two letters is O Tⁿ Oᵀ / 3, which R leaves as it is. Predictions are that,
    divided by the law of the letter given, O·1/3, which R leaves as well.

    Args:
        emissions: ``(d, 3)``: O.
        transitions: ``(3, 3)``: T, doubly stochastic.
        angle: By how much R turns.

    Raises:
        Refused: If what comes out is no probability.
    """
    turn = rotation(angle)
    found = emissions @ turn.T, turn @ transitions @ turn.T
    demand(min(x.min() for x in found) >= 0, "turned so far, a probability is negative")
    return found


def mirrored(means: FloatArray, transitions: FloatArray) -> Pair:
    """HM, with the T̃ that predicts the same: its columns add up to −1, so it is no law.

    H mirrors the means at the hyperplane through the origin that is parallel to theirs. It
    leaves all posteriors as they are, if the means have one norm (Lemma 7).

    Args:
        means: ``(d, k)``: M, of full rank and with columns of one norm.
        transitions: ``(k, k)``: T.
    """
    normal = np.linalg.pinv(means).T.sum(axis=1)
    normal /= np.linalg.norm(normal)
    mirror = np.eye(len(means)) - 2 * np.outer(normal, normal)
    other = mirror @ means
    return other, np.linalg.pinv(other) @ means @ transitions
