"""Theorem 12a: no kernel that A1-A9 allow leaves the bounds of weights and means."""

import numpy as np
import pytest
from attention_kernels import kernels

from krohn.network.precision import FloatArray
from krohn.program.errors import Refused
from krohn.verify.checker.arithmetic import FORMATS, Interval
from krohn.verify.checker.softmax import (
    above,
    bound_leak,
    lost,
    mean_error,
    product,
    weights,
)

FORM = FORMATS["float32"]


def mean(scores: FloatArray, values: FloatArray, random: np.random.Generator) -> float:
    """A mean by a kernel that A1 to A9 allow."""
    up = values > np.median(values) if random.random() < 0.5 else values < 0
    each = list(kernels(len(scores), FORM, up, random))
    return float(each[random.integers(len(each))].mean(scores, values[:, None])[0])


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.1, 3.0, 40.0])
def test_no_kernel_is_further_off_than_is_shown(scale: float) -> None:
    random, worst = np.random.default_rng(0), 0.0
    for _ in range(60):
        n = int(random.integers(1, 12))
        scores = (random.normal(size=n) * scale).astype(np.float32).astype(float)
        if random.random() < 0.3:
            scores[:] = scores[0]
        values = random.uniform(-1, 1, n).astype(np.float32).astype(float)
        found = mean(scores, values, random)
        p = np.exp(scores - scores.max())
        right = float(p @ values / p.sum())
        seen, size = np.ones((1, n), bool), float(np.abs(scores).max())
        looked = weights(scores[None], seen, FORM)
        held = looked.mean(Interval.of(values[None, :, None])).wider(lost(n, 1.0))
        assert held.low <= found <= held.high
        ends = np.ptp(values), np.abs(values).max()
        off = mean_error(FORM, n, size, *ends).most
        assert abs(found - right) <= off
        worst = max(worst, abs(found - right) / off)
        whole = (looked.whole * values).sum(axis=1).wider(lost(n, 1.0))
        assert whole.low <= found <= whole.high
    assert worst > 0.05


def test_others_move_a_mean_by_what_they_weigh() -> None:
    random = np.random.default_rng(1)
    for _ in range(40):
        n, others = int(random.integers(1, 6)), int(random.integers(1, 6))
        gap = float(random.uniform(4, 12))
        scores = np.zeros(n + others)
        scores[n:] = -gap - random.uniform(0, 1, others)
        scores = scores.astype(np.float32).astype(float)
        values = random.uniform(0, 1, n + others).astype(np.float32).astype(float)
        count, least = n + others, float(-scores[n:].max())
        astray = bound_leak(FORM, count, float(np.abs(scores).max()), least)
        known = {"kinds": 1, "astray": astray}
        off = mean_error(FORM, count, 0.0, 1.0, 1.0, **known).most
        found = mean(scores, values, random)
        assert abs(found - values[:n].mean()) <= off


def test_what_can_rise_is_counted() -> None:
    scores = Interval(np.array([[1.0, 0.0, 1.0, 2.0]]), np.array([[1.0, 0.5, 3, 2.0]]))
    assert above(scores).tolist() == [[2, 3, 1, 1]]
    assert above(Interval.of(np.ones((1, 5)))).tolist() == [[0] * 5]


def test_products_by_powers_of_two_are_exact_and_others_are_not() -> None:
    left, right = np.array([[1.0, 0.0], [0.0, -2.0]]), np.array([[0.3], [0.7]])
    found = product(left, right, FORM, "it")
    assert (found.low == found.high).all()
    both = product(left + 1, right, FORM, "it")
    assert (both.low < both.high).all()
    with pytest.raises(Refused, match="it can overflow"):
        product(left * 1e30, right * 1e30, FORM, "it")


def test_rows_that_are_too_long_or_scores_too_large_are_refused() -> None:
    for count, size in ((2**14, 1.0), (4, 2.0**21), (4, np.nan)):
        with pytest.raises(Refused, match=r"too long|far off"):
            mean_error(FORM, count, size, 1.0, 1.0)
    with pytest.raises(Refused, match="far off"):
        weights(np.array([[0.0, 2.0**22]]), np.ones((1, 2), bool), FORM)
