"""Numbers with error bounds: what torch really computes lies within them."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, reject, settings, strategies as st

from krohn.network.precision import (
    BFLOAT16,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    PRECISIONS,
    FloatArray,
    Precision,
)
from krohn.program.domains import IntArray
from krohn.program.errors import Refused
from krohn.verify.checker.affine_arithmetic import Noisy, exact, finest, snaps
from krohn.verify.checker.arithmetic import FORMATS as FORMS

SEEDS = st.integers(0, 2**32 - 1)
FORMATS = pytest.mark.parametrize("precision", PRECISIONS.values(), ids=PRECISIONS)
WIDE = pytest.mark.parametrize("precision", [FLOAT32, FLOAT64], ids=lambda p: p.name)


class Case:
    """Random noisy numbers, and numbers of the format that they stand for."""

    def __init__(self, seed: int, precision: Precision) -> None:
        self.random = np.random.default_rng(seed)
        self.precision = precision
        rows, width = self.random.integers(1, 5), self.random.integers(1, 9)
        scale = 2.0 ** self.random.integers(-2, 5)
        whole = self.random.integers(-8, 9, size=(rows, width)).astype(float)
        value = whole if self.random.random() < 0.7 else whole * scale / 3
        value = precision.round(value)
        noise = float(2.0 ** -self.random.integers(2, 20))
        slope = self.random.integers(-1, 2, size=value.shape).astype(float)
        self.common = float(self.random.uniform(-1, 1))
        slope *= noise
        tiny = self.random.random() < 0.5
        own = self.random.uniform(-noise, noise, value.shape) * (not tiny)
        self.real = precision.round(value + slope * self.common + own)
        rest = np.abs(self.real - value - slope * self.common)
        self.noisy = Noisy(value, slope[None], rest, FORMS[precision.name])

    def matrix(self, *shape: int) -> FloatArray:
        entries = self.random.integers(-4, 5, size=shape) * (
            self.random.random(shape) < 0.8
        )
        scale = self.random.choice([0.5, 1.0, 1.0, 2.0, 64.0, 1 / 3])
        return self.precision.round(entries * scale)

    def torch(self, array: FloatArray) -> torch.Tensor:
        return torch.from_numpy(array).to(getattr(torch, self.precision.name))

    def affine(self, x: FloatArray, weight: FloatArray, bias: FloatArray) -> FloatArray:
        """X @ weight + bias, in a random order, fused or not."""
        order = self.random.permutation(weight.shape[0])
        left, right = self.torch(x[:, order]), self.torch(weight[order])
        if self.random.random() < 0.5:
            result = torch.addmm(self.torch(bias), left, right)
        else:
            result = left @ right + self.torch(bias)
        return result.double().numpy()  # type: ignore[no-any-return]

    def within(self, noisy: Noisy, real: FloatArray) -> bool:
        """Whether numbers are what noisy ones allow, with the common noise known."""
        known = noisy.value.copy()
        for slope in noisy.slopes:
            known = known + slope * self.common
        slack = 1e-12 * (1 + np.abs(known))
        near = bool((np.abs(real - known) <= noisy.rest + slack).all())
        far = bool((np.abs(real - noisy.value) <= noisy.total + slack).all())
        return near and far


@pytest.mark.sample(1)
@FORMATS
@given(SEEDS)
@settings(max_examples=30)
def test_affine_maps_stay_within_their_bounds(precision: Precision, seed: int) -> None:
    case = Case(seed, precision)
    weight = case.matrix(case.real.shape[1], 3)
    bias = case.matrix(3)
    real = case.affine(case.real, weight, bias)
    assert case.within(case.noisy.affine(weight, bias), real)


@pytest.mark.sample(1)
@FORMATS
@given(SEEDS)
@settings(max_examples=40)
def test_networks_stay_within_their_bounds(precision: Precision, seed: int) -> None:
    case = Case(seed, precision)
    noisy, real = case.noisy, case.real
    sizes = [real.shape[1], 6, 5, real.shape[1]]
    for inputs, outputs in pairwise(sizes):
        weight, bias = case.matrix(inputs, outputs), case.matrix(outputs)
        try:
            noisy = noisy.affine(weight, bias).relu()
        except Refused:
            reject()  # the numbers leave the range of the format
        real = np.maximum(case.affine(real, weight, bias), 0.0)
        assert case.within(noisy, real)
    summed = case.noisy.plus(noisy)
    added = case.torch(case.real) + case.torch(real)
    assert case.within(summed, added.double().numpy())


@pytest.mark.sample(1)
@FORMATS
@given(SEEDS)
@settings(max_examples=20)
def test_relus_stay_within_their_bounds(precision: Precision, seed: int) -> None:
    case = Case(seed, precision)
    assert case.within(case.noisy.relu(), np.maximum(case.real, 0.0))


@pytest.mark.sample(1)
@FORMATS
@given(SEEDS)
@settings(max_examples=30)
def test_stored_numbers_stay_within_their_bounds(
    precision: Precision, seed: int
) -> None:
    case = Case(seed, precision)
    exact = case.noisy.value + case.noisy.slopes[0] * case.common
    exact = exact + case.random.uniform(-1, 1, exact.shape) * case.noisy.rest
    if precision.digits < precision.accumulator_digits:
        assert case.within(case.noisy.store_rounded(), precision.round(exact))


@pytest.mark.sample(1)
@pytest.mark.parametrize("precision", [BFLOAT16, FLOAT16, FLOAT32])
@given(SEEDS)
@settings(max_examples=50)
def test_numbers_that_snap_are_stored_as_themselves(
    precision: Precision, seed: int
) -> None:
    random = np.random.default_rng(seed)
    wide = random.normal(size=20) * 2.0 ** random.integers(-10, 10, 20)
    value = np.where(random.random(20) < 0.8, precision.round(wide), wide)
    value[:2] = 2.0 ** random.integers(-10, 10, 2)
    error = np.abs(value) * 2.0 ** -random.integers(5, 30, 20).astype(float)
    near = value + error * random.choice([-1.0, 1.0, 0.5], 20)
    snapped = snaps(value, error, FORMS[precision.name])
    assert np.array_equal(precision.round(near)[snapped], value[snapped])


@pytest.mark.parametrize("precision", [BFLOAT16, FLOAT16, FLOAT32])
def test_a_power_of_two_has_half_the_room_below_it(precision: Precision) -> None:
    spacing = 2.0 ** (2 - precision.digits)  # of the numbers from 2 to 4
    error = np.array([spacing / 8.01, spacing / 3.99])
    found = snaps(np.array([2.0, 2.0]), error, FORMS[precision.name])
    assert found.tolist() == [True, False]
    assert precision.round(2 - spacing / 3.99) != 2


@WIDE
def test_noise_cancels_on_a_plateau(precision: Precision) -> None:
    rising = np.array([[1.0, 1.0]])
    form, noise = FORMS[precision.name], np.array([[[0.25]]])
    x = Noisy(np.array([[3.0]]), noise, np.zeros((1, 1)), form)
    units = x.affine(rising, np.array([-1.0, -2.0])).relu()
    step = units.affine(np.array([[1.0], [-1.0]]), np.zeros(1))
    assert step.value.tolist() == [[1.0]]
    assert step.slopes[0].tolist() == [[0.0]]
    assert step.total.max() < 1e-5


@FORMATS
def test_whole_numbers_are_exact(precision: Precision) -> None:
    x = exact(np.array([[1.0, 0.0, 3.0]]), FORMS[precision.name])
    found = x.affine(np.array([[2.0], [5.0], [-1.0]]), np.array([4.0]))
    assert found.value.tolist() == [[3.0]]
    assert not found.total.any()


@pytest.mark.parametrize("precision", [BFLOAT16, FLOAT16], ids=lambda p: p.name)
def test_a_bias_is_added_to_a_stored_product(precision: Precision) -> None:
    large = 2.0**precision.digits
    x = exact(np.array([[1.0, 1.0]]), FORMS[precision.name])
    found = x.affine(np.array([[large], [1.0]]), np.array([-large]))
    assert found.total.max() >= 1  # 2^digits + 1 is not a number of the format


@pytest.mark.parametrize(
    "precision",
    [
        FLOAT32,
        FLOAT16,
        BFLOAT16,
        FLOAT64,
    ],
    ids=lambda p: p.name,
)
def test_overflow_is_refused(precision: Precision) -> None:
    x = exact(np.array([[precision.largest]]), FORMS[precision.name])
    refused = pytest.raises(Refused, match="can overflow")
    with np.errstate(over="ignore"), refused:
        x.affine(np.array([[2.0]]), np.zeros(1))


@pytest.mark.slow
def test_sums_that_are_too_long_are_refused() -> None:
    x = exact(np.ones((1, 3)), FORMS["float32"])
    weight = np.broadcast_to(np.array(1 / 3), (3, 1))
    assert x.affine(weight, np.zeros(1)).total.max() < 1e-6
    long = exact(np.ones((1, 2**23 + 8)), FORMS["float32"])
    with pytest.raises(Refused, match="too many terms"):
        long.affine(np.ones((2**23 + 8, 1)), np.zeros(1))


class Counts(Case):
    """Rows of counts of which many have the same differences."""

    def __init__(self, seed: int, precision: Precision) -> None:
        self.random = np.random.default_rng(seed)
        self.precision = precision
        several = np.indices((6, 5)).reshape(2, -1).T.astype(float)
        value = np.hstack([several, np.ones((30, 1))])
        slopes = np.zeros((2, *value.shape))
        for i, noise in enumerate(2.0 ** -self.random.integers(2, 20, size=2)):
            slopes[i, :, i] = self.random.random(30) * noise
        rest = self.random.random(value.shape) * 2.0**-12 * (seed % 2)
        self.signs = self.random.uniform(-1, 1, size=2)
        moved = value + np.einsum("irc,i->rc", slopes, self.signs)
        self.real = precision.round(moved + self.random.uniform(-rest, rest))
        rest = np.abs(self.real - moved)
        self.noisy = Noisy(value, slopes, rest, FORMS[precision.name])

    def jointly(self, weight: FloatArray, bias: FloatArray) -> tuple[Noisy, IntArray]:
        return jointly(self.noisy, weight, bias)


def jointly(x: Noisy, weight: FloatArray, bias: FloatArray) -> tuple[Noisy, IntArray]:
    """Sums of all rows, those with equal products as one; the row of each."""
    grid = finest(x.value)
    widest, value, row = x.together(weight, apart=False)
    return widest.products(weight, value, grid).store_with_bias(bias), row


@pytest.mark.sample(1)
@FORMATS
@given(SEEDS)
@settings(max_examples=20)
def test_rows_with_equal_sums_are_bounded_as_one(
    precision: Precision, seed: int
) -> None:
    case = Counts(seed, precision)
    weight = case.precision.round(
        np.array([[1.0], [-1.0], [2.0]]) * case.random.integers(1, 3, size=7)
    )
    bias = case.matrix(7)
    try:
        joint, row = case.jointly(weight, bias)
    except Refused:
        reject()  # the numbers leave the range of the format
    assert len(joint.value) == 10
    first, second = case.matrix(7, 4), case.matrix(4)
    real = case.affine(case.real, weight, bias)
    # Each row has noises of its own: as much of the common ones as it has slopes.
    known = joint.value[row].copy()
    for i, slope in enumerate(joint.slopes):
        own = case.noisy.slopes[i][:, i]
        largest = np.zeros(10)
        np.maximum.at(largest, row, own)
        known += slope[row] * (own / largest[row] * case.signs[i])[:, None]
    slack = 1e-12 * (1 + np.abs(known))
    assert (np.abs(real - known) <= joint.rest[row] + slack).all()
    try:
        above = joint.relu().affine(first, second).rows(row)
    except Refused:
        reject()  # the numbers leave the range of the format
    real = case.affine(np.maximum(real, 0.0), first, second)
    assert (np.abs(real - above.value) <= above.total + 1e-12).all()


def test_a_noise_of_two_columns_is_not_made_larger() -> None:
    """It cancels in the difference; the largest slope of each column would not."""
    value = np.array([[3.0, 1.0], [4.0, 2.0]])
    slope = np.array([[[1.0, 1.0], [3.0, 3.0]]]) / 4
    noisy = Noisy(value, slope, np.zeros((2, 2)), FORMS["float64"])
    joint, row = jointly(noisy, np.array([[1.0], [-1.0]]), np.zeros(1))
    assert row.tolist() == [0, 1]
    assert joint.total.max() < 2**-30


def test_a_negative_slope_is_not_lost() -> None:
    value, slope = np.array([[2.0], [2.0]]), np.array([[[-1.0], [0.5]]]) / 4
    noisy = Noisy(value, slope, np.zeros((2, 1)), FORMS["float64"])
    joint, row = jointly(noisy, np.array([[1.0]]), np.zeros(1))
    assert (joint.total[row] >= [[0.25], [0.125]]).all()
