"""The reference: gradient descent on windows, in float64 and without any error."""

import numpy as np
import pytest

from krohn.kinds.in_context.source import (
    InContext,
    Prompt,
    condition,
    descent,
    exactly,
    find_by_name,
    least_squares,
    marginal,
    regression,
    rounding,
)


def of(name: str) -> InContext:
    found = find_by_name(name)
    assert found is not None
    return found


NAMES = (
    "InContext3,1",
    "InContext3,3:demonstrations=7",
    "InContext2,2:ahead=2,steps=5",
)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", NAMES)
def test_float64_is_as_near_to_the_exact_law_as_is_said(name: str) -> None:
    source = of(name)
    prompts = source.sample_prompts(16, np.random.default_rng(2))
    problem = regression(source, prompts)
    laws = (descent(problem) @ problem.asked[:, :, None])[:, :, 0]
    right = [[float(x) for x in exactly(source, prompt)] for prompt in prompts]
    assert np.abs(laws - right).max() <= rounding(source) < 1e-12


def test_one_step_is_the_mean_of_the_targets_of_windows_that_agree() -> None:
    """From W = 0: W z = (1/nL) Σ y_k (z_k·z)."""
    source = of("InContext3,2:demonstrations=4,steps=1")
    prompt = Prompt(((0, 1, 2), (2, 1, 0), (0, 2, 1)), (0, 1))
    said = [float(x) for x in exactly(source, prompt)]
    assert said == [1 / 8, 1 / 8, 2 / 8]


@pytest.mark.parametrize("name", NAMES)
def test_no_curvature_is_above_l_and_the_same_window_everywhere_reaches_it(
    name: str,
) -> None:
    source = of(name)
    prompts = source.sample_prompts(32, np.random.default_rng(3))
    values = np.linalg.eigvalsh(regression(source, prompts).covariance)
    assert values[:, -1].max() == pytest.approx(source.window, abs=1e-12)
    assert values.max() <= source.window + 1e-12


@pytest.mark.parametrize("window", [2, 3])
def test_l_less_one_eigenvalues_are_always_0(window: int) -> None:
    """Gap 1: every block of a window sums to 1, so assumption A3 never holds."""
    source = of(f"InContext3,{window}:demonstrations=200")
    problem = regression(source, source.sample_prompts(1, np.random.default_rng(4)))
    values = np.linalg.eigvalsh(problem.covariance[0])
    assert (values < 1e-12).sum() == window - 1


def test_it_goes_to_the_least_solution_as_fast_as_the_condition_says() -> None:
    """‖W_t − W*‖ ≤ (1 − 1/κ)^t ‖W*‖: descent from 0 stays in the span of the windows."""
    source = of("InContext3,2:demonstrations=40,steps=200")
    problem = regression(source, source.sample_prompts(1, np.random.default_rng(5)))
    goal, kappa = least_squares(problem), condition(problem)[0]
    assert 2 < kappa < 100
    for steps in (1, 10, 50, 200):
        off = np.linalg.norm(descent(problem, steps) - goal)
        assert off <= (1 - 1 / kappa) ** steps * np.linalg.norm(goal) + 1e-12


def test_weights_are_bounded_by_the_root_of_the_steps() -> None:
    """‖w_t‖ ≤ √(t/L), the bound of Theorem W12, for every row and prompt."""
    for name in NAMES:
        source = of(name)
        problem = regression(
            source, source.sample_prompts(64, np.random.default_rng(6))
        )
        for steps in (1, 2, 5, source.steps):
            rows = np.linalg.norm(descent(problem, steps), axis=2)
            assert rows.max() <= (steps / source.window) ** 0.5


def test_the_next_letter_is_the_first_of_the_tuple() -> None:
    source = of("InContext3,1:ahead=2")
    laws = np.zeros(9)
    laws[source.classes.index("2 3")] = 0.25
    laws[source.classes.index("2 1")] = 0.5
    assert marginal(source, laws).tolist() == [0, 0.75, 0]
