"""The gadgets of the thesis, repaired and as printed, for all inputs near their codes."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sample_gadgets import gadget

from krohn.instruments.smt.gadgets import (
    Gadget,
    decide,
)

QUARTER = Fraction(1, 4)
Matrix = list[list[Fraction]]


def trapezoids(
    points: Sequence[Fraction], gap: Fraction
) -> tuple[Matrix, list[Fraction], Matrix]:
    """Lemma 10: slopes and shifts of four ReLUs for each point, and how they add up."""
    step = gap / 4
    slopes = [[1 / step] * (4 * len(points))]
    shifts = [(-x + o * step) / step for x in points for o in (2, 1, -1, -2)]
    sums = [[Fraction(0)] * len(points) for _ in shifts]
    for i, _ in enumerate(points):
        for k, sign in enumerate((1, -1, -1, 1)):
            sums[4 * i + k][i] = Fraction(sign)
    return slopes, shifts, sums


def table(
    points: Sequence[Fraction], values: Sequence[int], gap: Fraction
) -> list[Any]:
    """Lemma 10 as two affine layers."""
    slopes, shifts, sums = trapezoids(points, gap)
    out = [[sum(s * v for s, v in zip(row, values, strict=True))] for row in sums]
    return [(slopes, shifts), (out, [0])]


def threshold(half: Fraction) -> Gadget:
    """Lemma 12 for numbers that are at least 1 from 0, with a ramp of some width."""
    slope = 1 / (2 * half)
    layers = [([[slope, slope]], [QUARTER * 2, -QUARTER * 2]), ([[1], [-1]], [0])]
    return gadget("threshold", layers, [((1,), (1,)), ((-1,), (0,))])


def conjunction(bias: int) -> Gadget:
    """Lemma 11: a table of two bits by trapezoids and units that need both."""
    bits = [Fraction(0), Fraction(1)]
    slopes, shifts, sums = trapezoids(bits, Fraction(1))
    n, points = len(shifts), list(product((0, 1), repeat=2))
    first = [slopes[0] + [0] * n, [0] * n + slopes[0]]
    both = [
        [(sums[i][a] if i < n else sums[i - n][b]) for a, b in points]
        for i in range(2 * n)
    ]
    values = [[3 * a + 2 * b + 1] for a, b in points]
    layers = [(first, shifts * 2), (both, [bias] * 4), (values, [0])]
    return gadget(
        "table", layers, [(x, y) for x, y in zip(points, values, strict=True)]
    )


def composition(largest: int, gate: int) -> Gadget:
    """Lemma 14: the value f(g) of g in 1, …, n and f(1), …, f(n), by gates."""
    points = [Fraction(g) for g in range(1, largest + 1)]
    slopes, shifts, sums = trapezoids(points, Fraction(1))
    n, n1 = largest, len(shifts)
    first = [slopes[0] + [0] * n] + [
        [0] * n1 + [int(i == k) for k in range(n)] for i in range(n)
    ]
    gates = [[gate * s for s in row] for row in sums]
    gates += [[int(i == k) for k in range(n)] for i in range(n)]
    layers = [(first, shifts + [0] * n), (gates, [-gate] * n), ([[1]] * n, [0])]
    rows = [
        ((g, *f), (f[g - 1],))
        for g in range(1, n + 1)
        for f in product(range(1, n + 1), repeat=n)
    ]
    return gadget("composition", layers, rows)


def counter(factor: Callable[[int], int], length: int, n: int, start: int) -> Gadget:
    """Lemma 15: from s = Σ/(2T) to the sum and the start state modulo n."""
    gap = Fraction(1, 2 * length)
    sums = range((n - 1) * length + 1)
    points = [s * gap for s in sums]
    layers = table(points, [factor(s) for s in sums], gap)
    rows = [((x,), ((s + start) % n,)) for s, x in zip(sums, points, strict=True)]
    return gadget("counter", layers, rows)


@settings(max_examples=12)
@given(
    st.lists(st.integers(-9, 9), min_size=1, max_size=4, unique=True),
    st.integers(1, 5),
    st.data(),
)
def test_tables_of_one_number_are_exact_up_to_a_quarter_of_the_gap(
    points: list[int], over: int, data: st.DataObject
) -> None:
    values = data.draw(st.tuples(*[st.integers(-3, 3)] * len(points)))
    exact = [Fraction(x, over) for x in points]
    layers = table(exact, values, Fraction(1, over))
    rows = [((x,), (y,)) for x, y in zip(exact, values, strict=True)]
    noise = Fraction(1, 4 * over)
    assert (
        decide(gadget("table", layers, rows), noise, Fraction(0)).verdict == "verified"
    )
    if any(values):
        wider = decide(gadget("table", layers, rows), noise * 2, Fraction(0))
        assert wider.verdict == "refuted"


def test_the_repaired_threshold_takes_noise_of_a_quarter() -> None:
    assert decide(threshold(Fraction(1, 2)), QUARTER, Fraction(0)).verdict == "verified"


def test_E4_the_printed_threshold_is_an_eighth_off() -> None:
    found = decide(threshold(Fraction(1)), QUARTER, Fraction(0))
    assert found.verdict == "refuted"
    worst = decide(threshold(Fraction(1)), QUARTER, Fraction(1, 8))
    assert worst.verdict == "verified"


def test_the_repaired_conjunctions_hold_a_table_of_two_values() -> None:
    assert decide(conjunction(-1), QUARTER, Fraction(0)).verdict == "verified"


def test_E3_the_printed_conjunctions_are_always_0() -> None:
    found = decide(conjunction(-2), QUARTER, Fraction(0))
    assert found.verdict == "refuted"
    assert found.output is not None
    assert list(found.output) == [0]


@pytest.mark.sample(1)
@pytest.mark.parametrize("largest", [2, 3])
def test_gates_above_the_largest_value_pass_on_the_noise_of_one_value(
    largest: int,
) -> None:
    noise = Fraction(1, 8)
    assert decide(composition(largest, largest + 1), noise, noise).verdict == "verified"


@pytest.mark.parametrize("largest", [2, 3])
def test_E12_gates_of_the_largest_value_leak(largest: int) -> None:
    noise = Fraction(1, 8)
    found = decide(composition(largest, largest), noise, noise)
    assert found.verdict == "refuted"
    assert found.row is not None
    assert largest in found.row.inputs[1:]


def test_E12_a_side_that_is_passed_on_is_not_rounded() -> None:
    found = decide(composition(2, 3), Fraction(1, 8), Fraction(1, 16))
    assert found.verdict == "refuted"


def test_the_repaired_counter_reads_the_sum_and_the_start_state() -> None:
    right = counter(lambda s: (s + 1) % 3, length=4, n=3, start=1)
    assert decide(right, Fraction(1, 32), Fraction(0)).verdict == "verified"


def test_E14_the_printed_counter_loses_the_factor_and_the_start_state() -> None:
    halved = counter(lambda s: (s // 2) % 3, length=4, n=3, start=0)
    assert decide(halved, Fraction(1, 32), Fraction(0)).verdict == "refuted"
    startless = counter(lambda s: s % 3, length=4, n=3, start=1)
    assert decide(startless, Fraction(1, 32), Fraction(0)).verdict == "refuted"


def test_a_counterexample_is_near_its_row_and_wrong_there() -> None:
    asked = threshold(Fraction(1))
    found = decide(asked, QUARTER, Fraction(0))
    assert found.row is not None
    assert found.inputs is not None
    assert max(abs(found.inputs - found.row.inputs)) <= QUARTER
    assert np.array_equal(asked(found.inputs), found.output)
    assert not np.array_equal(found.output, found.row.output)
