"""The technical lemmas of the thesis on brackets (3.6.4.4), for all numbers in a box.

Krohn's generator does without Lemmas 40 to 42 (docs/errata.md, D5 to D7); here they are
decided as printed and as repaired.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import z3
from sample_gadgets import Layers, relu_layers

from krohn.instruments.smt.encoding import (
    Term,
    terms,
    variable,
)
from krohn.instruments.smt.gadgets import (
    TERMS,
    Limits,
    ask,
    solver,
)
from krohn.network.meaning.forward import feed

Interval = tuple[Fraction | int, Fraction | int]


def holds(
    layers: Layers,
    box: Sequence[Interval],
    wanted: Callable[[Sequence[Term]], Any],
    within: Fraction = Fraction(0),
) -> bool:
    """Whether an MLP says what is wanted, for all numbers in a box."""
    numbers, bounds = [], []
    for i, (low, high) in enumerate(box):
        x, inside = variable(f"x{i}", Fraction(low), Fraction(high))
        numbers.append(x)
        bounds.append(inside)
    (said,) = feed(TERMS, relu_layers(layers), terms(numbers))
    off = said.expression - wanted(numbers)
    limit = z3.RealVal(within)
    wrong = z3.Or(off > limit, off < -limit)
    return ask(solver(Limits()), [*bounds, wrong], Limits()).outcome == "unsat"


POINTS, VALUES, MARGIN = (0, 2, 3, 7), (4, -1, 5, 2), Fraction(1, 2)


def interpolation() -> Layers:
    """Lemma 38 on a line: two ReLUs for each point, margin between neighbours."""
    z: list[Fraction] = []
    for y in VALUES:
        z.append(y / MARGIN - 2 * sum(z))
    shifts = [s * MARGIN - x for x in POINTS for s in (1, -1)]
    return [
        ([[1] * len(shifts)], list(shifts)),
        ([[s * zi] for zi in z for s in (1, -1)], [0]),
    ]


@pytest.mark.parametrize("i", range(len(POINTS)))
def test_lemma_38_meets_its_points_and_has_no_plateau(i: int) -> None:
    x, y = POINTS[i], VALUES[i]
    assert holds(interpolation(), [(x, x)], lambda _: y)
    near = [(x - MARGIN / 8, x + MARGIN / 8)]
    assert not holds(interpolation(), near, lambda _: y)


def selection(n: int, largest: int, linear: bool) -> Layers:
    """Lemma 40: x_y of x in [0, M]^n and y in 1..n; 2n ReLUs and one for −M(y − 1)."""
    pairs = [(i, shift) for i in range(1, n + 1) for shift in (i, i + 1)]
    first = [[int(i == j) for j, _ in pairs] + [0] for i in range(1, n + 1)]
    first.append([largest] * len(pairs) + [1])
    bias = [-largest * shift for _, shift in pairs] + [-1]
    out = [[1 if shift == i else -1] for i, shift in pairs] + [[-largest * linear]]
    return [(first, bias), (out, [0])]


@pytest.mark.parametrize("y", [1, 2, 3])
def test_lemma_40_selects_with_one_unit_more_than_printed(y: int) -> None:
    box = [(0, 5)] * 3 + [(y, y)]
    layers = selection(3, 5, linear=True)
    assert len(layers[0][1]) == 2 * 3 + 1
    assert holds(layers, box, lambda x: x[y - 1].expression)
    assert holds(selection(3, 5, linear=False), box, lambda x: x[y - 1].expression) == (
        y == 1
    )


def index(n: int, margin: int, stray: bool) -> Layers:
    """Lemma 41: the place of the only number above M."""
    first = [[int(i == j) for j in range(n) for _ in (0, 1)] for i in range(n)]
    bias = [s * -margin for _ in range(n) for s in (0, 1)]
    out = [[Fraction(s * (i + 1), margin)] for i in range(n) for s in (1, -1)]
    return [(first, bias), (out, [Fraction(n * (n + 1), 2) if stray else 0])]


@pytest.mark.parametrize("i", range(4))
def test_lemma_41_finds_the_place_without_the_stray_summand(i: int) -> None:
    box = [(2, 9) if j == i else (0, 0) for j in range(4)]
    assert holds(index(4, 2, stray=False), box, lambda _: i + 1)
    assert not holds(index(4, 2, stray=True), box, lambda _: i + 1)
    assert holds(index(4, 2, stray=True), box, lambda _: i + 1 + 10)


NETS = [
    ([Fraction(2), Fraction(-3)], [Fraction(-1), Fraction(2)], Fraction(1)),
    ([Fraction(-1), Fraction(1)], [Fraction(3), Fraction(-2)], Fraction(-2)),
    ([Fraction(1), Fraction(4)], [Fraction(-3), Fraction(-1)], Fraction(0)),
]
"""Three functions of x in [0, 2] by two ReLUs: slopes, biases, and what is added."""
OUT = (1, -2)
"""The output weights of their ReLUs."""
MOST = 8
"""No pre-activation of them is larger on [0, 2], in absolute value."""


def gated(repaired: bool) -> Layers:
    """Lemma 42: y chooses one of K networks, by gates that the others saturate."""
    weights, biases, out = [], [], []
    step, rise = (2 * MOST, MOST) if repaired else (MOST, MOST)
    for k, (slopes, shifts, _) in enumerate(NETS, start=1):
        for a, slope, shift in zip(OUT, slopes, shifts, strict=True):
            for sign, less in ((1, 0), (-1, rise)):
                weights.append((step, slope))
                biases.append(shift - step * k - less)
                out.append(sign * a)
    # An open gate that is past gives a constant: what is left is a function of y alone.
    needed = []
    for y, (_, _, added) in enumerate(NETS, start=1):
        saturated = rise * sum(OUT) * (y - 1)
        steps = sum(c * (y - k + 1) for k, c in enumerate(needed, start=1))
        needed.append(added - saturated - steps)
    for k, c in enumerate(needed, start=1):
        weights.append((1, Fraction(0)))
        biases.append(Fraction(1 - k))
        out.append(c)
    return [
        ([list(row) for row in zip(*weights, strict=True)], biases),
        (
            [[c] for c in out],
            [0],
        ),
    ]


def _chosen(y: int) -> Callable[[Sequence[Term]], Any]:
    slopes, shifts, added = NETS[y - 1]

    def wanted(x: Sequence[Term]) -> Any:
        units = [
            z3.RealVal(s) * x[1].expression + z3.RealVal(b)
            for s, b in zip(slopes, shifts, strict=True)
        ]
        first, second = (z3.If(u > 0, u, z3.RealVal(0)) for u in units)
        return OUT[0] * first + OUT[1] * second + z3.RealVal(added)

    return wanted


@pytest.mark.parametrize("y", [1, 2, 3])
def test_lemma_42_needs_gates_twice_as_wide(y: int) -> None:
    assert holds(gated(repaired=True), [(y, y), (0, 2)], _chosen(y))


def test_lemma_42_as_printed_fails_where_a_pre_activation_is_negative() -> None:
    assert not all(
        holds(gated(repaired=False), [(y, y), (0, 2)], _chosen(y)) for y in (1, 2, 3)
    )


def test_lemma_43_is_a_linear_map_of_small_norm() -> None:
    w = np.array([[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, -2.0]])
    assert np.linalg.norm(w, 2) <= 2
    first = np.concatenate([w, -w])
    out = np.concatenate([np.eye(3), -np.eye(3)], axis=1)
    assert max(np.linalg.norm(first, 2), np.linalg.norm(out, 2)) <= 2 * np.sqrt(2)
    exact = [[Fraction(round(10 * v), 10) for v in row] for row in first.T]
    for row in range(3):
        layers: Layers = [
            (exact, [0] * 6),
            ([[int(v)] for v in out[row]], [0]),
        ]
        assert holds(
            layers,
            [(-5, 5)] * 3,
            lambda x, row=row: sum(
                z3.RealVal(exact[i][row]) * x[i].expression for i in range(3)
            ),
        )
