"""Smallest faithful actions, and which groups divide which."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.budget import Budget
from algebra.groups.actions import smallest_action
from algebra.groups.divisibility import divides
from algebra.groups.families import (
    cyclic,
    dihedral,
    direct_product,
    matrix_group,
    projective_group,
    quaternion,
)
from algebra.groups.isomorphism import isomorphism
from algebra.groups.permutation_group import PermutationGroup
from algebra.zoo.rubik import rubik

SYMMETRIC, ALTERNATING = PermutationGroup.symmetric, PermutationGroup.alternating


def regular(group: PermutationGroup) -> PermutationGroup:
    table = group.table
    return PermutationGroup(table.action(np.zeros(1, dtype=int), table.generators))


@pytest.mark.parametrize(
    ("group", "points"),
    [
        (PermutationGroup.trivial(3), 1),
        (cyclic(6), 5),
        (cyclic(12), 7),
        (cyclic(30), 10),
        (direct_product(cyclic(2), cyclic(4), cyclic(4)), 10),
        (quaternion(), 8),
        (dihedral(8), 4),
        (dihedral(12), 5),
        (ALTERNATING(4), 4),
        (SYMMETRIC(4), 4),
        (ALTERNATING(5), 5),
        (SYMMETRIC(5), 5),
        (matrix_group(3, (((1, 1), (0, 1)), ((1, 0), (1, 1)))), 8),
        (projective_group(7, special=True), 7),
    ],
)
def test_minimal_degrees_are_known(group: PermutationGroup, points: int) -> None:
    action = smallest_action(regular(group))
    assert action.minimal
    assert action.degree == points


@st.composite
def groups(draw: st.DrawFn) -> PermutationGroup:
    rows = draw(st.lists(st.permutations(range(6)), min_size=1, max_size=2))
    return PermutationGroup(np.array(rows))


@given(groups())
def test_smallest_actions_are_faithful(group: PermutationGroup) -> None:
    action = smallest_action(group)
    assert len(action.images) == len(group.generators)
    # Joined with the old points, the group must not grow: images determine each other.
    both = np.concatenate([group.generators, action.images + group.degree], axis=1)
    assert PermutationGroup(both).order == group.order == action.image.order
    assert action.degree <= group.degree


def test_large_groups_lose_what_they_do_not_need() -> None:
    group = SYMMETRIC(9)
    twice = np.concatenate([group.generators, group.generators + 9], axis=1)
    action = smallest_action(PermutationGroup(twice))
    assert action.degree == 9
    assert action.minimal
    assert np.array_equal(action.images, group.generators)
    assert smallest_action(PermutationGroup(rubik().transitions)).degree == 48


NAMED = {
    "C2": cyclic(2),
    "C4": cyclic(4),
    "Q8": quaternion(),
    "D8": dihedral(8),
    "S3": SYMMETRIC(3),
    "A4": ALTERNATING(4),
    "S4": SYMMETRIC(4),
    "A5": ALTERNATING(5),
    "S5": SYMMETRIC(5),
    "SL(2,3)": matrix_group(3, (((1, 1), (0, 1)), ((1, 0), (1, 1)))),
}
DIVISORS = {
    "C2": "C2",
    "C4": "C2 C4",
    "Q8": "C2 C4 Q8",
    "D8": "C2 C4 D8",
    "S3": "C2 S3",
    "A4": "C2 A4",
    "S4": "C2 C4 D8 S3 A4 S4",
    "A5": "C2 S3 A4 A5",
    "S5": "C2 C4 D8 S3 A4 S4 A5 S5",
    "SL(2,3)": "C2 C4 Q8 A4 SL(2,3)",
}


@pytest.mark.parametrize("large", NAMED)
def test_divisors_are_quotients_of_subgroups(large: str) -> None:
    found = [small for small in NAMED if divides(NAMED[small], NAMED[large])]
    assert sorted(found) == sorted(DIVISORS[large].split())


@given(groups(), st.integers(0, 50))
def test_subgroups_divide(group: PermutationGroup, seed: int) -> None:
    if group.order <= 120:
        assert divides(regular(group.subgroup(group.random(2, seed))), group)


@given(st.lists(st.integers(1, 8), max_size=3), st.lists(st.integers(1, 8), max_size=3))
def test_abelian_divisors_are_subgroups(first: list[int], second: list[int]) -> None:
    small, large = (direct_product(cyclic(1), *map(cyclic, m)) for m in (first, second))
    orders = small.table.orders
    # A subgroup of this type exists exactly if every power map has enough kernel.
    enough = all(
        (large.table.orders[None] > 0).any()
        and kernel(small, n) <= kernel(large, n)
        and kernel(large, n) % kernel(small, n) == 0
        for n in set(orders.tolist())
    )
    if divides(small, large):
        assert enough
    assert divides(small, direct_product(small, large))


def kernel(group: PermutationGroup, exponent: int) -> int:
    return int((exponent % group.table.orders == 0).sum())


def test_what_is_too_large_stays_open() -> None:
    cube = PermutationGroup(rubik().transitions)
    assert divides(SYMMETRIC(5), cube) is None
    assert divides(cyclic(23), cube) is False
    assert divides(SYMMETRIC(5), SYMMETRIC(9)) is True
    assert divides(SYMMETRIC(5), ALTERNATING(9)) is True
    assert divides(dihedral(8), SYMMETRIC(5), Budget(size=2)) is None


def test_a_group_and_its_regular_action_are_isomorphic() -> None:
    group = SYMMETRIC(4)
    assert isomorphism(group.table, regular(group).table) is not None
