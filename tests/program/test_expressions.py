"""Piecewise linear expressions: what they mean, what bounds them, how they are stated."""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from krohn.program import Piecewise, Refused
from krohn.program.domains import Values
from krohn.program.expressions import (
    Bounds,
    Expression,
    argument,
    greater,
    number,
    read_expression,
    rectify,
    value,
)
from krohn.program.whole_expressions import differs, gate, maximum, minimum

X, Y, Z = map(argument, range(3))


@pytest.mark.parametrize(
    ("expression", "meaning"),
    [
        (minimum(X, Y, Z), lambda x, y, z: min(x, y, z)),
        (maximum(X, Y, Z), lambda x, y, z: max(x, y, z)),
        (greater(X, Y), lambda x, y, z: int(x > y)),
        (differs(X, Y), lambda x, y, z: int(x != y)),
        (gate(X, greater(Y, number(1)), 3), lambda x, y, z: x * (y > 1)),
        (2 * X - Y + 3, lambda x, y, z: 2 * x - y + 3),
    ],
)
def test_expressions_mean_what_their_names_say(
    expression: Expression, meaning: Callable[[int, int, int], int]
) -> None:
    rows = np.array(list(product(range(4), repeat=3)))
    found = expression(list(rows.T))
    assert found.tolist() == [meaning(*row) for row in rows.tolist()]
    assert found.tolist() == expression.expansion(list(rows.T)).tolist()
    low, high = Bounds(dict.fromkeys(range(3), (0, 3))).of(expression)
    assert low <= found.min()
    assert found.max() <= high


def drawn(rng: np.random.Generator, depth: int) -> Expression:
    """A random expression of three arguments."""
    found = number(int(rng.integers(-3, 4)))
    for _ in range(rng.integers(1, 4)):
        weight = int(rng.choice([-2, -1, 1, 2]))
        kind = rng.integers(3) if depth else 0
        if kind == 0:
            found = found + weight * argument(int(rng.integers(3)))
        elif kind == 1:
            found = found + weight * rectify(drawn(rng, depth - 1))
        else:
            found = found + weight * value(drawn(rng, depth - 1))
    return found


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(5))
def test_no_value_leaves_its_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(80):
        expression = drawn(rng, 2)
        low = rng.integers(0, 3, size=3)
        high = low + rng.integers(0, 4, size=3)
        box = {i: (int(low[i]), int(high[i])) for i in range(3)}
        rows = np.array(list(product(*(range(*(a, b + 1)) for a, b in box.values()))))
        found = expression(list(rows.T))
        least, most = Bounds(box).of(expression)
        assert least <= found.min()
        assert found.max() <= most
        assert read_expression(expression.to_wire(), 3) == expression
        assert (expression.expansion(list(rows.T)) == found).all()


def test_bounds_of_a_minimum_and_of_a_gate_are_exact() -> None:
    box = {0: (2, 9), 1: (4, 5), 2: (0, 1)}
    assert Bounds(box).of(Y - rectify(Y - X)) == (2, 5)
    assert Bounds(box).of(gate(X, Z, 9)) == (0, 9)
    assert Bounds(box).of(minimum(X + 2, Y)) == (4, 5)


def test_domains_are_found_for_each_pattern_of_the_position() -> None:
    """A gate whose bit the position decides, and a constant where it is 0."""
    flag = Values(0, np.array([0, 1]), np.array([0, 0, 1, 1]))
    fixed = Values(9, np.array([0, 9]), np.array([9, 9, 0, 0]))
    wide = Values(0, np.arange(5))
    function = Piecewise(gate(X, Y, 4) + Z)
    found = function.infer([wide, flag, fixed])
    assert found.bos == 9
    assert found.later.tolist() == [0, 1, 2, 3, 4, 9]


@pytest.mark.parametrize(
    "told",
    [
        [0],
        [0, [[0, "argument", 0]]],
        [0, [[1, "argument", 3]]],
        [0, [[1, "product", 0]]],
        [2**40, []],
        [0, [[1, "argument", 1], [1, "argument", 0]]],
        [0, [[True, "argument", 0]]],
    ],
)
def test_malformed_expressions_are_refused(told: object) -> None:
    with pytest.raises(Refused):
        read_expression(told, 3)


def test_a_nested_term_is_no_piecewise_function_of_a_file() -> None:
    deep = rectify(X - rectify(Y - X))
    with pytest.raises(Refused, match="holds another"):
        Piecewise.from_wire({"expression": deep.to_wire()}, 2)


def test_what_can_be_negative_is_refused() -> None:
    with pytest.raises(Refused, match="negative"):
        Piecewise(X - Y).infer([Values(0, np.arange(3)), Values(0, np.arange(3))])


def test_bounds_of_a_line_that_bends_along_two_arguments_are_exact() -> None:
    """Also where a part of it is linear: a table of a pair, as one function of 4x + y."""
    rng = np.random.default_rng(4)
    for _ in range(30):
        entries = rng.integers(-9, 9, size=16)
        z, bends = 4 * X + Y, np.diff(entries, 2)
        line = number(int(entries[0])) + int(entries[1] - entries[0]) * z
        for k, bent in enumerate(bends.tolist(), 1):
            line = line + bent * rectify(z - k)
        box = {0: (0, 3), 1: (0, 3)}
        assert Bounds(box).of(line) == (entries.min(), entries.max())


W = 2**31 - 1
"""The largest number of a Program."""


def whole(expression: Expression, at: Sequence[int]) -> int:
    """The value in whole numbers of any size."""
    total = expression.constant
    for atom, weight in expression.terms:
        inside = atom.inside
        value = at[inside] if isinstance(inside, int) else whole(inside, at)
        total += weight * (max(value, 0) if atom.kind == "rectified" else value)
    return total


@given(
    st.lists(st.lists(st.sampled_from([-W, -1, 1, 2**24, W]), min_size=4, max_size=4)),
    st.lists(st.sampled_from([0, 1, 2**16, W]), min_size=6, max_size=6),
    st.sampled_from(["given", "bos"]),
)
def test_values_are_those_of_whole_numbers_or_refused(
    weights: list[list[int]], at: list[int], how: str
) -> None:
    """Functions of the position, and of what is large at BOS only, must not wrap."""
    terms = [
        w * rectify(a * argument(0) + b * argument(1) + c * argument(2) - w)
        for a, b, c, w in weights
    ]
    function = Piecewise(sum(terms, number(1)))
    read = [
        Values(x, np.array([y]), np.array([x, y]) if how == "given" else None)
        for x, y in zip(at[:3], at[3:], strict=True)
    ]
    try:
        found = function.infer(read)
    except Refused:
        return
    assert found.bos == whole(function.expression, at[:3])
    assert whole(function.expression, at[3:]) in found.later


def test_what_is_small_in_the_end_is_refused_if_it_is_too_large_on_the_way() -> None:
    inside = W * (argument(0) + argument(1) + argument(2))
    flag = Piecewise(greater(inside, number(0)))
    assert whole(flag.expression, [W] * 3) == 1
    for inputs in (
        Values(W, np.array([W]), np.full(4, W)),
        Values(W, np.array([0])),
    ):
        with pytest.raises(Refused, match="too large"):
            flag.infer([inputs] * 3)


@pytest.mark.parametrize("given", [True, False])
def test_results_that_wrap_to_small_ones_are_refused(given: bool) -> None:
    """This is 2^64 + 1 at the largest number, with no large number inside of a term."""
    large = [W * rectify(argument(0) - i) for i in range(4)]
    more = [rectify(argument(0) - i) for i in range(4, 18)]
    function = Piecewise(sum([*large, *more], number(152)))
    assert whole(function.expression, [W]) == 2**64 + 1
    assert function([np.array([W])]).tolist() == [1]
    inputs = Values(W, np.array([W]), np.full(4, W) if given else None)
    with pytest.raises(Refused, match="a piecewise function can become too large"):
        function.infer([inputs])
