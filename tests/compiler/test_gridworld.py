"""Clamped walks in two layers: right from every cell, and what the paper's are."""

from collections.abc import Callable, Sequence
from itertools import product as words
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from random_machines import agrees

from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.minimisation import reachable
from krohn.algebra.structure import as_corridor
from krohn.compiler import CompileError
from krohn.compiler.constructions.registry import construct
from krohn.program.interpreter import interpret, states

Build = Callable[..., Any]
MOVES = (-1, 0, 1)


def corridor(cells: int, start: int, moves: Sequence[int] = MOVES) -> Automaton:
    """A corridor with a letter for each move."""
    cell = np.arange(cells)
    table = np.stack([np.clip(cell + k, 0, cells - 1) for k in moves])
    names = tuple(map(str, moves)), tuple(map(str, range(cells)))
    return Automaton(Semiautomaton(table, *names), start, name="corridor")


def rooms(width: int, height: int, start: int = 0) -> Automaton:
    """A gridworld of two dimensions with five letters."""
    states = list(words(range(width), range(height)))
    steps = [(-1, 0), (1, 0), (0, -1), (0, 1), (0, 0)]
    table = [
        [
            states.index(
                (min(max(x + a, 0), width - 1), min(max(y + b, 0), height - 1))
            )
            for x, y in states
        ]
        for a, b in steps
    ]
    names = tuple("lrduo"), tuple(map(str, states))
    return Automaton(Semiautomaton(np.array(table), *names), start, name="rooms")


def algorithm1(moves: Sequence[int], last: int, start: int) -> int:
    """Algorithm 1 of the thesis, repaired (E27): the cell after a walk.

    The walk is padded so that it is pushed against cell 0 and led to its start. The
    latest window of times at which it meets last + 1 levels reaches one wall last.
    """
    z = np.cumsum([*[-1] * (last + 1), *[1] * start, *moves])
    first = next(t for t in range(len(z))[::-1] if len(set(z[t:])) == last + 1)
    window = z[first:]
    lowest = first + np.flatnonzero(window == window.min())[-1]
    highest = first + np.flatnonzero(window == window.max())[-1]
    wall = 0 if lowest > highest else last
    return int(z[-1] - z[max(lowest, highest)] + wall)


@pytest.mark.sample(1)
@pytest.mark.parametrize("cells", [2, 3, 4, 5])
def test_every_walk_from_every_cell(cells: int) -> None:
    for start in range(cells):
        assert agrees(corridor(cells, start), "gridworld", 6)


@given(st.integers(1, 5), st.data())
def test_the_walk_is_that_of_algorithm_1(last: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, last))
    moves = data.draw(st.lists(st.sampled_from(MOVES), min_size=1, max_size=30))
    program = construct("gridworld", corridor(last + 1, start), len(moves))
    word = [[MOVES.index(k) for k in moves]]
    found = [algorithm1(moves[: t + 1], last, start) for t in range(len(moves))]
    assert states(program, word)[0].tolist() == found


@given(st.integers(2, 6), st.data())
def test_the_levels_met_last_are_a_window(cells: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, cells - 1))
    word = data.draw(st.lists(st.integers(0, 2), min_size=1, max_size=40))
    machine = corridor(cells, start)
    program = construct("gridworld", machine, len(word))
    values = interpret(program, [word])
    below = np.stack([values[n][0] for n in program.outputs])
    assert (np.diff(below, axis=0) >= 0).all()
    found = as_corridor(machine)
    assert found is not None
    cell = np.array(found.cell)
    trace = machine.semiautomaton.trace(word, start)
    assert np.array_equal(below.sum(axis=0), cell[[start, *trace]])


@pytest.mark.sample(1)
@pytest.mark.parametrize(("width", "height"), [(2, 2), (2, 3), (3, 4)])
def test_two_dimensions_are_served_by_the_product(width: int, height: int) -> None:
    for start in range(width * height):
        assert agrees(rooms(width, height, start), "product", 4)


def test_one_way_corridors_are_served(own: Build) -> None:
    machine = own([[1, 2, 3, 3], [0, 1, 2, 3]], start=1)
    for served in (machine, reachable(machine)):
        assert agrees(served, "gridworld", 5)


def test_jumps_are_refused() -> None:
    with pytest.raises(CompileError, match="its letter 2 moves by more than one"):
        construct("gridworld", corridor(4, 0, (-1, 1, 2)), 4)
