"""Recurrences of kernels that say them exactly."""

import numpy as np
import pytest
from kernel_networks import of

from krohn.compiler import CompileError
from krohn.compiler.linear_recurrence import exact, network
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


def test_what_is_too_large_is_refused() -> None:
    many = Kernel("many", (1.0,) * 4096, (Mode(1, 0.5),), 4096)
    with pytest.raises(CompileError, match="too large"):
        network(exact(many), FLOAT64)
