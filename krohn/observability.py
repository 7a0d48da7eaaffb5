"""How observable a hidden Markov model is: γ, by linear programs.

It needs scipy's simplex, which `sources` may not import (docs/dependencies.md).
"""

from itertools import product

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.network.precision import FloatArray

MOST_STATES = 12
"""There are 2^(n−1) − 1 linear programs of n states: 2,047 of 12."""


def gamma(laws: FloatArray) -> float:
    """The least ‖O b − O b'‖₁ / ‖b − b'‖₁ of two laws b, b' of the state, exactly.

    The difference of two laws is (p − q)/2 times its norm, with p a law of some states
    and q one of the others. So for each way to part the states in two it is a linear
    program: the least ‖O(p − q)‖₁ / 2, the distance of two polytopes (assumption 2 of
    Hao et al. 2025, after Golowich et al. 2022).

    Args:
        laws: ``(words, n)``: O; each column is the law of what is said in a state.

    Raises:
        KrohnError: If there are too many states.
    """
    states = laws.shape[1]
    if states > MOST_STATES:
        raise KrohnError(
            f"observability needs 2^{states - 1} linear programs; they are solved for up "
            f"to {MOST_STATES} states"
        )
    sides = product((1.0, -1.0), repeat=states - 1)
    parted = [np.array([1.0, *signs]) for signs in sides if -1.0 in signs]
    return min((_nearest(laws, signs) for signs in parted), default=1.0)


def _nearest(laws: FloatArray, signs: FloatArray) -> float:
    """Half the L1 distance of the laws of the states of each sign."""
    from scipy.optimize import linprog

    words, states = laws.shape
    signed, slack = laws * signs, -np.eye(words)
    above = np.block([[signed, slack], [-signed, slack]])
    sums = np.zeros((2, states + words))
    sums[0, :states], sums[1, :states] = signs > 0, signs < 0
    costs = np.repeat([0.0, 0.5], [states, words])
    found = linprog(costs, above, np.zeros(2 * words), sums, [1, 1], method="highs")
    assert found.fun is not None, "two polytopes have a distance"
    return max(0.0, float(found.fun))
