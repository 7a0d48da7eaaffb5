"""The kernels of the installed Torch keep to the assumptions of docs/soundness.md."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from krohn.network.precision import PRECISIONS, FloatArray, Precision
from krohn.verify.checker.arithmetic import AT_ZERO, FORMATS

torch.set_num_threads(1)

EACH = pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
# d_qk and d_v: fused kernels on CPUs are for equal ones.
SIZES = pytest.mark.parametrize("sizes", [(1, 1), (1, 2), (2, 1), (8, 8)])
MASKED = pytest.mark.parametrize("masked", [False, True])


def attend(
    scores: FloatArray,
    values: FloatArray,
    name: str,
    sizes: tuple[int, int],
    mask: bool,
) -> Tensor:
    """``(batch,)`` averages of ``(batch, n)`` values by scores ``(n,)``."""
    dtype, batch, n = getattr(torch, name), *values.shape
    query = torch.zeros(batch, 1, 1, sizes[0], dtype=dtype)
    key = torch.zeros(batch, 1, n, sizes[0], dtype=dtype)
    value = torch.zeros(batch, 1, n, sizes[1], dtype=dtype)
    query[..., 0] = 1
    key[..., 0] = torch.tensor(scores, dtype=dtype)
    value[:, 0, :, 0] = torch.tensor(values, dtype=dtype)
    seen = torch.ones(1, n, dtype=torch.bool) if mask else None
    found = F.scaled_dot_product_attention(query, key, value, attn_mask=seen, scale=1.0)
    return found[:, 0, 0, 0]


def share(
    scores: FloatArray, name: str, sizes: tuple[int, int], mask: bool
) -> tuple[float, float]:
    """Between which numbers the weight of the first position lies.

    It is multiplied by many numbers of the format; the roundings of the products say it
    more closely than any of them could.
    """
    precision = PRECISIONS[name]
    steps = min(2 ** (precision.digits - 1), 1024)
    values = np.zeros((steps, len(scores)))
    values[:, 0] = 1 + np.arange(steps) / steps
    out = attend(scores, values, name, sizes, mask)
    above = torch.nextafter(out, torch.full_like(out, torch.inf))
    below = torch.nextafter(out, torch.zeros_like(out))
    high, low, out = (
        above.double().numpy(),
        below.double().numpy(),
        out.double().numpy(),
    )
    first = values[:, 0]
    return float(((out + low) / 2 / first).max()), float(
        ((out + high) / 2 / first).min()
    )


def is_narrow(precision: Precision) -> bool:
    """Whether numbers are stored in fewer digits than they are added up in."""
    return precision.digits < precision.accumulator_digits


def room(precision: Precision, terms: int) -> float:
    """The room for other errors: sums, quotient, product, exponents (A1, A7)."""
    return (2 * terms + 16) * precision.accumulator_unit


@pytest.mark.sample(12)
@EACH
@SIZES
@MASKED
def test_exponentials(name: str, sizes: tuple[int, int], masked: bool) -> None:
    precision, n, off = PRECISIONS[name], 257, FORMATS[name].exponential
    for wanted in np.linspace(0.25, 6, 8):
        x = float(precision.round(wanted))
        low, high = share(np.array([0.0] + [-x] * (n - 1)), name, sizes, masked)
        rest = (n - 1) * np.exp(-x)
        # The first weight is 1, rounded or not; the others are in the normaliser.
        error = off + room(precision, n) + 8 * x * 2.0**-24
        near = AT_ZERO if is_narrow(precision) else off
        assert high >= (1 - near) / (1 + near + rest * (1 + error)) * (1 - error)
        assert low <= (1 + near) / (1 - near + rest * (1 - error)) * (1 + error)


@pytest.mark.sample(12)
@EACH
@SIZES
@MASKED
def test_exponentials_of_zero(name: str, sizes: tuple[int, int], masked: bool) -> None:
    """Of n equal scores p have a value one place higher: it shows from p = n/2 on."""
    precision, n = PRECISIONS[name], 480
    values = 1 + 2 * precision.unit * np.tri(n + 1, n, -1)
    raised = attend(np.zeros(n), values, name, sizes, masked).double().numpy() > 1
    first = int(raised.argmax())
    off = abs(first / n - 0.5) * 2 * precision.unit
    allowed = AT_ZERO if is_narrow(precision) else 2 * FORMATS[name].exponential
    assert off <= allowed + room(precision, n) + 1 / n * precision.unit


@EACH
@SIZES
def test_what_is_hidden_weighs_nothing(name: str, sizes: tuple[int, int]) -> None:
    """A5, for the causal mask that the runtime asks for."""
    dtype, n = getattr(torch, name), 40
    query = torch.ones(1, 1, n, sizes[0], dtype=dtype)
    key = torch.zeros(1, 1, n, sizes[0], dtype=dtype)
    value = torch.zeros(1, 1, n, sizes[1], dtype=dtype)
    largest = PRECISIONS[name].largest
    for t in range(n - 1):
        key[:, :, t + 1 :], value[:, :, t + 1 :] = 8.0, largest
        out = F.scaled_dot_product_attention(
            query, key, value, is_causal=True, scale=1.0
        )
        assert not out[:, :, : t + 1].any()
        key[:, :, t + 1 :], value[:, :, t + 1 :] = 0.0, 0.0


@EACH
@pytest.mark.parametrize("size", [3, 64, 500])
def test_sums_of_products(name: str, size: int) -> None:
    """A1 and A2: Lemma 5 in the accumulator, then one rounding, or two with a bias."""
    precision, rng = PRECISIONS[name], np.random.default_rng(size)
    x, weight = (precision.round(rng.normal(size=s)) for s in ((30, size), (size, 30)))
    dtype = getattr(torch, name)
    found = (torch.tensor(x, dtype=dtype) @ torch.tensor(weight, dtype=dtype)).double()
    terms = size * precision.accumulator_unit
    off = terms / (1 - terms) * (np.abs(x) @ np.abs(weight))
    off += precision.unit * np.abs(x @ weight) * is_narrow(precision) * 1.01
    assert (np.abs(found.numpy() - x @ weight) <= off + 2.0**-126).all()


def test_subnormal_numbers_of_float16_are_kept() -> None:
    """A9."""
    tiny = torch.tensor([[2.0**-20]], dtype=torch.float16)
    assert (tiny @ torch.ones(1, 1, dtype=torch.float16)).item() == 2.0**-20
    assert (tiny + tiny).item() == 2.0**-19
