"""Composition series are series of maximal normal subgroups."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sympy import isprime
from sympy.combinatorics import Permutation, PermutationGroup as SympyGroup

from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.groups.naming import (
    affine_group,
    cyclic,
    dihedral,
    direct_product,
    projective_group,
    quaternion,
    wreath_product,
)
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.groups.series import (
    block_systems,
    composition_factors,
    maximal_normal_subgroup,
    normal_subgroups,
)
from krohn.algebra.zoo.machines import rubik

SYMMETRIC, ALTERNATING = PermutationGroup.symmetric, PermutationGroup.alternating


@st.composite
def groups(draw: st.DrawFn) -> PermutationGroup:
    rows = draw(st.lists(st.permutations(range(7)), min_size=1, max_size=2))
    return PermutationGroup(np.array(rows))


@given(groups())
def test_each_term_is_maximal_normal_in_the_one_before(group: PermutationGroup) -> None:
    series = [group]
    while not series[-1].is_trivial:
        series.append(maximal_normal_subgroup(series[-1]))
    factors = composition_factors(group)
    assert len(series) == len(factors) + 1
    assert series[0] == group
    assert series[-1].is_trivial
    for above, below in pairwise(series):
        assert below <= above
        assert above.is_normal(below)
        index = above.order // below.order
        assert index > 1
        assert isprime(index) or index in (60, 168, 360, 2520)


@given(groups())
def test_sympy_agrees_on_solvable_groups(group: PermutationGroup) -> None:
    if group.is_solvable and not group.is_trivial:
        rows = [Permutation(row) for row in group.generators.tolist()]
        other = SympyGroup(rows).composition_series()
        indices = sorted(a.order() // b.order() for a, b in pairwise(other))
        assert sorted(int(f[1:]) for f in composition_factors(group)) == indices


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("group", "factors"),
    [
        (SYMMETRIC(4), ["C2", "C2", "C2", "C3"]),
        (SYMMETRIC(5), ["A5", "C2"]),
        (SYMMETRIC(6), ["A6", "C2"]),
        (SYMMETRIC(12), ["A12", "C2"]),
        (quaternion(), ["C2", "C2", "C2"]),
        (projective_group(7, special=False), ["C2", "PSL(2,7)"]),
        (projective_group(23, special=True), ["PSL(2,23)"]),
        (wreath_product(ALTERNATING(5), cyclic(2)), ["A5", "A5", "C2"]),
        (wreath_product(ALTERNATING(5), ALTERNATING(5)), ["A5"] * 6),
        (wreath_product(cyclic(2), ALTERNATING(9)), ["A9", *["C2"] * 9]),
        (direct_product(SYMMETRIC(9), dihedral(8)), ["A9", *["C2"] * 4]),
    ],
)
def test_factors_are_known(group: PermutationGroup, factors: list[str]) -> None:
    assert sorted(composition_factors(group)) == factors


def test_a_diagonal_group_on_two_orbits_is_simple() -> None:
    one = ALTERNATING(9).generators
    group = PermutationGroup(np.concatenate([one, one + 9], axis=1))
    assert composition_factors(group) == ("A9",)


@pytest.mark.slow
def test_affine_groups_have_their_translations_below() -> None:
    step = ((0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (1, 0, 0, 0))
    shear = ((1, 1, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
    group = affine_group(2, (step, shear))
    assert group.order == 16 * 20160
    assert not list(block_systems(group))
    assert sorted(composition_factors(group)) == ["A8", *["C2"] * 4]


def test_the_mathieu_group_is_simple() -> None:
    rows = [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0], [0, 1, 6, 9, 5, 3, 10, 2, 8, 4, 7]]
    assert composition_factors(PermutationGroup(np.array(rows))) == ("M11",)


@pytest.mark.slow
def test_the_cube_is_made_of_these() -> None:
    factors = composition_factors(PermutationGroup(rubik().transitions))
    assert sorted(factors) == ["A12", "A8", *["C2"] * 12, *["C3"] * 7]


def test_normal_subgroups_of_small_groups_are_known() -> None:
    orders = [n.order for n in normal_subgroups(SYMMETRIC(4))]
    assert orders == [1, 4, 12, 24]
    assert len(normal_subgroups(dihedral(8))) == 6
    assert len(normal_subgroups(quaternion())) == 6
    four = direct_product(*[cyclic(2)] * 4)
    assert len(normal_subgroups(four)) == 67
    with pytest.raises(BudgetExceeded):
        normal_subgroups(four, Budget(size=20))


@given(groups())
def test_normal_subgroups_are_normal_and_distinct(group: PermutationGroup) -> None:
    if group.order <= 200:
        found = normal_subgroups(group)
        assert len(set(found)) == len(found)
        assert all(group.is_normal(normal) for normal in found)
        assert group.derived_subgroup() in found


def test_block_systems_of_a_wreath_product_are_its_copies() -> None:
    group = wreath_product(SYMMETRIC(3), ALTERNATING(4))
    label = next(block_systems(group))
    assert label.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert len({label.tobytes() for label in block_systems(cyclic(12))}) == 4
    assert not list(block_systems(cyclic(7)))
    assert list(block_systems(dihedral(8)))
