"""GeLUs: what is assumed of them (A12) is met by what is installed."""

import numpy as np
import pytest
import torch
from many_digits import exactly
from torch.nn import functional as F

from krohn.network.precision import PRECISIONS, FloatArray
from krohn.verify.checker.arithmetic import FORMATS as FORMS, GELU, SMALL, gelu_units

torch.set_num_threads(1)

FORMATS = pytest.mark.parametrize("dtype", PRECISIONS)


def worst(x: FloatArray, dtype: str) -> float:
    """The largest error, in units u·|x|, by the vector kernel and by the scalar one.

    What storing in a narrow format may add is left out.
    """
    precision = PRECISIONS[dtype]
    numbers = torch.from_numpy(x).to(getattr(torch, dtype))
    x, u = numbers.double().numpy(), precision.accumulator_unit
    true = exactly("gelu", x)
    vector = F.gelu(numbers).double().numpy()
    scalar = np.array([F.gelu(one).item() for one in numbers])
    off = np.maximum(np.abs(vector - true), np.abs(scalar - true))
    if precision.unit > u:
        stored = precision.unit * (np.abs(true) * (1 + 16 * u) + precision.smallest)
        off = np.maximum(off - stored, 0)
    return float((off / (u * np.maximum(np.abs(x), 2.0**-126))).max())


@pytest.mark.sample(3)
@FORMATS
@pytest.mark.parametrize("size", [2.0**-k for k in (6, 4, 3, 2, 1, 0, -1, -2, -3, -4)])
def test_any_number(dtype: str, size: float) -> None:
    x = np.random.default_rng(0).uniform(-size, size, 301)
    assert worst(x, dtype) <= GELU


@pytest.mark.sample(5)
@FORMATS
@pytest.mark.parametrize("size", [2.0**k for k in (5, 6, 8, 12, 15)])
def test_large_numbers(dtype: str, size: float) -> None:
    """Nothing odd happens where the error function is 1 to the last digit."""
    x = np.random.default_rng(0).uniform(-size, size, 101)
    assert worst(x, dtype) <= GELU


@pytest.mark.sample(5)
@FORMATS
@pytest.mark.parametrize("size", [SMALL * 2.0**-k for k in (0, 3, 9, 16, 30)])
def test_small_numbers(dtype: str, size: float) -> None:
    x = np.random.default_rng(0).uniform(-1, 1, 301) * size * (1 - 2.0**-7)
    assert worst(x, dtype) <= gelu_units(np.abs(x).max(), FORMS[dtype])


def test_the_tangent_is_another_function() -> None:
    """It is off by 1e-4: far more than A12 allows."""
    x = torch.linspace(-4, 4, 999, dtype=torch.float64)
    off = F.gelu(x, approximate="tanh").numpy() - exactly("gelu", x.numpy())
    assert (np.abs(off) > GELU * 2.0**-24 * np.abs(x.numpy())).any()
