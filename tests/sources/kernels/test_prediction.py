"""The least errors of causal networks are those of least squares on what is sampled."""

from dataclasses import replace

import numpy as np
import pytest
from kernel_networks import of

from krohn.sources.kernels import Kernel, permuted
from krohn.sources.kernels.kernel import causal_floor, errors, invariant_floor


def on_unit(name: str) -> Kernel:
    """The kernel of a name on [0, 1]."""
    return replace(of(name), inputs=(0.0, 1.0))


def test_the_floors_of_exchanged_inputs() -> None:
    """Row 28: 3.01e-2 and 5.26e-2 for e^−s, T = 32, ten inputs exchanged."""
    kernel = on_unit("Exp32:swap=10")
    assert causal_floor(kernel) == pytest.approx(3.01e-2, rel=2e-3)
    assert invariant_floor(kernel) == pytest.approx(5.26e-2, rel=2e-3)


def test_causal_kernels_lose_nothing() -> None:
    for name in ("Exp32", "RanKernel16@1", "Exp32:mix=5@1"):
        assert causal_floor(on_unit(name)) == 0
        assert invariant_floor(on_unit(name)) < 1e-30


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(3))
def test_least_squares_on_samples_come_to_the_floors(seed: int) -> None:
    random = np.random.default_rng(seed)
    kernel = permuted(on_unit("Exp9,3"), random.permutation(9).tolist())
    x = random.uniform(0, 1, (20000, 9))
    y, lost = kernel.run(x), 0.0
    rows, goals = [], []
    for t in range(9):
        past = np.column_stack([x[:, : t + 1], np.ones(len(x))])
        best = np.linalg.lstsq(past, y[:, t])[0]
        lost += ((past @ best - y[:, t]) ** 2).mean() / 9
        one = np.zeros((len(x), 18))
        one[:, : t + 1], one[:, 9 + t] = x[:, t::-1], 1.0
        rows.append(one)
        goals.append(y[:, t])
    assert lost == pytest.approx(causal_floor(kernel), rel=0.03)
    both, goal = np.concatenate(rows), np.concatenate(goals)
    best = np.linalg.lstsq(both, goal)[0]
    found = ((both @ best - goal) ** 2).mean()
    assert found == pytest.approx(invariant_floor(kernel), rel=0.03)


def test_errors_are_mean_squares() -> None:
    kernel = on_unit("Exp8")
    x = kernel.sampled(10, np.random.default_rng(0))
    assert errors(kernel.run(x) + 0.5, kernel, x) == pytest.approx(0.25)
