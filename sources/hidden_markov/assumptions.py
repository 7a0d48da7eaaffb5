"""What theorems about learning hidden Markov models in context assume, as numbers.

The names A1 to A4 are those of Hao et al. 2025. A1: transitions have a low rank. A2 and
A4: what is said in one step, or in M steps, tells laws of the state apart. A3: histories
vary in all directions.
"""

import numpy as np

from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.sources.hidden_markov.forms import undriven
from krohn.sources.hidden_markov.memory import MOST_NUMBERS
from krohn.sources.hidden_markov.model import HiddenMarkovModel

SAME = 1e-12
"""Up to this a letter's law is said to be the same from all states that lead to one."""
MOST_ROWS = 1024
"""Entries of a history whose covariance is looked at."""


def rank(model: HiddenMarkovModel) -> int:
    """A1: the rank of the transitions, d in Pr(s' | s) = ⟨μ(s'), φ(s)⟩."""
    return int(np.linalg.matrix_rank(undriven(model).operators.sum(axis=0)))


def emissions(model: HiddenMarkovModel) -> FloatArray | None:
    """``(letters, n)``: Pr(o | s) of the letter with which s is entered.

    None if it depends on the state before too: then letters are on edges only. From a
    state that is never entered all letters are said to be as likely.
    """
    operators = undriven(model).operators
    step = operators.sum(axis=0)
    entered = step.sum(axis=1)
    shares = np.divide(
        operators.sum(axis=2),
        entered,
        out=np.full(operators.shape[:2], 1 / len(operators)),
        where=entered > 0,
    )
    off = np.abs(shares[:, :, None] * step - operators).max()
    return shares if off <= SAME else None


def observed(model: HiddenMarkovModel, steps: int = 1) -> FloatArray:
    """``(letters^M, n)``: the law of M letters given the state, the M-step operator.

    The first letter is the one with which the state is entered, if that is all it depends
    on, as the paper has it: column s is the law of o_t, …, o_{t+M−1} given s_t = s. For
    other models it is the first letter after the state.

    Args:
        model: The model.
        steps: M.

    Raises:
        Refused: If there are too many words of M letters, or M is no number of letters.
    """
    demand(steps > 0, "an M-step operator has a step")
    letters = len(model.letters)
    few = letters ** min(steps, 64) * model.size <= MOST_NUMBERS
    demand(few, f"{letters}^{steps} words are too many to be listed")
    operators, own = undriven(model).operators, emissions(model)
    later = np.ones((1, model.size))  # of each word, the probability from each state
    for _ in range(steps if own is None else steps - 1):
        later = np.einsum("wt,ots->ows", later, operators).reshape(-1, model.size)
    if own is None:
        return later
    law: FloatArray = (own[:, None] * later).reshape(-1, model.size)
    return law


def history_spread(model: HiddenMarkovModel, letters: int) -> FloatArray:
    """A3: the eigenvalues of E z zᵀ, ascending; z is L letters as unit vectors in a row.

    Each letter's entries add up to 1, so L − 1 eigenvalues are 0 for every model: for
    L ≥ 2 the assumption that the least is positive never holds. Gradient descent from 0
    stays in the span of the histories, where the least positive one counts.

    Args:
        model: The model, from its start on; actions are uniform.
        letters: L.

    Raises:
        Refused: If there are too many letters, or none.
    """
    count, model = len(model.letters), undriven(model)
    few = 0 < letters and letters * count <= MOST_ROWS
    demand(few, f"a history has 1 to {MOST_ROWS} entries")
    spread = np.zeros((letters, count, letters, count))
    reached = [model.start]
    for _ in range(letters):
        reached.append(model.operators.sum(axis=0) @ reached[-1])
    for first in range(letters):
        after = model.operators * reached[first]  # (letter, state after, state before)
        after = after.sum(axis=2)
        spread[first, :, first] = np.diag(after.sum(axis=1))
        for second in range(first + 1, letters):
            both = after @ model.operators.sum(axis=1).T
            spread[first, :, second], spread[second, :, first] = both, both.T
            after = after @ model.operators.sum(axis=0).T
    size = letters * count
    values = np.linalg.eigvalsh(spread.reshape(size, size))
    return np.asarray(values, np.float64)
