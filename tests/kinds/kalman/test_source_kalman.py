"""Linear systems with noise: the filter beside conditioning a normal law, and the gain."""

import json
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from krohn.kinds.kalman.source import (
    KalmanPredictor,
    find_by_name,
    predictor,
    read,
)
from krohn.program.errors import Refused

GOLDEN = (1 + 5**0.5) / 2
SHEAR = predictor(
    "shear", [[0.9, 0.4], [0, 0.5]], [[1, 0.5]], [[2, 0.5], [0.5, 1]], 0.3, [1, -2]
)
"""A stable matrix that is not normal."""
UNSTABLE = predictor("unstable", [[1.3, 0.1], [0, 0.6]], [[1, 0]], 0.0, 1.0)
"""An unstable mode, seen, with no noise at all."""


def of(name: str = "RanLDS5@3") -> KalmanPredictor:
    found = find_by_name(name)
    assert found is not None
    return found


def conditioned(source: KalmanPredictor, observed: np.ndarray) -> np.ndarray:
    """E[y_{T+1} | y_1 … y_T] from the joint normal law of all observations."""
    a, b, length = source.transition, source.observation, len(observed) + 1
    power = [np.linalg.matrix_power(a, t) for t in range(length + 1)]
    means = np.array([b @ power[t] @ source.start for t in range(1, length + 1)])
    both = np.zeros((length, len(b), length, len(b)))
    for s in range(length):
        for t in range(length):
            states = sum(
                power[s - r] @ source.process_noise @ power[t - r].T
                for r in range(min(s, t) + 1)
            )
            both[s, :, t] = b @ states @ b.T + (s == t) * source.observation_noise
    known = both[:-1, :, :-1].reshape(observed.size, -1)
    across = both[-1][:, :-1].reshape(len(b), -1)
    surprise = (observed - means[:-1]).ravel()
    return np.asarray(means[-1] + across @ np.linalg.solve(known, surprise))


@pytest.mark.parametrize("source", [of("RanLDS3@1"), SHEAR], ids=lambda s: s.name)
def test_the_filter_is_the_law_given_the_observations(source: KalmanPredictor) -> None:
    observed = source.sample(2, 12, np.random.default_rng(0))
    said = source.filter(observed)
    for length in (1, 2, 12):
        for row in range(2):
            wanted = conditioned(source, observed[row, :length])
            assert np.allclose(said[row, length - 1], wanted, atol=1e-12)


@pytest.mark.parametrize("source", [of(), SHEAR, UNSTABLE], ids=lambda s: s.name)
def test_the_gain_solves_the_riccati_equation(source: KalmanPredictor) -> None:
    a, b, steady = source.transition, source.observation, source.steady
    p, gain = steady.covariance, steady.gain
    right = a @ p @ a.T + source.process_noise - gain @ source.innovation @ gain.T
    assert np.allclose(right, p, rtol=1e-13)
    assert np.allclose(gain @ source.innovation, a @ p @ b.T, rtol=1e-13)
    assert steady.forgetting < 1


def test_the_filter_tends_to_the_predictor() -> None:
    """By the square of F, where a step forgets."""
    source = SHEAR
    observed = source.sample(3, 60, np.random.default_rng(1))
    apart = np.abs(source.filter(observed) - source.run(observed)).max(axis=(0, 2))
    assert apart[0] > 1e-3 > apart[10] > 1e-14 > apart[50]


def test_in_the_long_run_all_is_the_golden_ratio() -> None:
    source = of()
    assert np.allclose(source.steady.covariance, GOLDEN * np.eye(5), atol=1e-14)
    assert np.allclose(source.losses(4), [2, 2.5, 2.6, 2.6153846], atol=1e-6)
    assert abs(source.losses(60)[-1] - 2.618034) < 1e-6
    assert abs(source.losses(120).mean() - 2.6117) < 1e-4
    assert abs(source.steady.forgetting - 0.381966) < 1e-6
    assert abs(log(0.05) / log(source.steady.forgetting) - 3.1127) < 1e-4


def test_predictions_lose_what_is_said_and_no_less() -> None:
    source = of()
    observed = source.sample(4000, 30, np.random.default_rng(2))
    lost = ((source.filter(observed)[:, :-1] - observed[:, 1:]) ** 2).mean(axis=(0, 2))
    assert np.abs(lost - source.losses(30)[1:]).max() < 0.12
    assert abs(lost.mean() - source.losses(30)[1:].mean()) < 0.02


@pytest.mark.parametrize("source", [of("RanLDS3@1"), SHEAR], ids=lambda s: s.name)
def test_a_response_is_what_the_predictor_says_of_impulses(
    source: KalmanPredictor,
) -> None:
    taken, left = source.response(9)
    m = len(source.observation)
    impulses = np.zeros((m + 1, 9, m))
    impulses[np.arange(m), 0, np.arange(m)] = 1.0
    said = source.run(impulses)
    assert np.allclose(said[m], left[1:], atol=1e-14)
    assert np.allclose(said[:m] - said[m], taken.transpose(2, 0, 1), atol=1e-14)


def test_names_mean_the_same_numbers_everywhere() -> None:
    assert of().transition[0, :2].tolist() == [-0.1655807364362327, 0.6132297455554524]
    assert of("RanLDS2@3:bound=2.5").bound == 2.5
    assert find_by_name("RanLDS5") is find_by_name("S5") is None
    for wrong in ("RanLDS0@1", "RanLDS99@1"):
        with pytest.raises(Refused, match="1 to 64 states"):
            find_by_name(wrong)


ONE = {"A": [[0.5]], "B": [[1]]}


def test_a_file_says_the_system(tmp_path: Path) -> None:
    path = tmp_path / "shear.kalman"
    stated = {"A": SHEAR.transition, "B": SHEAR.observation, "Q": SHEAR.process_noise}
    said: dict[str, Any] = {key: matrix.tolist() for key, matrix in stated.items()}
    path.write_text(json.dumps({**said, "R": 0.3, "start": [1, -2], "bound": 100}))
    assert read(path).to_wire() == SHEAR.to_wire()
    path.write_text(json.dumps(ONE))
    assert read(path).to_wire() == predictor("shear", **ONE).to_wire()


WRONG: list[tuple[Any, str]] = [
    ({"A": [[1]]}, "B is missing"),
    ({**ONE, "C": 1}, "it has 'C'; say"),
    ({**ONE, "A": [[1, 2]]}, "A has the shape"),
    ({**ONE, "A": 3}, "A is no matrix"),
    ({**ONE, "B": [[1, 2]]}, "B has the shape"),
    ({**ONE, "A": [["x"]]}, "A is no array of numbers"),
    ({**ONE, "A": [[1, 2], [3]]}, "A is no array of numbers"),
    ({**ONE, "A": [[1e30]]}, "out of range"),
    ({**ONE, "R": 0}, "R is no covariance of full rank"),
    ({**ONE, "R": [[1, 0], [0, 1]]}, "R has the shape"),
    ({**ONE, "Q": -1}, "Q is no covariance: it has a negative"),
    ({"A": [[1, 0], [0, 1]], "B": [[1, 1]], "Q": [[1, 2], [0, 1]]}, "not symmetric"),
    ({**ONE, "start": [1, 2]}, "start has 2 numbers"),
    ({**ONE, "bound": 0}, "bound is no number above 0"),
    ([1], "no JSON object"),
]


@pytest.mark.parametrize(("said", "reason"), WRONG)
def test_what_states_no_system_is_refused(
    said: Any, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "wrong.kalman"
    path.write_text(json.dumps(said))
    with pytest.raises(Refused, match=reason):
        read(path)


@pytest.mark.parametrize(
    "text", ['{"A": [[NaN]], "B": [[1]]}', "{", '{"A": [[1e999]]}']
)
def test_what_is_no_json_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.kalman"
    path.write_text(text)
    with pytest.raises(Refused, match="it is no JSON"):
        read(path)


LASTING: list[tuple[dict[str, Any], str]] = [
    ({"A": [[2, 0], [0, 1.5]], "B": [[1, 0]]}, "eigenvalue 1.5, .*not detectable"),
    ({"A": [[0, -1], [1, 0]], "B": [[0, 0]]}, "not detectable"),
    ({"A": [[1]], "B": [[1]], "Q": 0}, "eigenvalue 1 on the unit circle"),
]


@pytest.mark.parametrize(("system", "reason"), LASTING)
def test_what_has_no_steady_state_is_refused(
    system: dict[str, Any], reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        _ = predictor("lasting", **system).steady
