"""Every way to take a machine apart gives a cascade that covers it."""

from itertools import product

import numpy as np
import pytest
from bestiary import BESTIARY, cerny, full_transformations, machine, machines, monoid
from hypothesis import given, settings

from krohn.algebra import zoo
from krohn.algebra.automaton import Semiautomaton
from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.cascade import Cascade, prove
from krohn.algebra.decomposition.diagrams import (
    dependencies,
    kind,
    levels,
    meaning,
    reachable_coordinates,
    restrict_to_reachable,
)
from krohn.algebra.decomposition.holonomy import holonomy
from krohn.algebra.decomposition.methods import METHODS, decompose
from krohn.algebra.decomposition.simplify import cost, simplify
from krohn.algebra.errors import KrohnError
from krohn.algebra.groups.naming import name as group_name
from krohn.algebra.skeleton import skeleton


def groups(cascade: Cascade) -> list[str]:
    return [group_name(component.group) for component in cascade.components]


def is_aperiodic(a: Semiautomaton) -> bool:
    """No word has a cycle: s^n = s^(n+1) for each s in the monoid."""
    for s in monoid(a):
        power = np.arange(len(s))
        for _ in range(len(s)):
            power = s[power]
        if not np.array_equal(s[power], power):
            return False
    return True


@pytest.mark.sample(1)
@pytest.mark.parametrize("method", [*METHODS, "auto"])
@pytest.mark.parametrize("name", BESTIARY)
def test_every_method_covers_every_beast(name: str, method: str) -> None:
    a = BESTIARY[name]
    found = decompose(a, method)
    assert prove(a, found.cascade) == found.covering
    assert all(c.is_permutation_reset for c in found.cascade.components)
    assert all(c.size > 1 for c in found.cascade.components)


@settings(max_examples=5)
@given(machines())
def test_cascades_follow_the_machine_letter_by_letter(a: Semiautomaton) -> None:
    rng = np.random.default_rng(1)
    words = rng.integers(0, len(a.letters), (50, 20))
    for method in METHODS:
        cascade = decompose(a, method).cascade
        state = rng.integers(0, len(a.states), len(words))
        at = cascade.lift[state]
        for letter in words.T:
            state, at = a.transitions[letter, state], cascade.step(at, letter)
            assert np.array_equal(cascade.state_of(at), state)


@settings(max_examples=25)
@given(machines(most_states=4))
def test_holonomy_groups_are_trivial_exactly_for_aperiodic_machines(
    a: Semiautomaton,
) -> None:
    cascade = holonomy(a)
    assert prove(a, cascade).triples
    assert all(c.group.order == 1 for c in cascade.components) == is_aperiodic(a)


@settings(max_examples=12)
@given(machines(most_states=5))
def test_simplification_and_restriction_keep_what_is_covered(a: Semiautomaton) -> None:
    cascade = holonomy(a)
    simple = simplify(cascade)
    small = simplify(restrict_to_reachable(cascade, Budget()))
    assert prove(a, simple).coordinates <= prove(a, cascade).coordinates
    assert len(reachable_coordinates(small, Budget())) == prove(a, small).coordinates
    for one in (simple, small):
        assert cost(one).depth <= cost(cascade).depth
        assert np.array_equal(simplify(one).sizes, one.sizes)


@pytest.mark.slow
@settings(max_examples=10)
@given(machines(most_states=5))
def test_a_component_reads_only_what_it_is_said_to_read(a: Semiautomaton) -> None:
    cascade = decompose(a).cascade
    reads = dependencies(cascade)
    rows = reachable_coordinates(cascade, Budget())
    for letter in range(len(a.letters)):
        node = cascade.wiring.entry[np.full(len(rows), letter)]
        for i, component in enumerate(cascade.components):
            asked = component.machine.transitions[cascade.wiring.emit[i][node]]
            # Where no other value is valid, a node's letter is arbitrary.
            moved = asked[np.arange(len(rows)), rows[:, i]]
            seen: dict[tuple[int, ...], int] = {}
            for row, after in zip(rows.tolist(), moved.tolist(), strict=True):
                key = (row[i], *(row[j] for j in range(i) if reads[i, j]))
                assert seen.setdefault(key, after) == after
            node = cascade.wiring.follow[i][node, rows[:, i]]


@settings(max_examples=12)
@given(machines(most_states=4))
def test_values_mean_what_they_are_said_to_mean(a: Semiautomaton) -> None:
    """Given the coordinates above, a value leaves the states of its coordinates."""
    cascade = decompose(a, "holonomy").cascade
    rows = np.array(list(product(*map(range, cascade.sizes))), dtype=int)
    node = np.zeros(len(rows), dtype=int)
    for i, follow in enumerate(cascade.projection.follow):
        node = np.where(node < 0, node, follow[node, rows[:, i]])
    rows, states = rows[node >= 0], node[node >= 0]
    for i, readings in enumerate(meaning(cascade)):
        said = {reading.refined.tobytes() for reading in readings}
        for prefix in {tuple(row[:i]) for row in rows.tolist()}:
            here = (rows[:, :i] == np.array(prefix, dtype=int)).all(axis=1)
            left = np.zeros((cascade.sizes[i], len(a.states)), dtype=bool)
            left[rows[here, i], states[here]] = True
            occurring = left[left.any(axis=1)]
            if (occurring != occurring[0]).any():
                assert left.tobytes() in said


@pytest.mark.sample(2)
@pytest.mark.parametrize("n", range(2, 12))
def test_a_grid_is_made_of_flip_flops(n: int) -> None:
    grid = zoo.machine(f"Grid{n}").semiautomaton
    cascade = decompose(grid, "holonomy").cascade
    assert [kind(c) for c in cascade.components] == ["flip-flop"] * (n - 1)
    assert levels(cascade) == tuple((i,) for i in range(n - 1))


@pytest.mark.sample(2)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_all_transformations_have_the_symmetric_groups(n: int) -> None:
    cascade = decompose(full_transformations(n), "holonomy").cascade
    assert cascade.sizes == tuple(range(n, 1, -1))
    assert groups(cascade) == [*(f"S{k}" for k in range(n, 2, -1)), "C2"]


def test_t8_and_cernys_ten_state_machine_take_no_time() -> None:
    """Both defeat decompositions that write dependency functions down as tables."""
    large = decompose(full_transformations(8), "holonomy")
    assert large.covering.coordinates == 40_320
    ring = decompose(cerny(10), "holonomy")
    assert ring.covering.coordinates == 3_628_800
    assert groups(ring.cascade) == [f"C{n}" for n in range(10, 1, -1)]


def test_bounded_dyck_has_a_level_for_each_depth_and_one_for_errors() -> None:
    cascade = decompose(zoo.machine("Dyck4,2").semiautomaton, "holonomy").cascade
    assert cascade.sizes == (3, 3, 3, 3, 2)
    assert all(component.group.order == 1 for component in cascade.components)


@pytest.mark.parametrize(("name", "count"), [("more levels than states", 6)])
def test_levels_can_outnumber_states(name: str, count: int) -> None:
    """Erratum E22: the bound of the thesis, as many levels as states, does not hold."""
    found = skeleton(BESTIARY[name])
    assert found.classes[found.class_of[0]].height == count > len(BESTIARY[name].states)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("C6", ["counter modulo 2", "counter modulo 3"]),
        ("D8", ["counter modulo 2"] * 3),
        ("Q8", ["counter modulo 2"] * 3),
        ("A4", ["counter modulo 2"] * 2 + ["counter modulo 3"]),
        ("S4", ["counter modulo 2"] * 3 + ["counter modulo 3"]),
        ("A5", ["A5 on itself"]),
        ("S5", ["A5 on itself", "counter modulo 2"]),
    ],
)
def test_groups_come_down_to_their_composition_factors(
    name: str, parts: list[str]
) -> None:
    cascade = decompose(zoo.machine(name).semiautomaton, "prime").cascade
    assert sorted(kind(c) for c in cascade.components) == sorted(parts)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "depth"),
    [("C6", 1), ("D6", 2), ("D8", 2), ("Q8", 2), ("A4", 2), ("S4", 3)],
)
def test_levels_of_a_solvable_group_are_its_derived_length(
    name: str, depth: int
) -> None:
    cascade = decompose(zoo.machine(name).semiautomaton, "derived").cascade
    assert len(levels(cascade)) == depth
    assert all(component.group.is_abelian for component in cascade.components)


@pytest.mark.slow
def test_the_cube_is_corners_and_edges_that_move_and_turn() -> None:
    cascade = decompose(zoo.machine("Rubik").semiautomaton, "prime").cascade
    assert [kind(c) for c in cascade.components] == [
        "constant of 2 values",
        "S8 on 8 values",
        "counter modulo 3",
        "S12 on 12 values",
        "counter modulo 2",
    ]


def test_quotients_give_fewer_levels_than_holonomy_where_machines_are_products() -> (
    None
):
    adder = zoo.machine("Adder").semiautomaton
    found = decompose(adder)
    assert found.method == "congruence"
    assert len(levels(found.cascade)) == 2
    assert len(levels(decompose(adder, "holonomy").cascade)) == 3
    side = machine([[1, 1, 3, 3], [0, 0, 2, 2], [2, 3, 2, 3], [0, 1, 0, 1]])
    assert len(levels(decompose(side).cascade)) == 1
    assert len(levels(decompose(side, "holonomy").cascade)) == 2


def test_a_memory_becomes_flip_flops_side_by_side() -> None:
    cascade = decompose(zoo.machine("Memory6").semiautomaton, "prime").cascade
    assert [kind(c) for c in cascade.components] == ["flip-flop"] * 3
    assert levels(cascade) == ((0, 1, 2),)


def test_too_small_a_budget_and_unknown_methods_are_said_so() -> None:
    with pytest.raises(BudgetExceeded, match="images"):
        decompose(cerny(12), budget=Budget(size=100))
    with pytest.raises(KrohnError, match="holonomy"):
        decompose(cerny(3), "magic")
