"""What is predicted of letters given another: as a sum over all states says."""

from itertools import product

import numpy as np
import pytest

from krohn.kinds.hidden_markov.source import find_by_name
from krohn.kinds.hidden_markov.source_masked import (
    factors,
    predictor,
    reversed_chain,
    stationary,
)
from krohn.kinds.hidden_markov.statement_masked import Task
from krohn.program.domains import FloatArray
from krohn.program.errors import Refused


def chain(
    letters: int, states: int, seed: int = 0
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Emissions, transitions and the stationary law."""
    random = np.random.default_rng(seed)
    emissions = random.dirichlet(np.ones(letters), states).T
    transitions = random.dirichlet(np.ones(states), states).T
    return emissions, transitions, stationary(transitions)


def enumerated(
    task: Task, emissions: FloatArray, transitions: FloatArray, prior: FloatArray
) -> FloatArray:
    """Pr(x_a, x_b | x_c), by summing over every path of hidden states."""
    letters, states = emissions.shape
    times = (task.given, *task.predicted)
    joint = np.zeros((letters,) * len(times))
    for path in product(range(states), repeat=max(times)):
        steps = zip(path[1:], path, strict=False)
        likely = prior[path[0]] * np.prod([transitions[i, j] for i, j in steps])
        said = [emissions[:, path[t - 1]] for t in times]
        joint += likely * (
            np.einsum("a,b->ab", *said)
            if len(times) == 2
            else np.einsum("a,b,c->abc", *said)
        )
    axes = tuple(range(1, len(times)))
    return joint / joint.sum(axis=axes, keepdims=True)


TASKS = "2given1 5given1 1given2 1given4 23given1 13given2 12given3 24given1 14given3"


@pytest.mark.parametrize("task", TASKS.split())
@pytest.mark.parametrize(("letters", "states"), [(3, 2), (4, 3), (2, 4)])
def test_predictions_are_those_of_all_paths(
    task: str, letters: int, states: int
) -> None:
    model = chain(letters, states)
    right = enumerated(Task.of(task), *model)
    assert np.abs(predictor(Task.of(task), *model) - right).max() <= 1e-12


def test_formulas_of_a_doubly_stochastic_chain() -> None:
    emissions, _, _ = chain(4, 3)
    step = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]])
    likely = emissions / emissions.sum(
        axis=1, keepdims=True
    )  # φ, a row for each letter
    for n in (1, 2, 3):
        right = likely @ (emissions @ np.linalg.matrix_power(step, n)).T
        found = predictor(Task((1 + n,), 1), emissions, step)
        assert np.abs(found - right).max() <= 1e-12
    onward, after = emissions @ step, emissions @ step.T
    both = np.einsum("ix,ai,bi->xab", step @ likely.T, emissions, onward)
    assert np.abs(predictor(Task.of("23given1"), emissions, step) - both).max() <= 1e-12
    around = np.einsum("xi,ai,bi->xab", likely, after, onward)
    found = predictor(Task.of("13given2"), emissions, step)
    assert np.abs(found - around).max() <= 1e-12


def test_a_chain_backwards_has_the_same_stationary_law() -> None:
    _, transitions, prior = chain(3, 4)
    back = reversed_chain(transitions, prior)
    assert np.abs(back.sum(axis=0) - 1).max() <= 1e-12
    assert np.abs(back @ prior - prior).max() <= 1e-12
    assert np.abs(reversed_chain(back, prior) - transitions).max() <= 1e-12


def test_a_stationary_law_does_not_jump_where_it_is_nearly_uniform() -> None:
    """T(1/3 + x) = 1/3 + x, though x is small: the rows add up to 1 nearly."""
    uniform = np.array([[0.0, 0.8, 0.2], [0.8, 0.2, 0.0], [0.2, 0.0, 0.8]])
    moved = uniform + 1e-10 * np.array([[1.0, 1, 1], [0, 0, 0], [-1, -1, -1]])
    law = stationary(moved)
    assert np.abs(moved @ law - law).max() <= 1e-15
    assert np.abs(law - 1 / 3).max() > 1e-11


def test_two_stationary_laws_are_refused() -> None:
    apart = np.array([[1, 0, 0.5], [0, 1, 0.25], [0, 0, 0.25]])
    with pytest.raises(Refused, match="more than one stationary"):
        stationary(apart)


@pytest.mark.parametrize(
    "text", ["1given1", "12given2", "21given3", "123given4", "2given0", "given1", ""]
)
def test_what_is_no_task_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="no task"):
        Task.of(text)


def test_tasks_are_told_as_they_are_named() -> None:
    assert [str(Task.of(text)) for text in TASKS.split()] == TASKS.split()


def test_factors_of_a_model_that_says_letters_in_states() -> None:
    model = find_by_name("RanHMM3,4@1")
    assert model is not None
    emissions, transitions = factors(model)
    again = emissions[:, :, None] * transitions
    assert np.abs(again - model.operators).max() <= 1e-15


@pytest.mark.parametrize("name", ["EvenProcess", "RRXOR"])
def test_letters_on_steps_have_no_factors(name: str) -> None:
    model = find_by_name(name)
    assert model is not None
    with pytest.raises(Refused, match="on steps"):
        factors(model)
