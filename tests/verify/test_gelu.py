"""GeLUs: what is assumed of them (A12) is met by what is installed."""

import mpmath
import numpy as np
import pytest
import torch
from torch.nn import functional as F

from network.precision import PRECISIONS, FloatArray
from verify.checker.matrix_product import GELU, GELU_SMALL, SMALL

torch.set_num_threads(1)


def exact(x: FloatArray) -> FloatArray:
    """x·Φ(x) to the last digit of float64, also where Φ(x) is tiny."""
    with mpmath.workdps(40):
        return np.array([float(mpmath.mpf(v) * mpmath.ncdf(v)) for v in x.tolist()])


def worst(x: FloatArray, dtype: str) -> float:
    """The largest error, in units u·|x|, by the vector kernel and by the scalar one."""
    numbers = torch.from_numpy(x).to(getattr(torch, dtype))
    x, u = numbers.double().numpy(), PRECISIONS[dtype].unit
    vector = F.gelu(numbers).double().numpy()
    scalar = np.array([F.gelu(one).item() for one in numbers])
    off = np.maximum(np.abs(vector - exact(x)), np.abs(scalar - exact(x)))
    return float((off / (u * np.abs(x))).max())


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("size", [2.0**-k for k in (-6, -4, -3, -2, -1, 0, 2, 4)])
def test_any_number(dtype: str, size: float) -> None:
    x = np.random.default_rng(0).uniform(-size, size, 3001)
    assert worst(x, dtype) <= GELU


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("size", [SMALL * 2.0**-k for k in (0, 3, 9, 16, 30)])
def test_small_numbers(dtype: str, size: float) -> None:
    x = np.random.default_rng(0).uniform(-1, 1, 3001) * size * (1 - 2.0**-20)
    assert worst(x, dtype) <= GELU_SMALL


def test_the_tangent_is_another_function() -> None:
    """It is off by 1e-4: far more than A12 allows."""
    x = torch.linspace(-4, 4, 999, dtype=torch.float64)
    off = F.gelu(x, approximate="tanh").numpy() - exact(x.numpy())
    assert (np.abs(off) > GELU * 2.0**-24 * np.abs(x.numpy())).any()
