"""How much the last L letters say of what all of them say: by exact enumeration.

It is what assumption A3 and Lemma 1 of Hao et al. 2025 are about.
"""

from math import log
from typing import NamedTuple

import numpy as np

from krohn.kinds.hidden_markov.source import randomise_actions
from krohn.kinds.hidden_markov.source_model import HiddenMarkovModel
from krohn.kinds.hidden_markov.source_structure import MOST_NUMBERS
from krohn.program.domains import FloatArray
from krohn.program.errors import demand

MOST_ROWS = 1024
"""Entries of a history whose covariance is looked at."""


class Forgotten(NamedTuple):
    """The loss if only the last L letters are filtered, for L = 1, 2, ….

    Attributes:
        letters: ``(most,)``: E ‖Pr(o | all letters) − P_L(o | the last L)‖₁, o the next.
        beliefs: ``(most,)``: the same of the law of the state.
    """

    letters: FloatArray
    beliefs: FloatArray


def stationary(model: HiddenMarkovModel) -> FloatArray:
    """``(n,)``: a law of the state that a step does not change; actions are uniform."""
    step = randomise_actions(model).operators.sum(axis=0)
    system = np.vstack([step - np.eye(model.size), np.ones(model.size)])
    law = np.linalg.lstsq(system, np.eye(model.size + 1)[-1], rcond=None)[0]
    law = np.maximum(law, 0)
    found: FloatArray = law / law.sum()
    return found


def forgotten(model: HiddenMarkovModel, length: int, most: int) -> Forgotten:
    """The errors of L-memory predictors after words of a length (Hao et al. 2025).

    P_L begins in the stationary law, whatever came before the last L letters. If no state
    can say these letters, it says the stationary law again. All words are listed, each
    with its probability: nothing is sampled.

    Args:
        model: The model; actions are uniform.
        length: Of the words.
        most: The largest L, less than ``length``.

    Raises:
        Refused: If there are too many words to list, or no L.
    """
    demand(
        0 < most < length,
        "a memory has at least one letter and is shorter than the words",
    )
    model = randomise_actions(model)
    words = len(model.letters) ** min(length, 64)
    demand(
        words * model.size <= MOST_NUMBERS,
        f"{len(model.letters)}^{length} words are too many to be listed",
    )
    likely, full = _normalised(_listed(model, model.start, length), model.start)
    prior, letters, beliefs = stationary(model), list[float](), list[float]()
    for window in range(1, most + 1):
        _, short = _normalised(_listed(model, prior, window), prior)
        apart = full.reshape(-1, *short.shape) - short
        said = np.abs(model.predict(apart)).sum(axis=2).ravel()
        letters.append(float(likely @ said))
        beliefs.append(float(likely @ np.abs(apart).sum(axis=2).ravel()))
    return Forgotten(np.array(letters), np.array(beliefs))


def _listed(model: HiddenMarkovModel, start: FloatArray, length: int) -> FloatArray:
    """``(letters^length, n)``: A_w start for each word w, in the order of numbers."""
    found = start[None]
    for _ in range(length):
        found = np.einsum("ots,ws->wot", model.operators, found)
        found = found.reshape(-1, model.size)
    return found


def _normalised(joint: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Probabilities of words, and beliefs after them; another law if they are 0."""
    total = joint.sum(axis=1)
    beliefs = np.where(total[:, None] > 0, joint, other)
    return total, beliefs / beliefs.sum(axis=1, keepdims=True)


def stated_memory(gamma: float, rank: int, error: float) -> float:
    """γ⁻⁴ ln(d/ε): how L grows in the bound for observable models, without its constant.

    Args:
        gamma: How observable the model is; above 0.
        rank: d, the rank of the transitions.
        error: ε, of the law of the next letter, in L1.
    """
    return log(rank / error) / gamma**4


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
    count, model = len(model.letters), randomise_actions(model)
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
