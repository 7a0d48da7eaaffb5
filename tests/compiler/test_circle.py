"""Periodic tables read from a circle; tables that see only a sum of their inputs."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product, product as words
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

import krohn
from krohn.algebra import zoo
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import compile_transformer
from krohn.compiler.constructions.registry import construct
from krohn.compiler.passes.simplify import InferDomains
from krohn.compiler.pipeline import Options, arrange, optimise
from krohn.compiler.positions import CIRCLE_PLATEAU, circle_reader
from krohn.compiler.table_forms import Circle, circle_of, linear, too_steep
from krohn.compiler.units import Stage
from krohn.network.cache import Tree
from krohn.network.model import Model
from krohn.network.precision import FLOAT32, PRECISIONS
from krohn.program import Map, Operation, PrefixSum, Program, Row, Token, table

Build = Callable[..., Any]
SINE = Options(FLOAT32, activation="sine")


def summed(values: list[int], step: int = 1, first: int = 0) -> tuple[Program, Map]:
    """A table of a channel whose values are evenly spaced."""
    domain = tuple(range(first, first + step * len(values), step))
    read = Map(table({(x,): v for x, v in zip(domain, values, strict=True)}), ("sum",))
    program = Program((), 0, 1, {"sum": PrefixSum("one")}, (), {}, {"sum": domain})
    return program, read


@given(st.integers(2, 9), st.integers(1, 3), st.integers(0, 5), st.data())
def test_periodic_tables_are_found(
    points: int, step: int, first: int, data: st.DataObject
) -> None:
    period = data.draw(st.permutations(range(points)))
    found = circle_of(*summed(list(period) * 5, step, first))
    assert found is not None
    assert found.rows == tuple(range(points))
    assert np.isclose(found.rates[0] * step, 1)
    assert np.isclose(found.offset, -first / step)


@given(st.integers(4, 9), st.integers(-4, 4), st.data())
def test_tables_of_a_difference_are_found(
    points: int, rate: int, data: st.DataObject
) -> None:
    values = data.draw(st.permutations(range(points)))
    both = range(points)
    rows = {(u, v): values[(u + rate * v) % points] for u in both for v in both}
    domains = {"u": tuple(both), "v": tuple(both)}
    sums = {name: PrefixSum("one") for name in domains}
    program = Program((), 0, 1, sums, (), {}, domains)
    found = circle_of(program, Map(table(rows), ("u", "v")))
    assert found is not None
    assert found.points == points
    for (u, v), value in rows.items():
        place = round(found.offset + found.rates[0] * u + found.rates[1] * v) % points
        row = divmod(found.rows[place], points)
        assert rows[row] == value
    rows[1, 1] = (rows[1, 1] + 1) % points
    assert circle_of(program, Map(table(rows), ("u", "v"))) is None


@pytest.mark.parametrize("values", [[0], [0, 1], [0, 1, 2, 3, 5], [4] * 30])
def test_other_tables_are_not(values: list[int]) -> None:
    assert circle_of(*summed(values)) is None


@given(st.integers(2, 60), st.data())
def test_points_are_told_apart_up_to_the_plateau(
    points: int, data: st.DataObject
) -> None:
    threshold, gain = circle_reader(points)
    off = data.draw(st.floats(-CIRCLE_PLATEAU, CIRCLE_PLATEAU))
    away = np.arange(points) + off
    missed = np.maximum(gain * (threshold - np.cos(2 * np.pi * away / points)), 0.0)
    assert missed[0] <= 1e-9
    assert (missed[1:] >= 1 - 1e-9).all()


def test_the_sine_of_half_turns_is_left_out() -> None:
    stages = [Stage(), Stage(), Stage()]
    Circle((1.0,), 0.0, (0, 1)).read_table([0], stages, np.array([[0.0], [1.0]]))
    assert [len(s.units) for s in stages] == [1, 1, 1]
    assert [s.activations for s in stages] == [
        [["sine", 1]],
        [["relu", 1]],
        [["relu", 1]],
    ]


@pytest.mark.sample(4)
@pytest.mark.parametrize("length", [20, 100, 400])
@pytest.mark.parametrize(("name", "width"), [("C2", 1), ("C5", 4), ("C8", 7)])
def test_width_does_not_grow_with_the_length(
    name: str, width: int, length: int
) -> None:
    machine = zoo.machine(name)
    built = compile_transformer(machine, length, "counter", SINE)
    assert built.cost is not None
    assert built.cost.mlp_width == width
    shape = built.network.architecture["blocks"][0]
    first, *others = (dict(runs) for runs in shape["activation"])
    assert 1 <= first["sine"] <= 2
    assert all(names.keys() == {"relu"} for names in others)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "construction"),
    [
        ("C6", "counter"),
        ("C2xC3", "product"),
        ("S4", "cascade"),
        ("Grid5", "gridworld"),
    ],
)
def test_the_cost_is_predicted(name: str, construction: str) -> None:
    built = compile_transformer(zoo.machine(name), 40, construction, SINE)
    usual = compile_transformer(zoo.machine(name), 40, construction, Options(FLOAT32))
    assert built.cost is not None
    assert usual.cost is not None
    tensors = built.network.tensors
    assert built.cost.parameters == sum(t.size for t in tensors.values())
    widths = [w for b in built.network.architecture["blocks"] for w in b["mlp"]]
    assert built.cost.mlp_width == max(widths)
    assert built.cost.parameters < usual.cost.parameters
    assert built.cost.depth == usual.cost.depth


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "construction", "dtype", "length"),
    [
        ("C2", "counter", "bfloat16", 3),
        ("C3", "counter", "float16", 5),
        ("C4", "counter", "float64", 6),
        ("C2xC3", "product", "float32", 5),
        ("D6", "cascade", "float32", 5),
        ("Q8", "cascade", "float32", 4),
        ("Grid3", "gridworld", "float32", 8),
    ],
)
def test_every_word_by_every_way_of_running(
    name: str, construction: str, dtype: str, length: int
) -> None:
    built = krohn.compile(name, length, construction, dtype=dtype, activation="sine")
    assert built.proof is not None
    assert any("activation" in b for b in built.file.header["architecture"]["blocks"])
    machine, network = zoo.machine(name), Model(built.file).network
    every = list(words(range(len(machine.letters)), repeat=length))
    chosen = np.array(every)[np.random.default_rng(0).permutation(len(every))[:300]]
    expected = machine.semiautomaton.trace(chosen, machine.start)
    tokens = torch.from_numpy(chosen)
    assert np.array_equal(network(tokens).argmax(-1).numpy(), expected)
    cache = network.start(len(chosen))
    for t in range(length):
        logits, cache = network.step(tokens[:, t], cache)
        assert np.array_equal(logits.argmax(-1).numpy(), expected[:, t])
    tree = Tree(len(machine.letters), 2)
    first = network.start(1)
    letters = torch.cat([tree.last[None]], dim=0)
    logits, _ = network.branch(letters, first, tree)
    paths = tree.last[tree.paths]
    after = machine.semiautomaton.trace(paths.numpy(), machine.start)
    assert np.array_equal(logits[0, tree.paths].argmax(-1).numpy(), after)


@pytest.mark.parametrize("dtype", list(PRECISIONS))
def test_sums_may_be_off_by_more_than_for_steps(dtype: str) -> None:
    length = {"float64": 400, "float32": 1500, "float16": 12, "bfloat16": 3}[dtype]
    program = construct("counter", zoo.machine("C2"), length)
    options = Options(PRECISIONS[dtype], activation="sine")
    arrange(optimise(program, options), options)


def test_the_strict_form_has_no_room_for_it() -> None:
    with pytest.raises(CompileError, match="leave one of the two out"):
        krohn.compile("C2", 8, strict=True, activation="sine")


def test_other_activations_are_refused() -> None:
    with pytest.raises(CompileError, match="activation= takes relu or sine or gelu"):
        krohn.compile("C2", 8, activation="tanh")


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


@pytest.mark.sample(1)
@pytest.mark.parametrize("one_hot", [False, True])
def test_long_sums_of_steps_are_no_gain(one_hot: bool) -> None:
    each = range(200)
    rows: dict[Row, int] = {(x, y): abs(x - y) % 97 for x in each for y in each}
    found = linear(program(rows, "as", "bs", length=199, one_hot=one_hot), "out")
    assert (found is not None) == one_hot


def test_sums_that_lose_little_are_not_steep() -> None:
    assert not too_steep(range(100), np.eye(2)[(np.arange(100) > 50).astype(int)])
    assert too_steep(range(4000), np.arange(4000.0)[:, None] % 7)
