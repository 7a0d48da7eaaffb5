"""Models that predict the same, and which predictions tell them apart (Liu 2024, 2.2)."""

from itertools import permutations

import numpy as np
import pytest
from model_aliases import mirrored, turned

from krohn.kinds.hidden_markov.source_masked import (
    PRINTED,
    freedom,
    predictor,
    same_power,
)
from krohn.kinds.hidden_markov.statement_masked import Task
from krohn.program.domains import FloatArray
from krohn.program.errors import Refused
from tests.kinds.hidden_markov.test_masked import chain

PAIRWISE = tuple(Task.of(f"{t}given1") for t in (2, 3, 4))
TRIPLE = tuple(Task.of(text) for text in ("23given1", "13given2", "12given3"))
UNIFORM = np.full(3, 1 / 3)


def apart(task: Task, *models: tuple[FloatArray, FloatArray]) -> float:
    one, other = (predictor(task, *model, UNIFORM) for model in models)
    return float(np.abs(one - other).max())


def renamed(one: FloatArray, other: FloatArray) -> float:
    """How far the transitions are apart, after the best renaming of states."""
    orders = permutations(range(len(one)))
    return min(float(np.abs(one[np.ix_(p, p)] - other).max()) for p in orders)


@pytest.mark.parametrize("task", PAIRWISE, ids=str)
def test_the_printed_pair_is_equal_on_pairs(task: Task) -> None:
    assert apart(task, *PRINTED) <= 2 * 5e-9  # digits are rounded


@pytest.mark.parametrize(
    ("task", "least"), list(zip(TRIPLE, (1.6e-4, 1e-5, 1.6e-4), strict=True)), ids=str
)
def test_the_printed_pair_differs_on_triples(task: Task, least: float) -> None:
    assert apart(task, *PRINTED) >= least


def test_23given1_differs_by_as_much_as_is_said() -> None:
    assert apart(TRIPLE[0], *PRINTED) == pytest.approx(1.65e-4, rel=0.01)


def test_a_turned_model_is_equal_to_the_last_digit() -> None:
    model, other = PRINTED[0], turned(*PRINTED[0], 0.05)
    assert renamed(model[1], other[1]) > 0.02
    assert max(apart(task, model, other) for task in PAIRWISE) <= 1e-15
    assert min(apart(task, model, other) for task in TRIPLE) >= 1e-5


def test_a_model_turned_too_far_is_refused() -> None:
    with pytest.raises(Refused, match="negative"):
        turned(np.eye(3), PRINTED[0][1], 0.3)


@pytest.mark.parametrize("power", range(2, 13))
def test_powers_do_not_determine_a_matrix(power: int) -> None:
    one, other = same_power(power)
    for matrix in (one, other):
        assert (matrix >= 0).all()
        for axis in (0, 1):
            assert np.abs(matrix.sum(axis=axis) - 1).max() <= 1e-15
    raised = [np.linalg.matrix_power(matrix, power) for matrix in (one, other)]
    assert np.abs(raised[0] - raised[1]).max() <= 1e-15
    assert renamed(one, other) > 1e-3 or power == 3


def test_the_third_power_has_an_alias_that_is_a_renaming_of_no_state() -> None:
    one, other = same_power(3)
    assert (other == 0).any()
    assert np.abs(one - other).max() > 0.4


def test_the_mirrored_means_are_no_model() -> None:
    random = np.random.default_rng(3)
    means = random.standard_normal((4, 3))
    means /= np.linalg.norm(means, axis=0)
    step = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]])
    other, moved = mirrored(means, step)
    points = random.standard_normal((50, 4))

    def law(centres: FloatArray) -> FloatArray:
        weights = np.exp(points @ centres)
        return weights / weights.sum(axis=1, keepdims=True)

    assert np.abs(law(means) - law(other)).max() <= 1e-14
    said = [law(m) @ (m @ t).T for m, t in ((means, step), (other, moved))]
    assert np.abs(said[0] - said[1]).max() <= 1e-13
    assert np.abs(moved.sum(axis=0) + 1).max() <= 1e-12  # so that this is no law


def test_how_far_predictions_leave_a_model_free() -> None:
    emissions, _, _ = chain(4, 3)
    doubly = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]])
    assert freedom(PAIRWISE[:1], emissions, doubly) > 0  # Theorem 4
    assert freedom(PAIRWISE, *PRINTED[0]) > 0  # Theorem 6
    for task in TRIPLE:  # Theorem 7
        assert freedom([task], emissions, doubly) == 0
        assert freedom([task], *PRINTED[0]) == 0
