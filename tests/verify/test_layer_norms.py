"""A15 and A16: LayerNorm and `gelu_new` as they are installed keep to what is assumed."""

import numpy as np
import pytest
import torch

from krohn.verify.checker.affine_arithmetic import exact
from krohn.verify.checker.arithmetic import FORMATS as FORMS

transformers = pytest.importorskip("transformers")
FORMATS = [
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
@pytest.mark.parametrize(("dtype", "unit", "stored", "_"), FORMATS[:3])
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


@pytest.mark.parametrize(("dtype", "_", "stored", "far"), FORMATS)
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
