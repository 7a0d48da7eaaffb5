"""ReLUs made of GeLUs: what the checker says of one unit, and of a pair that erases."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch.nn import functional as F

import krohn
from krohn.network.precision import PRECISIONS, FloatArray, Precision
from krohn.verify.checker.affine_arithmetic import Noisy, exact
from krohn.verify.checker.arithmetic import FORMATS as FORMATS_OF
from krohn.verify.checker.erasure import eraser

torch.set_num_threads(1)

FORMATS = pytest.mark.parametrize("precision", PRECISIONS.values(), ids=PRECISIONS)
SEEDS = st.integers(0, 2**32 - 1)
FLOAT64 = FORMATS_OF["float64"]


def computed(x: FloatArray, precision: Precision) -> FloatArray:
    """The GeLU that torch computes in a format."""
    numbers = torch.from_numpy(x).to(getattr(torch, precision.name))
    return F.gelu(numbers).double().numpy()  # type: ignore[no-any-return]


@pytest.mark.sample(1)
@FORMATS
@settings(max_examples=20)
@given(SEEDS)
def test_gelus_stay_within_their_bounds(precision: Precision, seed: int) -> None:
    random = np.random.default_rng(seed)
    scale = random.choice([0.01, 0.75, 3.0, 30.0, 1000.0], 60)
    value = precision.round(random.uniform(-1, 1, 60) * scale)[None]
    value[:, ::7] = 0
    noise = float(2.0 ** random.integers(-20, 4))
    slope = random.choice([-1.0, 0.0, 1.0, 2.0], value.shape)
    common = random.uniform(-noise, noise)
    real = precision.round(value + slope * common)
    rest = np.abs(real - value - slope * common)
    noisy = Noisy(value, noise * slope[None], rest, FORMATS_OF[precision.name])
    gelu, found = noisy.gelu(), computed(real, precision)
    assert (np.abs(found - gelu.value) <= gelu.total).all()
    known = gelu.value + gelu.slopes[0] * (common / noise)
    assert (np.abs(found - known) <= gelu.rest + 1e-15 * np.abs(known)).all()


def test_what_gelus_miss_of_relus() -> None:
    """The most is missed at 0.7518: 0.16998, as much as is allowed but for 2·10⁻⁵."""
    x = np.linspace(-12, 12, 200_001)[:, None]
    gelu = exact(x, FLOAT64).gelu()
    missed = np.abs(computed(x, PRECISIONS["float64"]) - np.maximum(x, 0))
    assert (missed <= gelu.total).all()
    assert 0.16997 < missed.max() < 0.17
    assert abs(abs(x[missed.argmax(), 0]) - 0.7518) < 1e-3
    far = np.abs(x) > 6
    assert (gelu.total[far] < 1e-8).all()
    assert not exact(np.zeros((1, 1)), FLOAT64).gelu().total.any()


def test_noise_at_the_kink_is_passed_on_no_larger() -> None:
    noise = np.array([[1e-6, 1e-3, 0.1, 1.0, 50.0]])
    kink = Noisy(np.zeros((1, 5)), np.zeros((0, 1, 5)), noise, FLOAT64)
    assert (kink.gelu().total <= noise * (1 + 1e-11)).all()
    assert (kink.gelu().total >= noise).all()  # it reaches x itself for large ones


@pytest.mark.parametrize("gain", [1.0, 64.0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pairs_leave_what_is_said(dtype: str, gain: float) -> None:
    """X − g(Kx)/K + g(−Kx)/K is nearly 0, and the pair is recognised, others are not."""
    read, write = np.array([[0, 0], [gain, -gain]]), np.array([[0, -1.0], [0, 1.0]])
    layers = [(read, np.zeros(2)), (write / gain, np.zeros(2))]
    units, keep = [np.array(["gelu", "gelu"])], np.ones(2)
    assert eraser(layers, units, keep, 1) == ("gelu", gain)
    assert eraser(layers, units, keep, 0) is None
    assert eraser(layers, units, np.zeros(2), 1) is None
    assert eraser(layers, [np.array(["gelu", "relu"])], keep, 1) is None
    for wrong in (2.0, -1.0, 1.5):
        other = [(read * wrong, np.zeros(2)), layers[1]]
        assert eraser(other, units, keep, 1) is None
    assert eraser([(read, np.ones(2)), layers[1]], units, keep, 1) is None

    x = torch.linspace(-100, 100, 100_001, dtype=getattr(torch, dtype))
    left = x + (-F.gelu(gain * x) / gain + F.gelu(-gain * x) / gain)
    assert (left.abs() <= 20 * FORMATS_OF[dtype].unit * x.abs()).all()


def test_what_is_erased_has_a_bound_of_its_own() -> None:
    """Strict: no mask clears a dimension; what GeLUs leave there is little, not 0."""
    for activation in ("relu", "gelu"):
        built = krohn.compile(
            "PermReset2", 6, "cascade", strict=True, activation=activation
        )
        assert built.proof is not None
        assert built.proof.bounds is not None
        left = max(float(s.free.max()) for s in built.proof.bounds.streams)
        assert (1e-9 < left < 1e-5) if activation == "gelu" else left == 2.0**-126
