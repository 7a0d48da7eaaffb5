"""The kernels of the installed Torch keep to the assumptions of docs/soundness.md."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from krohn.network.precision import PRECISIONS, FloatArray, Precision
from krohn.verify.checker.affine_arithmetic import exact
from krohn.verify.checker.arithmetic import AT_ZERO, FORMATS, FORMATS as FORMS

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


@pytest.mark.sample(3)
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


transformers = pytest.importorskip("transformers")
UNITS = [
    (torch.float64, 2.0**-53, 2.0**-53, 8.0),
    (torch.float32, 2.0**-24, 2.0**-24, 6.0),
    (torch.bfloat16, 2.0**-24, 2.0**-8, 6.0),
    (torch.float16, 2.0**-24, 2.0**-11, 6.0),
]


def streams(width: int, pairs: int, large: float) -> torch.Tensor:
    """Rows with a mirror, ground and pairs, as exports have them, in float64."""
    rng, d = np.random.default_rng(width), (width - 2 - 2 * pairs) // 2
    x = rng.integers(-3, 33, (500, d)) * (rng.random((500, d)) < 0.2)
    rows = np.zeros((500, width))
    rows[:, :d], rows[:, d : 2 * d] = x, -x
    rows[:, width - 2 * pairs :] = np.tile([large, -large], pairs)
    return torch.from_numpy(rows)


@pytest.mark.sample(6)
@pytest.mark.parametrize(("dtype", "unit", "stored", "_"), UNITS[:3])
@pytest.mark.parametrize(("width", "pairs"), [(16, 2), (64, 2), (160, 5), (1024, 8)])
def test_moments_of_layer_norm(
    dtype: torch.dtype, unit: float, stored: float, _: float, width: int, pairs: int
) -> None:
    """The mean, and the reciprocal root, which has half the error of the variance."""
    for exponent in (7, 10, 17, 30):
        large = 2.0**exponent
        v = streams(width, pairs, large).to(dtype)
        weight = torch.full((width,), 1.0, dtype=dtype)
        _, mean, root = torch.native_layer_norm(
            v, [width], weight, torch.zeros_like(weight), 1e-5
        )
        exact = v.double()
        total = exact.abs().sum(dim=1)
        off = (mean.double()[:, 0] - exact.mean(dim=1)).abs()
        kept = stored if mean.dtype == dtype else 0.0
        allowed = unit * (total + 4 * large)
        assert (off <= allowed + kept * exact.mean(dim=1).abs()).all()
        true = (exact.var(dim=1, unbiased=False) + 1e-5).rsqrt()
        relative = (root.double()[:, 0] / true - 1).abs().max().item()
        assert relative <= (width + 8) * unit / 2 + 4 * unit + kept


@pytest.mark.parametrize(("dtype", "_", "stored", "far"), UNITS)
def test_gelu_new(dtype: torch.dtype, _: float, stored: float, far: float) -> None:
    function = transformers.activations.NewGELUActivation()
    x = torch.linspace(-40, 40, 400_001, dtype=torch.float64).to(dtype)
    x = torch.cat([x, torch.logspace(1, 4.5, 1000).to(dtype)])
    found, at = function(x).double(), x.double()
    true = at / 2 * (1 + torch.tanh(0.7978845608028654 * (at + 0.044715 * at**3)))
    assert ((found - true).abs() <= 8 * stored * at.abs() + 1e-40).all()
    beyond = at.abs() >= far
    assert torch.equal(found[beyond], at[beyond].clamp(min=0))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_gelu_new_of_every_number(dtype: torch.dtype) -> None:
    """Lemma 8c, subnormal numbers of float16 too, of which half is rounded."""
    numbers = torch.arange(-(2**15), 2**15).to(torch.int16).view(dtype)
    numbers = numbers[numbers.abs() < torch.finfo(dtype).max / 2]
    found = transformers.activations.NewGELUActivation()(numbers).double().numpy()
    form = FORMS[str(dtype).removeprefix("torch.")]
    bound = exact(numbers.double().numpy()[None], form).gelu_new()
    assert (np.abs(found - bound.value) <= bound.total).all()
