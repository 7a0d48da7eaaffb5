"""Holonomy has as many levels as its skeleton has heights, as SgpDec has, never more."""

import numpy as np
import pytest

from krohn.algebra.automaton import Semiautomaton
from krohn.algebra.budget import Budget
from krohn.algebra.decomposition import holonomy as module
from krohn.algebra.decomposition.diagrams import dependencies, levels
from krohn.algebra.decomposition.methods import decompose
from krohn.algebra.decomposition.simplify import cheapest
from krohn.algebra.skeleton import skeleton


def machine(table: list[list[int]]) -> Semiautomaton:
    names = [tuple(map(str, range(count))) for count in (len(table), len(table[0]))]
    return Semiautomaton(np.array(table), *names)


def random_machines(count: int, first: int = 0) -> list[Semiautomaton]:
    """Machines of 4 to 9 states and 2 or 3 letters."""
    found = []
    for seed in range(first, first + count):
        rng = np.random.default_rng(seed)
        states, letters = rng.integers(4, 10), rng.integers(2, 4)
        found.append(machine(rng.integers(0, states, (letters, states)).tolist()))
    return found


def check(m: Semiautomaton) -> None:
    found = skeleton(m)
    height = max(c.height for c in found.classes)
    plain = module.holonomy(m)
    assert len(levels(plain)) <= height
    decomposed = decompose(m, "holonomy")
    assert len(levels(decomposed.cascade)) <= height
    assert decomposed.cost.levels == len(levels(decomposed.cascade))


def test_classes_of_one_height_do_not_read_each_other() -> None:
    """Classes of one height with different groups: of 5 heights they made 6 levels."""
    m = machine([[5, 0, 0, 1, 2, 0], [3, 3, 5, 4, 1, 4], [4, 4, 4, 1, 4, 0]])
    found = skeleton(m)
    slots = module._tiling(found).slots
    heights = np.array([slot.height for slot in slots])
    assert len(set(heights.tolist())) < len(heights)
    reads = dependencies(module.holonomy(m))
    assert not reads[heights[:, None] == heights].any()
    check(m)


@pytest.mark.slow
def test_random_machines_have_no_more_levels_than_heights() -> None:
    for m in random_machines(10):
        check(m)


@pytest.mark.slow
def test_many_random_machines_have_no_more_levels_than_heights() -> None:
    for m in random_machines(200, 1000):
        check(m)


def test_a_cheaper_cascade_with_more_levels_is_not_taken() -> None:
    m = random_machines(1)[0]
    many, few = (decompose(m, method).cascade for method in ("prime", "holonomy"))
    assert len(levels(many)) > len(levels(few))
    assert cheapest([few, many], Budget()) is few
