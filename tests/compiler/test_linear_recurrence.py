"""Recurrences of kernels: exact ones, and those that balanced truncation leaves."""

import numpy as np
import pytest
from kernel_networks import of

from krohn.compiler.errors import CompileError
from krohn.compiler.linear_recurrence import (
    Hankel,
    exact,
    modal,
    network,
    short_realisations,
)
from krohn.network.precision import FLOAT64
from krohn.sources.kernels import EXAMPLES, Kernel, Mode

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


def test_ho_and_kalman_find_the_modes_of_samples() -> None:
    modes = (Mode(1, 0.9), Mode(0.5 - 1j, 0.6 + 0.5j), Mode(-0.25, -0.7))
    samples = Kernel("three", (), modes, 40).samples()
    found = modal(Hankel(samples, padded=False).truncate(4))
    assert found is not None
    assert np.abs(found.response(40) - samples).max() < 1e-12


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
    many = Kernel("many", (1.0,) * 4096, (Mode(1, 0.5),), 4096)
    with pytest.raises(CompileError, match="too large"):
        network(exact(many), FLOAT64)
