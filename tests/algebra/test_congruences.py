"""Partitions that letters respect."""

from itertools import combinations

import numpy as np
import pytest
from bestiary import machine, machines
from hypothesis import given

from krohn.algebra import zoo
from krohn.algebra.automaton import IntArray, Semiautomaton
from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.minimisation import (
    blocks,
    canonical_labels,
    factor_congruences,
    independent,
    join,
    meet,
    principal_congruences,
    refines,
)


def generated_by_force(a: Semiautomaton, p: int, q: int) -> tuple[int, ...]:
    """Identify p and q, and whatever letters make of identified states, to the end."""
    label = list(range(len(a.states)))
    todo = [(p, q)]
    while todo:
        p, q = todo.pop()
        if label[p] != label[q]:
            low, high = sorted((label[p], label[q]))
            label = [low if x == high else x for x in label]
            pairs = combinations(range(len(label)), 2)
            todo += [
                (int(row[x]), int(row[y]))
                for x, y in pairs
                if label[x] == label[y]
                for row in a.transitions
            ]
    return tuple(label)


@given(machines())
def test_principal_congruences_are_those_that_pairs_generate(a: Semiautomaton) -> None:
    pairs = combinations(range(len(a.states)), 2)
    expected = {generated_by_force(a, p, q) for p, q in pairs}
    found = principal_congruences(a.transitions)
    assert {tuple(c.tolist()) for c in found} == expected
    assert len(found) == len(expected)
    sizes = [blocks(c) for c in found]
    assert sizes == sorted(sizes, reverse=True)


@given(machines())
def test_factors_are_congruences_that_meet_in_equality(a: Semiautomaton) -> None:
    found = factor_congruences(principal_congruences(a.transitions))
    if found is None:
        return
    assert blocks(meet(found)) == len(a.states)
    for congruence in found:
        assert 1 < blocks(congruence) < len(a.states)
        for row in a.transitions:
            assert np.array_equal(congruence[row], congruence[row[congruence]])
        others = [c for c in found if c is not congruence]
        assert not others or blocks(meet(others)) < len(a.states)


@pytest.mark.parametrize(
    ("name", "sizes"), [("C6", [2, 3]), ("C2xC2xC2", [2, 2, 2]), ("C4", None)]
)
def test_products_split_and_others_do_not(name: str, sizes: list[int] | None) -> None:
    table = zoo.machine(name).semiautomaton.transitions
    found = factor_congruences(principal_congruences(table))
    assert (found and [blocks(c) for c in found]) == sizes


def test_factors_that_tell_of_each_other_are_met_in_one() -> None:
    left, right, newest, middle = (
        canonical_labels(np.arange(24) // 3),
        canonical_labels(np.arange(24) % 3),
        canonical_labels(np.arange(24) // 12),
        canonical_labels(np.arange(24) // 6),
    )
    found = independent([newest, right, middle, left])
    assert sorted(blocks(c) for c in found) == [3, 8]
    assert blocks(meet(found)) == 24
    assert len(independent([newest, right])) == 2


@pytest.mark.slow
def test_factors_are_found_among_thousands_of_congruences() -> None:
    """Each pair of states is a smallest congruence where no letter moves anything."""
    found = factor_congruences(principal_congruences(np.arange(40)[None]))
    assert found is not None
    assert blocks(meet(found)) == 40
    with pytest.raises(BudgetExceeded, match="congruences"):
        factor_congruences(principal_congruences(np.arange(9)[None]), Budget(0))


def test_join_and_meet_are_the_bounds_of_the_lattice() -> None:
    def partition(*labels: int) -> IntArray:
        return canonical_labels(np.array(labels))

    one, other = partition(0, 0, 1, 1, 2), partition(0, 1, 1, 2, 2)
    assert blocks(join([one, other])) == 1
    assert blocks(meet([one, other])) == 5
    assert refines(meet([one, other]), one)
    assert refines(one, join([one, other]))


def test_the_budget_counts_pairs() -> None:
    with pytest.raises(BudgetExceeded, match="pairs of states"):
        principal_congruences(machine([list(range(50))]).transitions, Budget(size=1000))
