"""The errors of gradient descent on a prompt of a hidden Markov model, part by part.

The demonstrations begin in the model's start law, and so does the window that is asked
about as its predictor sees it (Hao et al. 2025, Theorem 1: model + generalisation +
optimisation error; its model error is split here into memory and linearity).
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.in_context.source import (
    InContext,
    Prompt,
    Regression,
    descent,
    least_squares,
    regression,
)
from krohn.program.domains import FloatArray
from krohn.program.errors import demand

MOST_WORDS = 2**16
"""How many words of L + M letters are listed at most."""


@dataclass(frozen=True)
class Population:
    """The predictor that a source would learn from infinitely many demonstrations.

    Attributes:
        likely: ``(p^L,)``: the probability of each window, the first letter slowest.
        laws: ``(p^L, p^M)``: the law of what follows it.
        weights: ``(p^M, pL)``: the best linear predictor W*, the least one of them.
    """

    likely: FloatArray
    laws: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, source: InContext, model: HiddenMarkovModel) -> "Population":
        """By listing all windows.

        Raises:
            Refused: If the model has other letters, or there are too many windows.
        """
        p, size = source.count, source.count**source.segment
        demand(len(model.letters) == p, f"{model.name} has other letters")
        demand(model.actions is None, f"the letters of {model.name} are chosen")
        demand(size <= MOST_WORDS, f"{size} words are too many to be listed")
        words = np.indices((p,) * source.segment).reshape(source.segment, -1).T
        log_likely = model.filter(words)[1].sum(axis=1)
        log_likely[np.isnan(log_likely)] = -np.inf  # after an impossible letter
        joint = np.exp(log_likely).reshape(p**source.window, -1)
        likely = joint.sum(axis=1)
        laws = joint / np.where(likely > 0, likely, 1)[:, None]
        windows = words[:: source.targets, : source.window]
        features = np.eye(p)[windows[:, ::-1]].reshape(len(windows), -1)
        covariance = features.T @ (likely[:, None] * features)
        inverse = np.linalg.pinv(covariance, rcond=1e-12, hermitian=True)
        return cls(likely, laws, joint.T @ features @ inverse)


@dataclass(frozen=True)
class Split:
    """Mean L1 distances between laws, from the true one to the one that is said.

    Attributes:
        memory: From the law given the whole history to that given its last L letters.
        linear: From there to the best linear one, W*z.
        generalisation: From there to the least squares solution of the prompt.
        optimisation: From there to where T_0 steps come.
        total: From the first to the last.
    """

    memory: float
    linear: float
    generalisation: float
    optimisation: float
    total: float


def prompts_of(
    source: InContext,
    model: HiddenMarkovModel,
    count: int,
    generator: np.random.Generator,
) -> list[Prompt]:
    """Prompts of a model, with all demonstrations and the longest history."""
    shape = (count, source.demonstrations, source.segment)
    rows, _ = model.sample(shape[0] * shape[1], shape[2], generator)
    tests, _ = model.sample(count, source.history, generator)
    return [
        Prompt(tuple(map(tuple, shown)), tuple(test))
        for shown, test in zip(
            rows.reshape(shape).tolist(), tests.tolist(), strict=True
        )
    ]


def split(source: InContext, model: HiddenMarkovModel, prompts: list[Prompt]) -> Split:
    """The parts of the error, in the mean over prompts with the longest history."""
    found = Population.of(source, model)
    problem = regression(source, prompts)
    tests = np.array([prompt.history for prompt in prompts])
    place = source.count ** np.arange(source.window)[::-1]
    true = _following(source, model, tests)
    laws = [
        true,
        found.laws[tests[:, -source.window :] @ place],
        problem.asked @ found.weights.T,
        _said(problem, least_squares(problem)),
        _said(problem, descent(problem)),
    ]
    ways = [*pairwise(laws), (laws[0], laws[-1])]
    return Split(*(float(np.abs(a - b).sum(axis=1).mean()) for a, b in ways))


def _said(problem: Regression, weights: FloatArray) -> FloatArray:
    found: FloatArray = (weights @ problem.asked[:, :, None])[:, :, 0]
    return found


def _following(
    source: InContext, model: HiddenMarkovModel, tests: FloatArray
) -> FloatArray:
    """``(prompts, p^M)``: the law of the next M letters after whole histories."""
    beliefs = model.filter(tests)[0][:, -1]
    joint = beliefs[:, None]
    for _ in range(source.ahead):
        joint = np.einsum("ots,bws->bwot", model.operators, joint)
        joint = joint.reshape(len(beliefs), -1, model.size)
    found: FloatArray = joint.sum(axis=2)
    return found
