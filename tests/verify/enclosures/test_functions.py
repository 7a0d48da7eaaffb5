"""Functions on intervals have all true values, and little more."""

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from enclosed_words import shares

from krohn.program.domains import FloatArray
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.enclosures import functions

Function = Callable[[Interval], Interval]
FUNCTIONS: dict[str, tuple[Function, Callable[[mpmath.mpf], mpmath.mpf]]] = {
    "sine": (functions.sine, mpmath.sin),
    "gelu": (functions.gelu, lambda x: x * mpmath.ncdf(x)),
    "elu_and_one": (
        functions.elu_and_one,
        lambda x: x + 1 if x > 0 else mpmath.exp(x),
    ),
}


def intervals(radius: float) -> tuple[Interval, list[FloatArray]]:
    """Intervals up to a radius, and numbers in each, its ends among them."""
    rng = np.random.default_rng(0)
    turn = np.full(20, functions.TURN[0])
    middle = np.concatenate([rng.normal(size=60) * 4, turn, [0.0, 1e-300, -800, 900]])
    off = radius * rng.random(len(middle))
    x = Interval(middle - off, middle + off)
    within = [x.low + (x.high - x.low) * rng.random(len(middle)) for _ in range(4)]
    return x, [x.low, x.high, *within]


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("radius", [0.0, 1e-9, 0.3, 30.0])
def test_true_values_lie_within(name: str, radius: float) -> None:
    function, true = FUNCTIONS[name]
    x, numbers = intervals(radius)
    with np.errstate(under="ignore"):
        found = function(x)
    for column in numbers:
        for low, high, y in zip(found.low, found.high, column.tolist(), strict=True):
            with mpmath.workdps(40):
                assert low <= true(mpmath.mpf(y)) <= high, (y, low, high)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_they_widen_intervals_little(name: str) -> None:
    """No slope is above 1.13; rounding is in the last places."""
    for radius in (0.0, 1e-9):
        x, _ = intervals(radius)
        with np.errstate(under="ignore"):
            found = FUNCTIONS[name][0](x)
        most = 1.13 * (x.high - x.low) + 2.0**-44 * np.maximum(x.size, 1)
        assert (found.high - found.low <= most).all()


def test_wide_ones_are_as_wide_as_the_functions() -> None:
    all_of = Interval(np.array([-50.0]), np.array([50.0]))
    sine, gelu = functions.sine(all_of), functions.gelu(all_of)
    assert (sine.low[0], sine.high[0]) == (-1, 1)
    assert gelu.low[0] == pytest.approx(-0.16997120747990366)
    assert gelu.high[0] == pytest.approx(50)


@pytest.mark.parametrize("radius", [0.0, 1e-6, 1.0, 2000.0])
def test_true_shares_lie_within(radius: float) -> None:
    """Of the ends of intervals, by chance, and of each alone at one end."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(8, 6)) * 20
    off = radius * rng.random(x.shape)
    seen = rng.random(x.shape) < 0.7
    seen[:, 0] = True
    held = Interval(x - off, np.where(seen, x + off, np.inf))
    with np.errstate(all="ignore"):
        found = shares(held, seen)
    assert not (found.size * ~seen).any()
    alone = [np.where(np.arange(6) == j, x + off, x - off) for j in range(6)]
    chance = [np.where(rng.random(x.shape) < 0.5, x - off, x + off) for _ in range(4)]
    for ends in (x, *alone, *chance):
        for row, some in enumerate(seen):
            with mpmath.workdps(40):
                weights = [mpmath.exp(y) for y in ends[row, some].tolist()]
                whole = sum(weights)
                low, high = found.low[row, some], found.high[row, some]
                for least, most, w in zip(low, high, weights, strict=True):
                    assert least <= w / whole <= most


def test_shares_of_certain_scores_are_certain() -> None:
    """Where one is far above all others, their errors do not matter to its share."""
    x = np.array([[0.0, 60.0, 10.0]])
    found = shares(Interval(x - 1, x + 1), np.full(x.shape, True))
    assert (found.high - found.low).max() < 1e-12


def test_what_is_no_number_makes_none() -> None:
    x = Interval.of(np.array([[0.0, np.inf, 1.0], [0.0, np.nan, 1.0]]))
    seen = np.array([[True, False, True], [True, True, True]])
    with np.errstate(all="ignore"):
        found = shares(x, seen)
        assert np.isnan(functions.sine(x).low[:, 1]).all()
    assert np.isfinite(found.size[0]).all()
    assert np.isnan(found.low[1]).all()
