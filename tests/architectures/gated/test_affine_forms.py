"""Affine forms hold all numbers that they are made of (Lemmas 18d, 18e)."""

import numpy as np
import pytest

from krohn.architectures.gated.check_affine_forms import (
    SIGMOID,
    TANH,
    AffineForm,
    Curve,
    join_forms,
)
from krohn.verify.checker.arithmetic import Interval

RNG = np.random.default_rng(0)
SLACK = 1e-12
"""What the samples themselves may be off by."""


def drawn(size: float, noises: int = 5) -> AffineForm:
    middle = RNG.normal(size=(20, 3)) * 2
    base = Interval.of(middle).wider(size * RNG.random(middle.shape))
    return AffineForm(base, size * RNG.normal(size=(noises, 20, 3)))


def point(form: AffineForm, noise: np.ndarray) -> np.ndarray:
    """A point of it for some noises ``(noises, rows, 1)``."""
    share = RNG.random(form.base.shape)
    base = form.base.low + share * (form.base.high - form.base.low)
    return np.asarray(base + (form.slopes * noise).sum(axis=0))


def noise(count: int, ends: bool) -> np.ndarray:
    signs = RNG.choice([-1.0, 1.0], size=(count, 20, 1))
    return signs if ends else RNG.uniform(-1, 1, size=(count, 20, 1))


def holds(form: AffineForm, at: np.ndarray, found: np.ndarray) -> None:
    """Whether the base has what is left of a point beside its noises."""
    left = found - (form.slopes * at).sum(axis=0)
    assert (left >= form.base.low - SLACK).all()
    assert (left <= form.base.high + SLACK).all()


@pytest.mark.sample(1)
@pytest.mark.parametrize("size", [1e-6, 0.1, 3.0])
@pytest.mark.parametrize("ends", [False, True])
def test_sums_and_products_hold_what_they_are_of(size: float, ends: bool) -> None:
    for _ in range(20):
        x, y, at = drawn(size), drawn(size), noise(5, ends)
        one, other = point(x, at), point(y, at)
        holds(x + y, at, one + other)
        holds(x - y, at, one - other)
        holds(x * y, at, one * other)
        holds(x * x, at, one * one)
        weight = RNG.normal(size=(3, 4))
        holds(x @ weight, at, one @ weight)
        holds(join_forms([x, y], axis=-1), at, np.hstack([one, other]))


@pytest.mark.sample(1)
@pytest.mark.parametrize("curve", [TANH, SIGMOID])
@pytest.mark.parametrize("size", [1e-7, 0.1, 3.0, 40.0])
def test_curves_hold_their_values(curve: Curve, size: float) -> None:
    for _ in range(20):
        x, at = drawn(size), noise(5, False)
        holds(x.through(curve), at, curve.value(point(x, at)))


@pytest.mark.parametrize("curve", [TANH, SIGMOID])
def test_any_slope_is_sound(curve: Curve) -> None:
    """The slope, and where the curve has it, are only hints."""
    for slope in (-0.5, 0.0, 0.1, 0.24, 0.9, 1.5):
        low = RNG.uniform(-6, 4, size=500)
        high = low + RNG.exponential(size=500)
        found = curve.beside(Interval(low, high), np.full(500, slope))
        for share in np.linspace(0, 1, 41):
            x = low + share * (high - low)
            value = curve.value(x) - slope * x
            assert (found.low <= value + SLACK).all()
            assert (value - SLACK <= found.high).all()
        tight = np.full(500, slope) if 0 < slope < 0.25 else None
        if tight is not None:
            assert (found.high - found.low <= 2 * (high - low)).all()


def test_noises_may_be_dropped_and_made() -> None:
    x, at = drawn(0.3, 12), noise(12, True)
    found = point(x, at)
    fewer = x.fewer(4)
    assert len(fewer.slopes) == 4
    assert (fewer.bounds.low <= found + SLACK).all()
    assert (found - SLACK <= fewer.bounds.high).all()
    own = fewer.with_noises()
    assert len(own.slopes) == 7
    assert (own.base.low == own.base.high).all()
    assert (own.bounds.low <= fewer.bounds.low).all()
    assert (fewer.bounds.high <= own.bounds.high).all()


def test_without_noises_they_are_intervals() -> None:
    base = drawn(0.2).base
    form = AffineForm.of(base)
    assert ((form * form).base.low == (base * base).low).all()
    assert (form.through(TANH).base.high == base.through(np.tanh).high).all()
