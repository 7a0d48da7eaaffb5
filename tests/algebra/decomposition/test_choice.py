"""Cascades chosen for products of machines, and cascades cut to their needed part."""

import numpy as np
import pytest
from bestiary import machine

from krohn.algebra import zoo
from krohn.algebra.automaton import IntArray, Semiautomaton
from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.cascade import (
    INVALID,
    Cascade,
    Projection,
    Wiring,
    component_of,
    prove,
)
from krohn.algebra.decomposition.diagrams import kind, levels, refine
from krohn.algebra.decomposition.group_part import flip_flops
from krohn.algebra.decomposition.methods import decompose
from krohn.algebra.decomposition.simplify import simplify
from krohn.algebra.groups.naming import name as group_name


def beside(*tables: IntArray) -> Semiautomaton:
    """Machines side by side whose letters each act on one of them."""
    sizes = [table.shape[1] for table in tables]
    at = np.indices(sizes).reshape(len(sizes), -1)
    rows = [
        np.ravel_multi_index([*at[:i], letter[at[i]], *at[i + 1 :]], sizes)
        for i, table in enumerate(tables)
        for letter in table
    ]
    return machine(rows)


def shift_register(bits: int) -> IntArray:
    states = np.arange(2**bits)
    return np.stack([(2 * states + bit) % 2**bits for bit in (0, 1)])


@pytest.mark.slow
def test_two_shift_registers_side_by_side_are_two_shift_registers() -> None:
    """Their many coarse congruences must not be taken for factors each."""
    found = decompose(beside(shift_register(3), shift_register(3)))
    assert [kind(c) for c in found.cascade.components] == ["flip-flop"] * 6
    assert [len(level) for level in levels(found.cascade)] == [2, 2, 2]


@pytest.mark.slow
def test_grids_counters_and_bits_side_by_side_come_apart() -> None:
    grid = zoo.machine("Grid4").semiautomaton.transitions
    cube = decompose(beside(grid, grid, grid)).cascade
    assert [len(level) for level in levels(cube)] == [3, 3, 3]
    bit = np.array([[0, 0], [1, 1], [1, 0]])
    bits = decompose(beside(bit, bit, bit, bit)).cascade
    assert [len(level) for level in levels(bits)] == [4, 4]


def test_groups_that_are_not_solvable_act_on_few_points_where_they_can() -> None:
    regular = zoo.machine("A5").semiautomaton.transitions
    found = decompose(beside(regular, np.array([[1, 0]])))
    assert {group_name(c.group) for c in found.cascade.components} == {"A5", "C2"}
    assert len(levels(found.cascade)) == 1
    assert sum(found.cascade.sizes) < 62


@pytest.mark.slow
def test_letters_that_do_the_same_cost_nothing() -> None:
    grid = zoo.machine("Grid5").semiautomaton
    again = machine(np.tile(grid.transitions, (200, 1)))
    assert decompose(again).cost == decompose(grid).cost
    assert decompose(again, "prime").covering.coordinates == 16


def test_values_are_dropped_only_where_components_still_permute_or_reset() -> None:
    """Without the value 3, which does not occur, the cycle would be no permutation."""
    keep, cycle = np.arange(4), np.array([1, 2, 3, 0])
    upper = component_of([[1, 1]], ("0", "1"))
    lower = component_of([keep, cycle], ("0", "1", "2", "3"))
    follow = np.full((2, 4), INVALID)
    follow[0, [0, 1]], follow[1, [1, 2]] = [0, 1], [2, 3]
    cascade = Cascade(
        ("a",),
        ("q0", "q1", "q2", "q3"),
        (upper, lower),
        Wiring([0], ([0], [1, 0]), ([[0, 1]], np.zeros((2, 4), dtype=int))),
        Projection(([[0, 1]], follow)),
        [[0, 0], [0, 1], [1, 1], [1, 2]],
    )
    a = Semiautomaton(np.array([[2, 3, 2, 3]]), cascade.letters, cascade.states)
    assert prove(a, cascade).coordinates == 4
    simple = simplify(cascade)
    assert prove(a, simple).coordinates == 4
    assert all(c.is_permutation_reset for c in simple.components)


@pytest.mark.slow
def test_budgets_hold_where_refinements_and_congruences_abound() -> None:
    rng = np.random.default_rng(0)
    resets = machine(np.repeat(rng.integers(0, 40, (40, 1)), 40, axis=1))
    cascade = decompose(resets, "holonomy").cascade
    inner = flip_flops(cascade.components[0])
    with pytest.raises(BudgetExceeded, match="nodes of the wiring"):
        refine(cascade, 0, inner, Budget(size=5))
    # Equality but for one state: each pair of states has a congruence of its own.
    still = np.arange(60)
    still[-1] = 0
    budget = Budget(400_000)
    decompose(machine([still]), "congruence", budget)
    assert budget.spent < 2 * budget.steps
    assert "not all quotients of the machine were tried" in budget.cut
