"""Corridors are recognised whatever their states are called, and nothing else is."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bestiary import machines
from hypothesis import given, strategies as st

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton
from krohn.algebra.structure import as_corridor

Build = Callable[..., Any]


@st.composite
def corridors(draw: st.DrawFn) -> tuple[list[list[int]], list[int], list[int]]:
    """A table with its states renamed at random, the cell of each, and the moves."""
    cells = draw(st.integers(2, 7))
    cell = draw(st.permutations(range(cells)))
    far = st.integers(1 - cells, cells - 1)
    moves = [*draw(st.lists(far, max_size=3)), 1]
    state = [cell.index(c) for c in range(cells)]
    table = [
        [state[min(max(cell[q] + k, 0), cells - 1)] for q in range(cells)]
        for k in moves
    ]
    return table, cell, moves


@given(corridors())
def test_renamed_corridors_are_recognised(
    own: Build, drawn: tuple[list[list[int]], list[int], list[int]]
) -> None:
    table, cell, moves = drawn
    found = as_corridor(own(table))
    assert found is not None
    mirrored = [len(cell) - 1 - c for c in cell]
    same = list(found.cell) == cell and list(found.moves) == moves
    turned = list(found.cell) == mirrored and list(found.moves) == [-k for k in moves]
    assert same or turned


@given(machines())
def test_what_is_recognised_is_a_corridor(machine: Any) -> None:
    found = as_corridor(Automaton(machine))
    if found is None:
        return
    cell, last = np.array(found.cell), len(found.cell) - 1
    assert sorted(found.cell) == list(range(last + 1))
    for letter, move in zip(machine.transitions, found.moves, strict=True):
        assert np.array_equal(cell[letter], np.clip(cell + move, 0, last))


@pytest.mark.parametrize("cells", [2, 3, 4, 9, 100])
def test_the_zoo_has_corridors(cells: int) -> None:
    found = as_corridor(zoo.machine(f"Grid{cells}"))
    assert found is not None
    assert sorted(found.moves) == [-1, 1]


@pytest.mark.parametrize("name", ["C2", "C5", "D6", "Memory3", "Dyck2,2", "abab", "A4"])
def test_other_machines_are_no_corridors(name: str) -> None:
    assert as_corridor(zoo.machine(name)) is None


def test_a_flip_flop_is_a_corridor_of_two_cells() -> None:
    found = as_corridor(zoo.machine("FlipFlop"))
    assert found is not None
    assert sorted(found.cell) == [0, 1]
    assert sorted(found.moves) == [-1, 0, 1]


def test_one_state_and_no_path_are_no_corridors(own: Build) -> None:
    assert as_corridor(own([[0]])) is None
    assert as_corridor(own([[0, 1]])) is None
    assert as_corridor(own([[1, 2, 3, 3], [0, 0, 0, 2]])) is None
