"""Linear dynamical systems: the Kalman filter beside conditioning a normal law."""

import numpy as np
import pytest

from krohn.kinds.linear_systems.source import (
    FORGETTING,
    GOLDEN,
    LinearDynamics,
    mixing_time,
    named_dynamics,
)
from krohn.program.errors import Refused


def system(name: str = "RanLDS5@3") -> LinearDynamics:
    found = named_dynamics(name)
    assert found is not None
    return found


def conditioned(source: LinearDynamics, observed: np.ndarray) -> np.ndarray:
    """E[x_T | y_1 … y_T] from the joint normal law of all states and observations."""
    length, size = observed.shape
    a, b = source.transition, source.observation
    power = [np.linalg.matrix_power(a, t) for t in range(length + 1)]
    means = np.array([power[t] @ source.start for t in range(1, length + 1)])
    states = np.zeros((length, size, length, size))
    for s in range(length):
        for t in range(length):
            both = sum(power[s - r] @ power[t - r].T for r in range(min(s, t) + 1))
            states[s, :, t] = both
    said = np.einsum("ij,sjtk,lk->sitl", b, states, b).reshape(length * size, -1)
    said += np.eye(length * size)
    across = np.einsum("jtk,lk->jtl", states[-1], b).reshape(size, -1)
    surprise = (observed - means @ b.T).ravel()
    return means[-1] + across @ np.linalg.solve(said, surprise)


def test_the_filter_is_the_law_given_the_observations() -> None:
    source = system("RanLDS3@1")
    observed, _ = source.sample(2, 12, np.random.default_rng(0))
    means = source.filter(observed)
    for length in (1, 2, 12):
        for row in range(2):
            wanted = conditioned(source, observed[row, :length])
            assert np.allclose(means[row, length - 1], wanted, atol=1e-12)


def test_in_the_long_run_all_is_the_golden_ratio() -> None:
    source = system()
    assert abs(source.variances(60)[-1] - 1 / GOLDEN) < 1e-15
    assert np.allclose(source.losses(4), [2, 2.5, 2.6, 2.6153846], atol=1e-6)
    assert abs(source.losses(60)[-1] - 2.618034) < 1e-6
    assert abs(source.losses(120).mean() - 2.6117) < 1e-4
    assert abs(FORGETTING - 0.381966) < 1e-6
    assert abs(mixing_time() - 3.1127) < 1e-4


def test_what_one_start_makes_of_the_mean_is_forgotten() -> None:
    """Filters that start in different states come nearer by ζ with each letter."""
    source = system()
    other = LinearDynamics("moved", source.transition, source.observation, np.ones(5))
    observed, _ = source.sample(1, 40, np.random.default_rng(1))
    apart = np.linalg.norm(source.filter(observed) - other.filter(observed), axis=2)[0]
    assert np.allclose(apart[12:20] / apart[11:19], FORGETTING, rtol=1e-5)


def test_predictions_lose_what_is_said_and_no_less() -> None:
    source = system()
    observed, _ = source.sample(4000, 30, np.random.default_rng(2))
    said = source.predict(source.filter(observed))[:, :-1]
    lost = ((said - observed[:, 1:]) ** 2).mean(axis=(0, 2))
    assert np.abs(lost - source.losses(30)[1:]).max() < 0.12
    assert abs(lost.mean() - source.losses(30)[1:].mean()) < 0.02


def test_names_mean_the_same_numbers_everywhere() -> None:
    assert system().transition[0, :2].tolist() == [
        -0.1655807364362327,
        0.6132297455554524,
    ]
    assert named_dynamics("RanLDS5") is None
    assert named_dynamics("S5") is None
    for wrong in ("RanLDS0@1", "RanLDS99@1"):
        with pytest.raises(Refused, match="1 to 64 states"):
            named_dynamics(wrong)


def test_other_matrices_are_refused() -> None:
    with pytest.raises(Refused, match="not orthogonal"):
        LinearDynamics("wrong", np.ones((2, 2)), np.eye(2), np.ones(2))
