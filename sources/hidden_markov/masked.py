"""Masked prediction: the mean of one letter, or of two, given another (Liu 2024, 2.2).

A stationary chain of k hidden states says a letter, or a point, in each. The best guess of
x_a, or of x_a ⊗ x_b, after x_c alone is linear in the posterior φ of the state h_c:
E[x_a ⊗ x_b | x_c] = Σ_j φ_j(x_c) E[x_a ⊗ x_b | h_c = j]. Letters are unit vectors here, so
their mean is their law.
"""

import re
from dataclasses import dataclass
from typing import Self

import numpy as np

from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.sources.hidden_markov.model import SUM, HiddenMarkovModel

LATEST = 9
"""The last time that a task names: times are digits."""
_TASK = re.compile(r"(?P<predicted>[1-9]{1,2})given(?P<given>[1-9])")


@dataclass(frozen=True)
class Task:
    """What is predicted, given what.

    Attributes:
        predicted: One time, or two that ascend.
        given: The time of the token that is known; another one.
    """

    predicted: tuple[int, ...]
    given: int

    def __post_init__(self) -> None:
        times = (*self.predicted, self.given)
        ascends = list(self.predicted) == sorted(set(self.predicted))
        few = len(self.predicted) in (1, 2) and all(1 <= t <= LATEST for t in times)
        apart = self.given not in self.predicted
        demand(
            few and ascends and apart,
            f"{self} is no task: one time from 1 to {LATEST} is predicted, or two that "
            "ascend, given another, as 2given1 or 13given2",
        )

    def __str__(self) -> str:
        return f"{''.join(map(str, self.predicted))}given{self.given}"

    @classmethod
    def of(cls, text: str) -> Self:
        """The task of a name such as ``23given1``.

        Raises:
            Refused: If it is none.
        """
        found = _TASK.fullmatch(text)
        known = "one time or two that ascend, given another, as 2given1 or 13given2"
        demand(found is not None, f"{text!r} is no task; say {known}")
        assert found is not None
        return cls(tuple(map(int, found["predicted"])), int(found["given"]))


def stationary(transitions: FloatArray) -> FloatArray:
    """``(k,)``: the only law that a step keeps; uniform ones exactly.

    Args:
        transitions: ``(k, k)``: T[s', s] = Pr(s' | s); columns add up to 1.

    Raises:
        Refused: If there are several.
    """
    size = len(transitions)
    if (np.abs(transitions.sum(axis=1) - 1) <= SUM).all():
        return np.full(size, 1 / size)
    system = np.vstack([transitions - np.eye(size), np.ones(size)])
    law, _, rank, _ = np.linalg.lstsq(system, np.eye(size + 1)[size], rcond=None)
    demand(rank == size, "the chain has more than one stationary law")
    positive = np.maximum(law, 0)
    found: FloatArray = positive / positive.sum()
    return found


def reversed_chain(transitions: FloatArray, prior: FloatArray) -> FloatArray:
    """``(k, k)``: Pr(h_t = i | h_{t+1} = j) of the stationary chain.

    Raises:
        Refused: If a state never occurs.
    """
    demand(prior > 0, "a state of the chain never occurs")
    back: FloatArray = prior[:, None] * transitions.T / prior
    return back


def given_state(
    task: Task, emissions: FloatArray, transitions: FloatArray, prior: FloatArray
) -> FloatArray:
    """``(k, d)`` or ``(k, d, d)``: E[x_a | h_c = j], or E[x_a ⊗ x_b | h_c = j].

    Args:
        task: What is predicted.
        emissions: ``(d, k)``: the mean of x in each state: laws of letters, or points.
        transitions: ``(k, k)``: T[s', s] = Pr(s' | s).
        prior: ``(k,)``: the stationary law.
    """

    def steps(start: int, end: int) -> FloatArray:
        """The law of h_end in each state of h_start."""
        step = transitions if end > start else reversed_chain(transitions, prior)
        found: FloatArray = np.linalg.matrix_power(step, abs(end - start))
        return found

    given, first, last = task.given, task.predicted[0], task.predicted[-1]
    if first == last:
        one: FloatArray = (emissions @ steps(given, first)).T
        return one
    if first < given < last:
        before, after = (emissions @ steps(given, t) for t in (first, last))
        around: FloatArray = np.einsum("aj,bj->jab", before, after)
        return around
    near, far = (first, last) if given < first else (last, first)
    at, then = steps(given, near), emissions @ steps(near, far)
    found: FloatArray = np.einsum("ij,ai,bi->jab", at, emissions, then)
    return found if near == first else found.transpose(0, 2, 1)


def letter_posterior(emissions: FloatArray, prior: FloatArray) -> FloatArray:
    """``(d, k)``: Pr(h | x), a row for each letter.

    Raises:
        Refused: If no state says a letter.
    """
    joint = emissions * prior
    demand(joint.sum(axis=1) > 0, "no state says one of the letters")
    found: FloatArray = joint / joint.sum(axis=1, keepdims=True)
    return found


def predictor(
    task: Task,
    emissions: FloatArray,
    transitions: FloatArray,
    prior: FloatArray | None = None,
) -> FloatArray:
    """``(d, d)`` or ``(d, d, d)``: what is predicted, for each letter that is given.

    Args:
        task: What is predicted.
        emissions: ``(d, k)``: O[o, s] = Pr(o | s).
        transitions: ``(k, k)``: T[s', s] = Pr(s' | s).
        prior: ``(k,)``: the stationary law; found if absent.
    """
    law = stationary(transitions) if prior is None else prior
    values = given_state(task, emissions, transitions, law)
    found: FloatArray = np.tensordot(letter_posterior(emissions, law), values, axes=1)
    return found


def factors(model: HiddenMarkovModel) -> tuple[FloatArray, FloatArray]:
    """Emissions ``(d, k)`` and transitions ``(k, k)``, of letters said in states.

    Raises:
        Refused: If the letter depends on the step, and not on the state alone; if letters
            are chosen; or if nothing leads to a state.
    """
    demand(model.actions is None, f"the letters of {model.name} are chosen")
    transitions = model.operators.sum(axis=0)
    into = transitions.sum(axis=1)
    demand(into > 0, f"a state of {model.name} is never reached")
    emissions = model.operators.sum(axis=2) / into
    near = np.abs(emissions[:, :, None] * transitions - model.operators) <= SUM
    demand(near, f"{model.name} emits letters on steps, not in states")
    return emissions, transitions
