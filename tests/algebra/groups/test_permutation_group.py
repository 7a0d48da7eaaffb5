"""Permutation groups know their order, elements, orbits and derived series."""

from math import factorial

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sympy.combinatorics import Permutation, PermutationGroup as SympyGroup

from krohn.algebra import zoo
from krohn.algebra.budget import BudgetExceeded
from krohn.algebra.groups.naming import cyclic, direct_product, wreath_product
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.groups.permutations import (
    GroupError,
    conjugate,
    is_even,
    orders,
    product,
)
from krohn.algebra.groups.series import block_systems
from krohn.algebra.zoo.machines import rubik

RUBIK = 43_252_003_274_489_856_000


def of(name: str) -> PermutationGroup:
    """The group that the letters of a machine of the zoo generate."""
    return PermutationGroup(zoo.machine(name).transitions)


def in_sympy(group: PermutationGroup) -> SympyGroup:
    rows = group.generators.tolist() or [list(range(group.degree))]
    return SympyGroup([Permutation(row) for row in rows])


@st.composite
def groups(draw: st.DrawFn, most: int = 7) -> PermutationGroup:
    degree = draw(st.integers(1, most))
    row = st.permutations(range(degree))
    rows = draw(st.lists(row, max_size=3))
    return PermutationGroup(np.array(rows, dtype=np.int64).reshape(-1, degree))


@pytest.mark.parametrize(
    ("name", "order", "length"),
    [
        ("C1", 1, 0),
        ("C6", 6, 1),
        ("C2xC2xC2", 8, 1),
        ("D8", 8, 2),
        ("Q8", 8, 2),
        ("A4", 12, 2),
        ("S4", 24, 3),
        ("A5", 60, None),
        ("S5", 120, None),
    ],
)
def test_groups_of_the_zoo_have_their_order_and_derived_length(
    name: str, order: int, length: int | None
) -> None:
    group = of(name)
    assert group.order == order
    assert group.derived_length == length
    assert group.is_solvable == (length is not None)


def test_the_perfect_core_of_s5_is_a5() -> None:
    core = of("S5").perfect_core()
    assert core.order == 60
    assert core == core.derived_subgroup()


@pytest.mark.slow
def test_the_cube_has_its_famous_order() -> None:
    group = PermutationGroup(rubik().transitions)
    assert group.order == RUBIK
    assert [len(orbit) for orbit in group.orbits] == [24, 24]
    assert not group.is_solvable
    assert group.perfect_core().order == RUBIK // 2


@pytest.mark.slow
def test_the_cube_has_index_12_among_all_ways_to_assemble_it() -> None:
    group = PermutationGroup(rubik().transitions)
    corners, edges = (
        next(block_systems(group.action_on(orbit))) for orbit in group.orbits
    )
    corner = np.array(group.orbits[0])[corners == 0]
    first, second = (np.array(group.orbits[1])[edges == i] for i in (0, 1))
    twist, flip, swap = np.tile(np.arange(48), (3, 1))
    twist[corner] = np.roll(corner, 1)
    flip[first] = first[::-1]
    swap[first], swap[second] = second, first
    # Any exchange of two edges lies in the full group, whichever way round.
    everything = group.generated_with(np.stack([twist, flip, swap]))
    whole = direct_product(
        wreath_product(cyclic(3), PermutationGroup.symmetric(8)),
        wreath_product(cyclic(2), PermutationGroup.symmetric(12)),
    )
    assert whole.order == everything.order == 12 * RUBIK


def test_giants_are_told_apart_from_linked_ones() -> None:
    rows = PermutationGroup.symmetric(9).generators
    linked = PermutationGroup(np.concatenate([rows, rows + 9], axis=1))
    assert linked.order == factorial(9)
    apart = direct_product(PermutationGroup(rows), PermutationGroup.symmetric(10))
    assert apart.order == factorial(9) * factorial(10)
    mixed = apart.subgroup(
        np.stack(
            [
                apart.generators[0][apart.generators[2]],
                apart.generators[1],
                apart.generators[3][apart.generators[2]],
            ]
        )
    )
    assert mixed.order == factorial(9) * factorial(10) // 2
    assert mixed.perfect_core().order == factorial(9) * factorial(10) // 4
    assert not mixed.contains(apart.generators[0])


@pytest.mark.sample(1)
@pytest.mark.parametrize("degree", [7, 8, 9, 12, 60])
def test_symmetric_groups_are_recognised(degree: int) -> None:
    group = PermutationGroup.symmetric(degree)
    assert group.order == factorial(degree)
    assert group.perfect_core() == PermutationGroup.alternating(degree)
    assert not group.is_solvable


def test_the_trivial_group_has_no_generators() -> None:
    group = PermutationGroup(np.array([[0, 1, 2], [0, 1, 2]]))
    assert group == PermutationGroup.trivial(3)
    assert group.order == 1
    assert group.elements().tolist() == [[0, 1, 2]]
    assert group.is_solvable
    assert group.derived_length == 0


@pytest.mark.parametrize("degree", [0, 1, 2, 3])
def test_families_begin_small(degree: int) -> None:
    assert PermutationGroup.symmetric(degree).order == factorial(degree)
    assert PermutationGroup.alternating(degree).order == max(factorial(degree) // 2, 1)


def test_what_is_no_permutation_is_refused() -> None:
    with pytest.raises(GroupError, match="permute the points"):
        PermutationGroup(np.array([[0, 0, 1]]))
    with pytest.raises(GroupError, match="rows"):
        PermutationGroup(np.array([0, 1]))


def test_too_many_elements_are_refused_with_what_is_known() -> None:
    with pytest.raises(BudgetExceeded) as refused:
        PermutationGroup.symmetric(12).elements()
    assert refused.value.found == 1_000_000


def test_large_groups_list_all_elements() -> None:
    elements = PermutationGroup.symmetric(8).elements()
    assert len(np.unique(elements, axis=0)) == factorial(8)
    assert elements[0].tolist() == list(range(8))


@given(groups())
def test_sympy_agrees(group: PermutationGroup) -> None:
    other = in_sympy(group)
    assert group.order == other.order()
    assert group.is_abelian == other.is_abelian
    assert group.is_solvable == other.is_solvable
    assert group.derived_subgroup().order == other.derived_subgroup().order()
    assert group.is_transitive == other.is_transitive(strict=True)
    orbits = {tuple(sorted(o)) for o in other.orbits() if len(o) > 1}
    assert {orbit for orbit in group.orbits if len(orbit) > 1} == orbits


@given(groups())
def test_elements_are_closed_under_products(group: PermutationGroup) -> None:
    elements = group.elements()
    assert len(np.unique(elements, axis=0)) == len(elements) == group.order
    assert (elements[0] == np.arange(group.degree)).all()
    some = group.random(20)
    assert group.contains(product(some, some[::-1])).all()
    assert (group.order % orders(some) == 0).all()


@given(groups())
def test_membership_is_being_an_element(group: PermutationGroup) -> None:
    rows = np.random.default_rng(0).permuted(
        np.tile(np.arange(group.degree), (30, 1)), axis=1
    )
    listed = {tuple(row) for row in group.elements().tolist()}
    expected = [tuple(row) in listed for row in rows.tolist()]
    assert group.contains(rows).tolist() == expected


@given(groups())
def test_normal_closures_are_normal(group: PermutationGroup) -> None:
    chosen = group.random(1, seed=3)
    closure = group.normal_closure(chosen)
    assert closure <= group
    assert group.is_normal(closure)
    images = conjugate(chosen, group.elements()[:50])
    assert closure.contains(images).all()


@given(groups(5), groups(5))
def test_equality_is_equality_of_elements(
    first: PermutationGroup, second: PermutationGroup
) -> None:
    same = first.degree == second.degree and {
        tuple(row) for row in first.elements().tolist()
    } == {tuple(row) for row in second.elements().tolist()}
    assert (first == second) == same
    if same:
        assert hash(first) == hash(second)


@given(st.integers(1, 9), st.integers(0, 100))
def test_parity_and_order_of_permutations_are_sympys(degree: int, seed: int) -> None:
    row = np.random.default_rng(seed).permutation(degree)
    other = Permutation(row.tolist())
    assert bool(is_even(row[None])[0]) == other.is_even
    assert orders(row[None])[0] == other.order()


def test_a_chain_and_a_list_answer_alike() -> None:
    group = PermutationGroup.symmetric(7)
    subgroup = group.subgroup(group.random(2, seed=5))
    rows = np.concatenate([subgroup.random(50), group.random(50)])
    listed = {tuple(row) for row in subgroup.elements().tolist()}
    assert subgroup.contains(rows).tolist() == [
        tuple(r) in listed for r in rows.tolist()
    ]


def test_solvability_of_random_permutations_of_many_points_is_quick() -> None:
    rows = np.random.default_rng(1).permuted(np.tile(np.arange(1000), (2, 1)), axis=1)
    assert not PermutationGroup(rows).is_solvable
