"""Recurrences of kernels: exact ones, and short ones of few units."""

from typing import cast

import numpy as np
import pytest
from kernel_networks import of
from scipy.optimize import linprog

from krohn.compiler import CompileError
from krohn.kinds.kernels.build_rnn import (
    NORMS,
    Hankel,
    Realisation,
    by_order,
    errors_by_units,
    exact,
    fit_residues,
    hankels_of,
    modal,
    network,
    short_realisations,
)
from krohn.kinds.kernels.source import (
    Kernel,
    Mode,
)
from krohn.kinds.kernels.source_examples import EXAMPLES
from krohn.network.precision import FLOAT64, FloatArray

THREE = Kernel("three", (), (Mode(0.8, 0.9), Mode(0.5, 0.7 + 0.4j)), 128)
"""Three poles: one real one, and a pair."""
NOISE = 2e-3


def noisy(seed: int = 0) -> FloatArray:
    """A measurement of THREE."""
    random = np.random.default_rng(seed)
    return THREE.samples() + NOISE * random.standard_normal(THREE.length)


def test_ho_and_kalman_find_the_modes_of_samples() -> None:
    modes = (Mode(1, 0.9), Mode(0.5 - 1j, 0.6 + 0.5j), Mode(-0.25, -0.7))
    samples = Kernel("three", (), modes, 40).samples()
    found = modal(Hankel(samples, padded=False).truncate(4))
    assert found is not None
    assert np.abs(found.response(40) - samples).max() < 1e-12


@pytest.mark.parametrize(
    ("values", "units"), [((1.0,) * 6, 6), ((0.0, 0.5), 2), ((), 1), ((0.0,) * 3, 1)]
)
def test_zeros_behind_a_kernel_take_no_units(
    values: tuple[float, ...], units: int
) -> None:
    kernel = Kernel("step", values + (0.0,) * 42, (), 48)
    found = exact(kernel)
    assert len(found.input) == units
    assert found.response(48).tolist() == kernel.samples().tolist()
    beside = exact(Kernel("both", kernel.values, (Mode(1, 0.5),), 48))
    assert len(beside.input) == 1 + (units if any(values) else 0)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["Power64,1", "RanKernel32@1", "Exp32,8", "Mean32,9"])
def test_balanced_truncation_keeps_the_bounds_of_glover(name: str) -> None:
    """The transfer function: at most 2·Σ of the values left out, at least the next one."""
    samples = of(name).samples()
    hankel, long = Hankel(samples, padded=True), np.zeros(2048)
    long[: len(samples)] = samples
    for order in range(1, min(12, len(samples))):
        found = hankel.truncate(order)
        assert np.abs(np.linalg.eigvals(found.matrix)).max() < 1 + 1e-9
        off = np.abs(np.fft.fft(found.response(2048) - long)).max()
        left = hankel.values[order:]
        assert (
            left[0] * (1 - 1e-6) - 1e-12 <= off <= 2 * left.sum() * (1 + 1e-6) + 1e-12
        )


@pytest.mark.slow
def test_shorter_ones_are_near_enough_and_the_shortest_come_first() -> None:
    samples = of("Power64,1").samples()
    sizes = []
    for most in (1.0, 1e-1, 1e-2, 1e-4):
        found = next(short_realisations(samples, most))
        assert np.abs(found.response(64) - samples).sum() <= most
        sizes.append(len(found.input))
    assert sizes == sorted(sizes)
    assert sizes[-1] < 12


def test_a_window_that_is_cut_off_needs_one_unit() -> None:
    """1 for all times up to T: a sum, which is no truncation of a stable system."""
    found = next(short_realisations(np.ones(32), 1e-9))
    assert len(found.input) == 1


def test_what_is_too_long_is_refused() -> None:
    with pytest.raises(CompileError, match="leave within= out"):
        next(short_realisations(np.ones(1025), 0.1))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_poles_of_a_noisy_measurement_are_found(seed: int) -> None:
    """With as many units as there are poles, what is left is as large as the noise."""
    samples = noisy(seed)
    off = samples - THREE.samples()
    rows = {int(row["units"]): row for row in errors_by_units(samples)}
    for norm in ("l1", "l2"):
        assert rows[2][norm] > 3 * rows[3][norm]
        assert rows[3][norm] < 1.02 * NORMS[norm](off)
    assert rows[3]["max"] < 5 * NOISE
    for most, norm, units in (
        (1.1 * NORMS["l2"](off), "l2", 3),
        (5 * NOISE, "max", 3),
        (1.1 * NORMS["l1"](off), "l1", 3),
    ):
        found = next(short_realisations(samples, most, norm))
        assert len(found.input) == units
        assert NORMS[norm](found.response(len(samples)) - samples) <= most


@pytest.mark.slow
def test_no_recurrence_is_nearer_than_the_singular_value_that_is_left_out() -> None:
    """Proposition K9, on what is found, and on recurrences of random poles."""
    samples = noisy()
    rows = errors_by_units(samples)
    for row in rows:
        assert row["hankel"] <= row["hinf"] * 1.01
        assert row["hinf"] <= row["l1"]
        assert row["max"] <= row["l2"] <= row["l1"]
    random = np.random.default_rng(1)
    for _ in range(20):
        poles = random.uniform(-0.95, 0.95, 2)
        off = NORMS["hinf"](_by_least_squares(poles, samples) - samples)
        assert off * 1.01 >= rows[1]["hankel"]


def _by_least_squares(poles: FloatArray, samples: FloatArray) -> FloatArray:
    powers = poles ** np.arange(len(samples))[:, None]
    return cast(FloatArray, powers @ np.linalg.lstsq(powers, samples)[0])


@pytest.mark.sample(1)
@pytest.mark.parametrize("order", [1, 3, 6, 12])
def test_residues_have_least_deviations_as_a_linear_program_says(order: int) -> None:
    samples = noisy()
    found = modal(Hankel(samples, padded=True).truncate(order))
    assert found is not None
    squares, deviations = fit_residues(found, samples)
    states = found.states(len(samples))
    off = [NORMS["l1"](states @ each.output - samples) for each in (found, deviations)]
    least = _least_deviations(found, samples)
    assert least * (1 - 1e-9) <= off[1] <= min(off[0], least * (1 + 1e-3))
    root = NORMS["l2"](states @ squares.output - samples)
    assert root <= NORMS["l2"](states @ deviations.output - samples) * (1 + 1e-12)


def _least_deviations(found: Realisation, samples: FloatArray) -> float:
    """The least over C of Σ|e(s)|: a linear program with a bound for each |e(s)|."""
    states, ones = found.states(len(samples)), np.eye(len(samples))
    free, units = (None, None), len(found.input)
    said = linprog(
        np.repeat([0.0, 1.0], [units, len(samples)]),
        np.block([[states, -ones], [-states, -ones]]),
        np.concatenate([samples, -samples]),
        bounds=[free] * units + [(0, None)] * len(samples),
    )
    return float(said.fun)


def test_an_exact_kernel_needs_no_more_units_than_it_has_poles() -> None:
    rows = errors_by_units(THREE.samples())
    assert rows[-1]["units"] == 3
    assert rows[-1]["l1"] < 1e-11
    assert len(exact(THREE).input) == 3
    assert by_order(hankels_of(np.ones(1)), np.ones(1), 1) == []


CAUSAL = [name for name in EXAMPLES if of(name).causal]


@pytest.mark.parametrize("name", CAUSAL)
def test_exact_recurrences_say_the_kernel(name: str) -> None:
    kernel = of(name)
    assert (
        np.abs(exact(kernel).response(kernel.length) - kernel.samples()).max() < 1e-14
    )


def test_a_unit_for_each_exponential_and_for_each_value() -> None:
    assert len(exact(of("Exp32")).input) == 1
    assert len(exact(of("Mean32,5")).input) == 5
    wave = Kernel("wave", (1.0, 2.0), (Mode(1j, 0.5 + 0.5j), Mode(1, -0.5)), 9)
    assert len(exact(wave).input) == 2 + 2 + 1


def test_what_is_too_large_is_refused() -> None:
    many = Kernel("many", (1.0,) * 4096, (Mode(1, 0.5),), 4096)
    with pytest.raises(CompileError, match="too large"):
        network(exact(many), FLOAT64)
