"""Intervals hold all results of exact operations; nobody else writes of rounding."""

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from krohn.kinds.kernels.check_rnn import (
    running,
    sum_by_place,
)
from krohn.kinds.linear_systems.check_rnn import known_sum_error
from krohn.program.errors import Refused
from krohn.verify import checker
from krohn.verify.checker.arithmetic import (
    FORMATS,
    Interval,
    gamma,
    two_sum,
)
from krohn.verify.checker.upper_bounds import Upper

numbers = st.floats(-1e100, 1e100) | st.sampled_from([0.0, 5e-324, 1e-300, 1 / 3])


@st.composite
def ranges(draw: st.DrawFn, size: int = 3) -> tuple[Interval, list[Fraction]]:
    """An interval of several entries, and numbers in it."""
    ends = draw(st.lists(st.tuples(numbers, numbers), min_size=size, max_size=size))
    low, high = (np.array([pick(e) for e in ends]) for pick in (min, max))
    inside = []
    for a, b in zip(low.tolist(), high.tolist(), strict=True):
        part = Fraction(draw(st.integers(0, 8)), 8)
        inside.append(Fraction(a) + part * (Fraction(b) - Fraction(a)))
    return Interval(low, high), inside


def holds(found: Interval, exact: list[Fraction]) -> bool:
    ends = zip(np.ravel(found.low), np.ravel(found.high), strict=True)
    return all(
        (low == -np.inf or Fraction(low) <= x)
        and (high == np.inf or x <= Fraction(high))
        for (low, high), x in zip(ends, exact, strict=True)
    )


OPERATIONS: list[Callable[..., object]] = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: -a + b,
    lambda a, b: abs(a) + b,
    lambda a, b: 3 - a * Fraction(1, 3) + b,
]


@pytest.mark.sample(1)
@pytest.mark.parametrize("operation", OPERATIONS)
@given(ranges(), ranges())
def test_operations_hold_every_exact_result(
    operation: Callable[..., object],
    one: tuple[Interval, list[Fraction]],
    other: tuple[Interval, list[Fraction]],
) -> None:
    found = operation(one[0], other[0])
    assert isinstance(found, Interval)
    exact = [operation(a, b) for a, b in zip(one[1], other[1], strict=True)]
    assert holds(found, exact)  # type: ignore[arg-type]


@given(ranges(), ranges())
def test_bounds_that_round_up_hold_every_exact_result(
    one: tuple[Interval, list[Fraction]], other: tuple[Interval, list[Fraction]]
) -> None:
    x, y = (part[0].size * 1e-60 for part in (one, other))
    a, b = Upper.of(x), Upper.of(y)
    pairs = [(Fraction(p), Fraction(q)) for p, q in zip(x, y, strict=True)]
    for found, exact in (
        (a + b, [p + q for p, q in pairs]),
        (a * b, [p * q for p, q in pairs]),
        (a * y + 3.0, [p * q + 3 for p, q in pairs]),
        (Upper.of(np.stack([x, y, x])).sum(axis=0), [2 * p + q for p, q in pairs]),
    ):
        assert all(Fraction(m) >= e for m, e in zip(found.most, exact, strict=True))
        assert all((m == 0) == (e == 0) for m, e in zip(found.most, exact, strict=True))
    total, off = two_sum(x, -y)
    for t, o, (p, q) in zip(total, off, pairs, strict=True):
        assert Fraction(t) + Fraction(o) == p - q


@given(ranges(), st.floats(1e-3, 1e3), st.floats(0, 1e3))
def test_quotients_hold_every_exact_result(
    one: tuple[Interval, list[Fraction]], low: float, width: float
) -> None:
    below = Interval.from_ends(np.array(low), np.array(low + width))
    exact = [x / Fraction(low + width / 2) for x in one[1]]
    middle = Fraction(low + width / 2)
    inside = Fraction(float(below.low)) <= middle <= Fraction(float(below.high))
    assert not inside or holds(one[0] / below, exact)
    with pytest.raises(Refused, match="divides by what may be 0"):
        one[0] / (below - below)


@given(ranges(6), ranges(6))
def test_sums_and_products_of_matrices_hold_every_exact_result(
    one: tuple[Interval, list[Fraction]], other: tuple[Interval, list[Fraction]]
) -> None:
    small = [x[0] * 1e-90 for x in (one, other)]
    exact = [[x * Fraction(1e-90) for x in y[1]] for y in (one, other)]
    assert holds(small[0].sum(), [sum(exact[0], Fraction())])
    a, b = (
        small[0].each(lambda x: x.reshape(2, 3)),
        small[1].each(lambda x: x.reshape(3, 2)),
    )
    rows = [exact[0][:3], exact[0][3:]]
    columns = [exact[1][0::2], exact[1][1::2]]
    products = [
        sum((x * y for x, y in zip(row, column, strict=True)), Fraction())
        for row in rows
        for column in columns
    ]
    assert holds(a @ b, products)


@given(ranges(4), st.lists(st.integers(0, 2), min_size=4, max_size=4))
def test_sums_of_some_entries_hold_every_exact_result(
    one: tuple[Interval, list[Fraction]], places: list[int]
) -> None:
    found, exact = one
    sums = [sum(exact[: i + 1], Fraction()) for i in range(4)]
    assert holds(running(found), sums)
    pairs = list(zip(places, exact, strict=True))
    each = [sum((x for p, x in pairs if p == i), Fraction()) for i in range(3)]
    assert holds(sum_by_place(found, np.array(places), 3), each)
    assert holds(Interval.stack_intervals([found, -found])[1], [-x for x in exact])
    assert holds(found.where(np.array([True] * 4), 0.0), exact)
    assert holds(Interval.nearest(exact), exact)
    square = found.each(lambda x: x * 1e-60)
    root = (square * square).root()
    assert (root.high >= square.size).all()


def test_products_of_many_matrices_count_the_terms_of_one() -> None:
    """Their number is not that of the terms."""
    one = np.array([[1.0, 2.0**-30] * 200])
    many = Interval.of(np.stack([one] * 2))
    found = many @ np.stack([one.T] * 2)
    exact = Fraction(200) + 200 * Fraction(2) ** -60
    assert found.shape == (2, 1, 1)
    assert holds(found, [exact, exact])
    assert (found.high - found.low > 400 * 2.0**-53 * 200).all()


def in_any_order(numbers: list[np.float32], random: np.random.Generator) -> float:
    """Their sum, two at a time."""
    left = list(numbers)
    while len(left) > 1:
        i, j = sorted(random.choice(len(left), 2, replace=False), reverse=True)
        left.append(np.float32(left.pop(i) + left.pop(j)))
    return float(left[0])


@pytest.mark.sample(6)
@pytest.mark.parametrize("seed", range(20))
def test_sums_that_are_known_are_off_by_less(seed: int) -> None:
    """Lemma 5b: of random orders, and of the order that adds up one sign first."""
    random, form = np.random.default_rng(seed), FORMATS["float32"]
    x = random.uniform(0, 1, 8).astype(np.float32)
    y = -(x + random.uniform(-1, 1, 8) * 2.0**-12).astype(np.float32)
    both = [*x, *y]
    exact = sum((Fraction(float(v)) for v in both), Fraction())
    size = float(np.abs(np.array(both, np.float64)).sum())
    most = known_sum_error(form, 16, size, abs(float(exact)) + 1e-9, 0.0).high
    assert most < 0.6 * gamma(16, form.sum_unit).high * size
    found = [in_any_order(both, random) for _ in range(50)]
    signs = [in_any_order([v], random) for v in both]
    found.append(float(np.cumsum(np.array(signs, np.float32), dtype=np.float32)[-1]))
    assert all(abs(Fraction(v) - exact) <= Fraction(float(most)) for v in found)


@given(st.floats(0, 50), st.floats(0, 5))
def test_rising_functions_hold_their_values(low: float, width: float) -> None:
    found = Interval.of(low).join_with(low + width)
    for function in (np.exp, np.expm1, np.sqrt, np.tanh, np.log1p):
        image = found.through(function)
        for x in (low, low + width / 3):
            assert image.low <= function(x) <= image.high


def test_comparisons_are_certain() -> None:
    wide, narrow = Interval.of(1.0).join_with(2.0), Interval.of(2.0)
    assert wide <= narrow
    assert not wide < narrow
    assert narrow >= wide
    assert not (wide <= wide)
    unknown = Interval.of(np.nan)
    assert not (unknown <= narrow)
    assert not (unknown >= narrow)
    with pytest.raises(Refused, match="too many terms"):
        gamma(np.nan, 2.0**-24)


WRITING = re.compile(r"\b(INFLATION|UNDERFLOW|OWN_UNIT|TINY|nextafter)\b")


def test_no_other_module_of_the_checker_says_how_bounds_are_rounded() -> None:
    folder = Path(checker.__file__).parent
    asking = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if WRITING.search(path.read_text())
    }
    assert asking == {"arithmetic.py", "upper_bounds.py"}
