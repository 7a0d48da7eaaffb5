"""Clamped walks by strides of any size: right from every cell, and proved."""

from collections.abc import Sequence
from itertools import product as words

import numpy as np
import pytest
from hypothesis import given, strategies as st
from random_machines import agrees

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.compiler.constructions.registry import construct
from krohn.compiler.pipeline import Options
from krohn.compiler.planning import plans
from krohn.network.precision import FLOAT32
from krohn.program.interpreter import interpret, states


def walker(cells: int, start: int, moves: Sequence[int]) -> Automaton:
    """A corridor with a letter for each move."""
    cell = np.arange(cells)
    table = np.stack([np.clip(cell + k, 0, cells - 1) for k in moves])
    names = tuple(f"{i}:{k}" for i, k in enumerate(moves)), tuple(map(str, cell))
    return Automaton(Semiautomaton(table, *names), start, name="walker")


def burst(moves: Sequence[int]) -> list[int]:
    """The same walk by steps of one cell."""
    return [int(np.sign(k)) for k in moves for _ in range(abs(k))]


@pytest.mark.sample(1)
@pytest.mark.parametrize("moves", [(-1, 1), (-1, 0, 2), (1, -3), (-1, 1, 2, -2, 3)])
@pytest.mark.parametrize("cells", [2, 3, 5])
def test_every_walk_from_every_cell(cells: int, moves: tuple[int, ...]) -> None:
    length = 7 if len(moves) < 4 else 5
    for start in range(cells):
        assert agrees(walker(cells, start, moves), "corridor", length)


@given(st.integers(2, 8), st.data())
def test_a_stride_is_a_burst_of_steps(cells: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, cells - 1))
    sizes = st.integers(1 - cells, cells - 1)
    moves = data.draw(st.lists(sizes, min_size=1, max_size=20))
    machine = walker(cells, start, (1, -1, *moves))
    word = [i + 2 for i in range(len(moves))]
    found = states(construct("corridor", machine, len(word)), [word])[0]
    steps = [0 if k > 0 else 1 for k in burst(moves)]
    by_steps = machine.semiautomaton.trace([steps], start)[0] if steps else []
    ends = np.cumsum(np.abs(moves))
    expected = [int(by_steps[e - 1]) if e else start for e in ends.tolist()]
    assert found.tolist() == expected


@given(st.integers(2, 6), st.data())
def test_the_window_holds_the_levels_met_last(cells: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, cells - 1))
    moves = (1, -1, cells - 1, 1 - cells, 0)
    word = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=30))
    machine = walker(cells, start, moves)
    program = construct("corridor", machine, len(word))
    values = interpret(program, [word])
    met = {r: r for r in range(cells)}
    level = start
    for t, letter in enumerate(word, start=1):
        for step in burst([moves[letter]]):
            level += step
            met[level % cells] = level
        window = sorted(met.values())
        assert window == list(range(window[0], window[0] + cells))
        assert values["cell"][0, t] == level - window[0]
        for r, last in met.items():
            assert values[f"met{r}"][0, t] == last // cells % 2


@pytest.mark.slow
@pytest.mark.parametrize("activation", ["relu", "sine"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_strides_are_proved(activation: str, dtype: str) -> None:
    machine = walker(5, 2, (-1, 1, 0, 3, -4))
    built = krohn.compile(machine, 60, "corridor", dtype=dtype, activation=activation)
    summary = built.summary()
    assert (summary["depth"], summary["heads"]) == (2, 5)


@pytest.mark.slow
def test_wide_corridors_are_proved() -> None:
    built = krohn.compile("Grid40", 80, "corridor", activation="sine")
    assert built.proof is not None
    assert built.proof.evidence[0]["program"]["states"] <= 6 * 40**2


@pytest.mark.slow
def test_the_planner_takes_the_smaller_one() -> None:
    machine, options = zoo.machine("Grid9"), Options(FLOAT32)
    near, far = (
        plans(name, machine, 50, options, "parameters")[0].cost
        for name in ("gridworld", "corridor")
    )
    assert near.depth == far.depth == 2
    assert far.parameters < near.parameters
    assert near.layers < far.layers


@pytest.mark.slow
def test_rooms_with_long_strides_are_served_by_the_product() -> None:
    sides = [walker(3, 0, (1, -1, 0, 0, 2)), walker(4, 3, (0, 0, 1, -1, -3))]
    pairs = list(words(range(3), range(4)))
    tables = [s.semiautomaton.transitions for s in sides]
    rows = [
        [pairs.index((tables[0][a, x], tables[1][a, y])) for x, y in pairs]
        for a in range(5)
    ]
    names = tuple("abcde"), tuple(map(str, pairs))
    machine = Automaton(Semiautomaton(np.array(rows), *names), 3, name="rooms")
    built = krohn.compile(machine, 20, "product")
    assert built.summary()["depth"] == 2
