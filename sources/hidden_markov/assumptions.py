"""What theorems about learning hidden Markov models in context assume, as numbers.

The names A1, A2 and A4 are those of Hao et al. 2025. A1: transitions have a low rank. A2
and A4: what is said in one step, or in M steps, tells laws of the state apart. (A3, of
which `benchmarks/model_memory.py` has the numbers: histories vary in all directions.)
"""

import numpy as np

from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.sources.hidden_markov.forms import undriven
from krohn.sources.hidden_markov.model import HiddenMarkovModel

MOST_NUMBERS = 2**22
"""Entries of the laws of all words that are listed at once."""
SAME = 1e-12
"""Up to this a letter's law is said to be the same from all states that lead to one."""


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
    demand(steps > 0, "an M-step operator needs at least one step")
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
