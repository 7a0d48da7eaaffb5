"""Sums bounded class by class hold what any order of summation computes."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.semiautomaton import IntArray
from network.precision import (
    BFLOAT16,
    FLOAT32,
    FLOAT64,
    PRECISIONS,
    FloatArray,
    Precision,
)
from verify.errors import Rejected
from verify.noisy import Noisy, finest
from verify.summands import ANY, Sums, summand, terms

NONE = np.zeros((1, 0))
SEED = st.integers(0, 2**32)
FORMAT = st.sampled_from(list(PRECISIONS.values()))


def sums(
    values: list[FloatArray],
    noise: float,
    weight: FloatArray,
    bias: FloatArray,
    precision: Precision,
) -> Sums:
    """Channels ``x0``, ``x1``, …, each with its own inputs ``(values, width)``."""
    ends = np.cumsum([0, *(v.shape[1] for v in values)])
    own = [weight[a:b] for a, b in pairwise(ends)]
    parts = [Noisy(v, (), (), np.full_like(v, noise), precision) for v in values]
    found = [summand(terms(p, w)) for p, w in zip(parts, own, strict=True)]
    constant = terms(Noisy.exact(NONE, precision), np.zeros((0, len(bias))))
    grid = max(finest(v) for v in values) + finest(weight)
    domains = {f"x{i}": range(len(v)) for i, v in enumerate(values)}
    return Sums(domains, found, constant, grid, bias, precision)


def computed(
    x: FloatArray,
    weight: FloatArray,
    bias: float,
    precision: Precision,
    order: IntArray,
) -> float:
    """One sum, rounded after every product and every addition; the bias at last."""
    wide = np.float64 if precision is FLOAT64 else np.float32
    total = wide(0)
    for i in order:
        total = wide(total + wide(wide(x[i]) * wide(weight[i])))
    if precision.digits == precision.accumulator_digits:
        return float(wide(total + wide(bias)))
    return float(precision.round(float(precision.round(total)) + bias))


def drawn(
    rng: np.random.Generator, precision: Precision, fine: bool
) -> tuple[list[FloatArray], FloatArray, FloatArray]:
    """Small integers or numbers of all digits; the weights with some zeros."""
    shapes = [(rng.integers(1, 5), rng.integers(1, 3)) for _ in range(3)]
    values = [rng.integers(-3, 4, size=s).astype(np.float64) for s in shapes]
    weight = rng.integers(-2, 3, size=(sum(int(s[1]) for s in shapes), 4)) * 0.5
    bias = rng.integers(-9, 10, size=4) * 0.5
    if fine:
        values = [precision.round(v * rng.standard_normal(v.shape)) for v in values]
        weight = precision.round(weight * rng.standard_normal(weight.shape))
    return values, weight, bias


@given(SEED, FORMAT, st.booleans(), st.sampled_from([0.0, 2.0**-9]))
def test_any_order_of_any_values_is_within_the_bounds(
    seed: int, precision: Precision, fine: bool, noise: float
) -> None:
    rng = np.random.default_rng(seed)
    values, weight, bias = drawn(rng, precision, fine)
    found = sums(values, noise, weight, bias, precision)
    chosen = [int(rng.integers(len(v))) for v in values]
    known = rng.random(3) < 0.5
    cube = {f"x{i}": frozenset([c]) for i, c in enumerate(chosen) if known[i]}
    rows, _ = found.rows([cube], 100)
    bound = found.add_up(rows)
    exact = np.concatenate([v[c] for v, c in zip(values, chosen, strict=True)])
    moved = exact + noise * rng.choice([-1, 0, 1], size=exact.shape)
    x = np.where(np.abs(precision.round(moved) - exact) <= noise, moved, exact)
    for unit in range(4):
        order = rng.permutation(len(x))
        result = computed(
            precision.round(x), weight[:, unit], bias[unit], precision, order
        )
        off = np.abs(result - bound.value[:, unit]) - bound.total[:, unit]
        assert off.max() <= 0


def test_values_that_contribute_alike_are_one_class() -> None:
    value = np.array([[1.0, 0.0], [0.0, 1.0], [-0.0, 1.0]])
    found = summand(terms(Noisy.exact(value, FLOAT32), np.array([[2.0], [0.0]])))
    assert found.of.tolist() == [0, 1, 1]
    assert found.terms.value.tolist() == [[2], [0], [1]]
    assert found.terms.error[:2].tolist() == [[0], [0]]
    assert 1 <= found.terms.error[2] < 1 + 2**-30


def test_a_class_is_as_wide_as_its_widest_value() -> None:
    rest = np.array([[0.0], [0.25]])
    noisy = Noisy(np.ones((2, 1)), (), (), rest, FLOAT32)
    found = summand(terms(noisy, np.ones((1, 1))))
    assert (found.terms.error >= 0.25).all()
    assert not found.terms.known.any()


def test_common_noise_cancels_within_a_channel() -> None:
    """Two units with one slope, as on the plateau of a step."""
    noisy = Noisy(
        np.ones((1, 2)), (np.ones((1, 2)),), (0.125,), np.zeros((1, 2)), FLOAT32
    )
    step = terms(noisy, np.array([[1.0], [-1.0]]))
    assert step.error[0, 0] < 2**-38


def test_noise_below_the_last_digit_is_kept() -> None:
    """In float64, 1 ± 2⁻⁶⁰ is 1: the ends of the interval are equal, and it is none."""
    noisy = Noisy(np.ones((2, 1)), (), (), np.full((2, 1), 2.0**-60), FLOAT64)
    found = summand(terms(noisy, np.ones((1, 1))))
    assert found.terms.error[ANY, 0] >= 2.0**-60


def test_the_middle_of_an_interval_is_no_exact_term() -> None:
    """2⁵² + 0.5 is no number of float64, so that the sum is not known without rounding."""
    values = [np.ones((1, 1)), np.array([[0.0], [1.0]])]
    weight = np.array([[2.0**52], [1.0]])
    found = sums(values, 0.0, weight, np.array([2.0 - 2.0**52]), FLOAT64)
    both, _ = found.rows([{"x0": frozenset([0])}], 9)
    bound = found.add_up(both)
    assert bound.value[0, 0] - bound.total[0, 0] <= 2
    assert bound.value[0, 0] + bound.total[0, 0] >= 3
    single, _ = found.rows([{"x0": frozenset([0]), "x1": frozenset([1])}], 9)
    assert found.add_up(single).total.max() == 0


@pytest.mark.parametrize("precision", [FLOAT32, FLOAT64, BFLOAT16])
def test_sums_that_overflow_on_the_way_are_refused(precision: Precision) -> None:
    high = precision.round(precision.largest * 0.75)
    values = [np.ones((1, 3))]
    weight = np.array([[high], [high], [-high]])
    rows = np.zeros((1, 1), dtype=np.int64)
    with np.errstate(all="ignore"), pytest.raises(Rejected, match="overflow"):
        sums(values, 0.0, weight, -high[None], precision).add_up(rows)


def test_more_joint_classes_than_allowed_are_refused_before_they_are_listed() -> None:
    values = [np.arange(40.0)[:, None]] * 30
    found = sums(values, 0.0, np.ones((30, 1)), np.zeros(1), FLOAT32)
    every = frozenset(range(40))
    with pytest.raises(Rejected, match="too many joint values"):
        found.rows([dict.fromkeys(found.domains, every)], 1000)


def test_units_that_read_nothing_are_their_bias() -> None:
    values = [np.array([[0.0], [1.0]])]
    found = sums(values, 0.25, np.zeros((1, 2)), np.array([0.1, -3.0]), FLOAT32)
    bound = found.add_up(np.array([[ANY], [0], [1]]))
    assert (bound.total == 0).all()
    assert (bound.value == [0.1, -3.0]).all()
