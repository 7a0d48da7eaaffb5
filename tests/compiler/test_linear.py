"""Tables that see only a sum of their inputs: found, kept equal, and much smaller."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from krohn.compiler.passes.simplify import InferDomains
from krohn.compiler.table_forms import linear, too_steep
from krohn.program import Map, Operation, PrefixSum, Program, Row, Token, table

LETTERS = ("a", "b")
OPERATIONS: dict[str, Operation] = {
    "token": Token(),
    "is a": Map(table({(0,): 1, (1,): 0, (2,): 0}), ("token",)),
    "is b": Map(table({(0,): 0, (1,): 1, (2,): 0}), ("token",)),
    "as": PrefixSum("is a"),
    "bs": PrefixSum("is b"),
}


def program(
    rows: dict[Row, int], *inputs: str, length: int = 9, one_hot: bool = False
) -> Program:
    """A Program with a table of some of the channels, for words up to a length."""
    operations = {**OPERATIONS, "out": Map(table(rows), inputs)}
    made = InferDomains().apply(Program(LETTERS, 1, length, operations, ("out",), {}))
    return replace(made, one_hot=frozenset({"out"} if one_hot else ()))


@given(st.lists(st.integers(0, 3), min_size=19, max_size=19), st.sampled_from([1, -1]))
def test_what_is_found_is_the_table(values: list[int], sign: int) -> None:
    rows: dict[Row, int] = {
        (x, y): values[x + sign * y if sign > 0 else x - y + 9]
        for x, y in product(range(10), repeat=2)
    }
    found = linear(program(rows, "as", "bs"), "out")
    if found is not None:
        at = dict(zip(found.sums.tolist(), found.values.tolist(), strict=True))
        first, second = found.weights
        assert all(at[first * x + second * y] == v for (x, y), v in rows.items())


def test_differences_are_found() -> None:
    rows: dict[Row, int] = {(x, y): int(x > y) for x, y in np.ndindex(10, 10)}
    found = linear(program(rows, "as", "bs"), "out")
    assert found is not None
    assert (found.weights, found.steps) == ((1, -1), 1)


def test_only_inputs_without_noise_are_scaled() -> None:
    rows: dict[Row, int] = {
        (x, y, z): max(x - y, 0) * z for x, y, z in np.ndindex(10, 10, 2)
    }
    found = linear(program(rows, "as", "bs", "is a"), "out")
    assert found is not None
    assert found.weights[:2] == (1, -1)
    assert abs(found.weights[2]) > 1
    noisy: dict[Row, int] = {(x, y): x ^ y for x, y in np.ndindex(10, 10)}
    assert linear(program(noisy, "as", "bs"), "out") is None


@pytest.mark.parametrize("one_hot", [False, True])
def test_long_sums_of_steps_are_no_gain(one_hot: bool) -> None:
    each = range(200)
    rows: dict[Row, int] = {(x, y): abs(x - y) % 97 for x in each for y in each}
    found = linear(program(rows, "as", "bs", length=199, one_hot=one_hot), "out")
    assert (found is not None) == one_hot


def test_sums_that_lose_little_are_not_steep() -> None:
    assert not too_steep(range(100), np.eye(2)[(np.arange(100) > 50).astype(int)])
    assert too_steep(range(4000), np.arange(4000.0)[:, None] % 7)
