"""Gadgets as printed and repaired (Yang et al. 2024, App. A), as the checker sees them."""

import numpy as np
import pytest

from krohn.network.precision import FloatArray
from krohn.program import Map, Piecewise, Program, Shift, Token, table
from krohn.program.errors import Refused
from krohn.program.expressions import Expression, argument, number, rectify
from krohn.program.language import program_to_wire
from krohn.program.statement import StatedPlace, parse
from krohn.verify.checker.arithmetic import FORMATS
from krohn.verify.checker.piecewise import Ridges, _difference
from krohn.verify.checker.residual_stream import Stream

LETTERS = 9
X, Z = argument(0), argument(1)


def at_least(k: int) -> Expression:
    """1 from k on, else 0."""
    return rectify(X - (k - 1)) - rectify(X - k)


def noise(
    function: Expression,
    units: list[tuple[float, float, float]],
    error: float,
    bias: float = 0.0,
) -> float:
    """What the rule says of units w·max(s·x + b, 0), given as (s, b, w).

    Args:
        function: What they are said to compute of x in 0..9.
        units: The units.
        error: How far x may be off.
        bias: What is added.

    A second input, which no unit reads, is as large.
    """
    letters = {(a,): a for a in range(LETTERS + 1)}
    operations = {
        "token": Token(),
        "letter": Map(table(letters), ("token",)),
        "x": Shift("letter", 1),
        "z": Shift("letter", 2),
        "y": Map(Piecewise(function), ("x", "z")),
    }
    domains = {n: tuple(range(LETTERS + 1)) for n in operations}
    program = Program(tuple("abcdefghi"), 1, 3, operations, ("y",), {}, domains=domains)
    places = {
        "letter": StatedPlace(0, 1, 0, 1, "integer", None),
        "x": StatedPlace(1, 2, 1, 2, "integer", 0),
        "z": StatedPlace(2, 3, 1, 2, "integer", 1),
        "y": StatedPlace(3, 4, 2, 2, "integer", None),
    }
    said = parse(program_to_wire(program, places, {}), LETTERS, 3)
    live = {name: np.full(LETTERS + 1, error) for name in ("x", "z")}
    owner, nothing = np.array([-1, 2, 3, -1]), np.zeros((4, 4))
    stream = Stream(said, FORMATS["float32"], nothing, owner, live, np.zeros(4))
    slopes, biases, weights = np.array(units).T
    layers: list[tuple[FloatArray, FloatArray]] = [
        (np.outer([0, 1, 0, 0], slopes), biases),
        (np.outer(weights, [0, 0, 0, 1]), np.array([0, 0, 0, bias])),
    ]
    relu = [np.full(len(units), "relu")]
    return Ridges(said.channels["y"], layers, relu, stream).noise()[0]


def steps(slope: float, above: float) -> list[tuple[float, float, float]]:
    """I[x ≥ k] for k = 1, …, 9 as ReLU(s(x − k) + above) − ReLU(s(x − k) + above − 1)."""
    found = []
    for k in range(1, LETTERS + 1):
        found += [(slope, above - slope * k, 1.0), (slope, above - 1 - slope * k, -1.0)]
    return found


def test_the_printed_thermometer_does_not_hold_at_a_tolerance_of_a_third() -> None:
    """A.5: right up to 1/4, off by 1/6 at the claimed 1/3; with slope 3 right."""
    one = at_least(5)
    printed = [u for u in steps(2.0, 1.5) if u[1] in (1.5 - 10, 0.5 - 10)]
    repaired = [u for u in steps(3.0, 2.0) if u[1] in (2.0 - 15, 1.0 - 15)]
    assert noise(one, printed, 0.249) < 1e-4
    assert noise(one, printed, 0.333) >= 0.166
    assert noise(one, repaired, 0.333) < 1e-4
    assert noise(one, repaired, 0.34) > 0.01


def test_the_printed_block_number_is_another_function() -> None:
    """A.7: the sum of I[i ≤ j·n] over j = 1..n is n + 1 − ⌈i/n⌉, not ⌈i/n⌉ (n = 3)."""
    block = number(1) + at_least(4) + at_least(7)
    starts = [
        u for u in steps(2.0, 1.5) if u[1] in (1.5 - 8, 0.5 - 8, 1.5 - 14, 0.5 - 14)
    ]
    assert noise(block, starts, 0.249, bias=1.0) < 1e-4
    ends = [(-2.0, 1.5 + 2 * j * 3, 1.0) for j in (1, 2, 3)]
    ends += [(-2.0, 0.5 + 2 * j * 3, -1.0) for j in (1, 2, 3)]
    with pytest.raises(Refused, match=r"bend|slopes|constant"):
        noise(block, ends, 0.25)
    with pytest.raises(Refused, match="constant"):
        noise(block, starts, 0.25)


@pytest.mark.parametrize(
    ("units", "reason"),
    [
        ([(1.0, -4.0, 1.0), (1.0, -6.0, -1.0)], "bend"),
        ([(1.0, -4.0, 1.0), (1.0, -5.0, -0.5)], "bend"),
        ([(1.0, -4.0, 1.0), (1.0, -5.0, -1.0), (1.0, 0.0, 1.0)], "slopes"),
        ([(2.0**-40, 0.0, 2.0**40)], "too large"),
    ],
)
def test_wrong_units_are_refused(
    units: list[tuple[float, float, float]], reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        noise(at_least(5), units, 0.0)


@pytest.mark.parametrize("places", [30, 26, 22])
def test_no_bend_is_lost_beside_large_terms(places: int) -> None:
    """Terms that cancel between two inputs round what units add in one of them.

    Units that were off by 7/16 at x = 5 passed for at_least(2) + … + at_least(6) beside
    terms of 2^52.
    """
    one = at_least(2) + at_least(4) + at_least(6)
    weight, far = 2**22, 2**places
    large = rectify(X + far) - rectify(Z + far) - X + Z
    right = [u for k in (2, 4, 6) for u in ((1.0, 1.0 - k, 1.0), (1.0, -k, -1.0))]
    bump = [(1.0, -4.0, 7 / 16), (1.0, -5.0, -7 / 8), (1.0, -6.0, 7 / 16)]
    assert noise(one, right, 0.0) == 0.0
    for function in (one, one + large * weight):
        with pytest.raises(Refused, match=r"bend|too large"):
            noise(function, [*right, *bump], 0.0)


@pytest.mark.parametrize("steep", [2.0**51, 2.0**47])
def test_no_slope_is_lost_beside_large_ones(steep: float) -> None:
    """Two numbers without a bend between them still have a slope, to the last digit."""
    with pytest.raises(Refused, match="too large"):
        _difference(np.array([0.5, 0.0]), np.array([0.0, steep * 4]))
    exact = _difference(np.array([0.5, 0.0]), np.array([0.0, 2.0**40]))
    assert np.array_equal(exact, [0.5, -(2.0**40)])


def test_no_slope_no_noise() -> None:
    """Between its ends a step with plateaus passes nothing on; a plain one does."""
    plain = [(1.0, -4.0, 1.0), (1.0, -5.0, -1.0)]
    assert 0.1 <= noise(at_least(5), plain, 0.1) < 0.1001 * 2
    plateau = [(2.0, 1.5 - 10, 1.0), (2.0, 0.5 - 10, -1.0)]
    assert noise(at_least(5), plateau, 0.1) < 1e-4
    assert noise(at_least(5), plateau, 0.0) == 0.0
