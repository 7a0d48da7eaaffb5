"""Names of groups are proofs."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sympy.combinatorics import Permutation, PermutationGroup as SympyGroup
from sympy.combinatorics.homomorphisms import is_isomorphic

from krohn.algebra import zoo
from krohn.algebra.groups.abelian import (
    abelian_name,
    direct_factors,
    invariant_factors,
    primary_parts,
)
from krohn.algebra.groups.extension import embeddings, isomorphism
from krohn.algebra.groups.naming import (
    affine_group,
    cyclic,
    dihedral,
    direct_product,
    is_proper,
    known_groups,
    matrix_group,
    name,
    projective_group,
    quaternion,
    wreath_product,
)
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.groups.series import simple_name
from krohn.algebra.zoo.machines import rubik

SYMMETRIC, ALTERNATING = PermutationGroup.symmetric, PermutationGroup.alternating


def metacyclic(m: int, n: int, r: int) -> PermutationGroup:
    """Generators a, b with b⁻¹ab = a^r, acting on pairs (power of a, power of b)."""
    a, b = np.divmod(np.arange(m * n), n)
    # (x, y) stands for b^y·a^x: a follows at once, and b moves past a^x.
    times_a = (a + 1) % m * n + b
    times_b = a * r % m * n + (b + 1) % n
    return PermutationGroup(np.stack([times_a, times_b]))


def dicyclic(n: int) -> PermutationGroup:
    """Generators a of order 2n and b with b² = aⁿ and b⁻¹ab = a⁻¹, on elements b^y·a^x."""
    x, y = np.divmod(np.arange(4 * n), 2)
    times_a = (x + 1) % (2 * n) * 2 + y
    times_b = (-x + n * y) % (2 * n) * 2 + (1 - y)
    return PermutationGroup(np.stack([times_a, times_b]))


def abelian(*moduli: int) -> PermutationGroup:
    return direct_product(*map(cyclic, moduli))


SMALL = {
    "1": PermutationGroup.trivial(1),
    **{f"C{n}": cyclic(n) for n in range(2, 16)},
    "C2^2": abelian(2, 2),
    "C2 × C4": abelian(4, 2),
    "C2^3": abelian(2, 2, 2),
    "C3^2": abelian(3, 3),
    "C2 × C6": abelian(2, 2, 3),
    "S3": SYMMETRIC(3),
    "D8": dihedral(8),
    "Q8": quaternion(),
    "D10": dihedral(10),
    "A4": ALTERNATING(4),
    "D12": direct_product(cyclic(2), SYMMETRIC(3)),
    "Dic3": dicyclic(3),
    "D14": dihedral(14),
}
SIXTEEN = {
    "D16": dihedral(16),
    "SD16": metacyclic(8, 2, 3),
    "Q16": dicyclic(4),
    "C8 ⋊_5 C2": metacyclic(8, 2, 5),
    "C4 ⋊_3 C4": metacyclic(4, 4, 3),
    "C2 × D8": direct_product(cyclic(2), dihedral(8)),
    "C2 × Q8": direct_product(cyclic(2), quaternion()),
    **dict(known_groups(16)),
}
OTHERS = {
    "S4": SYMMETRIC(4),
    "S5": SYMMETRIC(5),
    "S6": SYMMETRIC(6),
    "A5": ALTERNATING(5),
    "A6": ALTERNATING(6),
    "A7": ALTERNATING(7),
    "A8": ALTERNATING(8),
    "S12": SYMMETRIC(12),
    "C3 × S3": wreath_product(cyclic(3), cyclic(2)),
    "C2 × A4": wreath_product(cyclic(2), cyclic(3)),
    "C2 × S4": wreath_product(cyclic(2), SYMMETRIC(3)),
    "S3^2": direct_product(SYMMETRIC(3), SYMMETRIC(3)),
    "S3 ≀ C2": wreath_product(SYMMETRIC(3), cyclic(2)),
    "C2 ≀ C2 ≀ C2": wreath_product(cyclic(2), wreath_product(cyclic(2), cyclic(2))),
    "SL(2,3)": matrix_group(3, (((1, 1), (0, 1)), ((1, 0), (1, 1)))),
    "GL(2,3)": matrix_group(3, (((1, 1), (0, 1)), ((1, 0), (1, 1)), ((2, 0), (0, 1)))),
    "SL(2,5)": matrix_group(5, (((1, 1), (0, 1)), ((1, 0), (1, 1)))),
    "C7 ⋊ C3": metacyclic(7, 3, 2),
    "C5 ⋊ C4": affine_group(5, (((2,),),)),
    "C5 ⋊_4 C8": metacyclic(5, 8, 4),
    "C5 ⋊_2 C8": metacyclic(5, 8, 3),
    "C2^3 ⋊ C7": affine_group(2, (((0, 1, 0), (0, 0, 1), (1, 1, 0)),)),
    "C3^2 ⋊ C4": affine_group(3, (((0, 1), (2, 0)),)),
    "Dih(C3^2)": affine_group(3, (((2, 0), (0, 2)),)),
    "PSL(2,7)": projective_group(7, special=True),
    "PGL(2,7)": projective_group(7, special=False),
    "PSL(2,11)": projective_group(11, special=True),
    "PSL(2,17)": projective_group(17, special=True),
    "A5 × S4": direct_product(ALTERNATING(5), SYMMETRIC(4)),
    "A9 × S8": direct_product(SYMMETRIC(8), ALTERNATING(9)),
}


@pytest.mark.sample(9)
@pytest.mark.parametrize(("title", "group"), [*SMALL.items(), *SIXTEEN.items()])
def test_small_groups_have_their_names(title: str, group: PermutationGroup) -> None:
    assert name(group) == title


@pytest.mark.sample(5)
@pytest.mark.parametrize(("title", "group"), OTHERS.items())
def test_well_known_groups_have_their_names(
    title: str, group: PermutationGroup
) -> None:
    assert name(group) == title


def test_all_groups_of_order_at_most_15_have_distinct_names() -> None:
    by_order = np.bincount([group.order for group in SMALL.values()])
    # The number of groups of each order (OEIS A000001).
    known = [0, 1, 1, 1, 2, 1, 2, 1, 5, 2, 2, 1, 5, 1, 2, 1]
    assert by_order.tolist() == known
    assert len({name(group) for group in SMALL.values()}) == len(SMALL)


def test_the_nine_nonabelian_groups_of_order_16_are_told_apart() -> None:
    assert {group.order for group in SIXTEEN.values()} == {16}
    assert len(SIXTEEN) == 9
    for first, second in combinations(SIXTEEN.values(), 2):
        assert isomorphism(first.table, second.table) is None


@pytest.mark.parametrize(
    "title", ["C6", "D6", "D8", "D12", "Q8", "A4", "S4", "A5", "S5"]
)
def test_machines_of_the_zoo_are_named_as_they_are_called(title: str) -> None:
    group = PermutationGroup(zoo.machine(title).transitions)
    assert name(group) == {"D6": "S3"}.get(title, title)


@pytest.mark.slow
def test_the_cube_is_described_without_claiming_more() -> None:
    title = name(PermutationGroup(rubik().transitions))
    assert title == "order 43252003274489856000 (A12, A8, C2^12, C3^7)"
    assert not is_proper(title)


@st.composite
def subgroups(draw: st.DrawFn) -> PermutationGroup:
    """Random subgroups of S7 that are small enough to be compared."""
    drawn = [draw(st.permutations(range(7))) for _ in range(draw(st.integers(1, 2)))]
    return PermutationGroup(np.array(drawn))


@pytest.mark.slow
@given(subgroups(), subgroups(), st.permutations(range(7)))
def test_names_do_not_depend_on_how_a_group_acts(
    group: PermutationGroup, other: PermutationGroup, moved: list[int]
) -> None:
    if not group.is_small:
        return
    # On itself, and with other names for the points.
    regular = group.table.action(np.zeros(1, dtype=np.int64), group.table.generators)
    assert name(PermutationGroup(regular)) == name(group)
    renamed = np.empty_like(group.generators)
    renamed[:, moved] = np.array(moved)[group.generators]
    assert name(PermutationGroup(renamed)) == name(group)


@pytest.mark.slow
@given(st.lists(st.integers(0, 11), min_size=2, max_size=2), st.data())
def test_equal_proper_names_mean_isomorphic(
    seeds: list[int], data: st.DataObject
) -> None:
    parents = (
        wreath_product(SYMMETRIC(3), cyclic(2)),
        wreath_product(cyclic(2), dihedral(8)),
        SYMMETRIC(6),
        direct_product(SYMMETRIC(4), dihedral(8)),
    )
    parent = data.draw(st.sampled_from(parents))
    first, second = (parent.subgroup(parent.random(2, seed)) for seed in seeds)
    if first.order == second.order and first.is_small:
        same = isomorphism(first.table, second.table) is not None
        named = (name(first), name(second))
        if same or all(map(is_proper, named)):
            assert (named[0] == named[1]) == same


def in_sympy(group: PermutationGroup) -> SympyGroup:
    rows = group.generators.tolist() or [list(range(group.degree))]
    return SympyGroup([Permutation(row) for row in rows])


@pytest.mark.slow
@pytest.mark.parametrize("order", [8, 12])
def test_sympy_tells_the_same_groups_apart(order: int) -> None:
    groups = [group for group in SMALL.values() if group.order == order]
    for first, second in combinations(groups, 2):
        assert not is_isomorphic(in_sympy(first), in_sympy(second))


@given(subgroups(), st.permutations(range(7)))
def test_isomorphisms_are_isomorphisms(
    group: PermutationGroup, moved: list[int]
) -> None:
    if not group.order <= 200:
        return
    other = np.empty_like(group.generators)
    other[:, moved] = np.array(moved)[group.generators]
    first, second = group.table, PermutationGroup(other[::-1]).table
    found = isomorphism(first, second)
    assert found is not None
    assert sorted(found.tolist()) == list(range(group.order))
    assert np.array_equal(found[first.product], second.product[np.ix_(found, found)])


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("group", "count"),
    [
        (cyclic(8), 4),
        (abelian(2, 2), 6),
        (abelian(2, 2, 2), 168),
        (dihedral(8), 8),
        (quaternion(), 24),
        (SYMMETRIC(4), 24),
        (ALTERNATING(5), 120),
        (SYMMETRIC(6), 1440),
    ],
)
def test_automorphism_groups_have_their_known_orders(
    group: PermutationGroup, count: int
) -> None:
    table = group.table
    some = embeddings(table, table)  # one of each up to conjugacy
    inner = table.product[table.product[table.inverse], np.arange(table.order)[:, None]]
    every = inner[:, some].reshape(-1, table.order)
    assert len(np.unique(every, axis=0)) == count


@given(st.lists(st.integers(1, 12), max_size=4))
def test_abelian_invariants_say_what_was_multiplied(moduli: list[int]) -> None:
    group = abelian(*moduli, 1)
    parts = primary_parts(group)
    assert np.prod(parts, dtype=int) == group.order
    factors = invariant_factors(parts)
    assert all(b % a == 0 for a, b in pairwise(factors))
    assert name(group) == abelian_name(parts)
    if group.order <= 2000:
        assert direct_factors(group.table).cyclic == parts


def test_simple_groups_are_known_by_their_orders() -> None:
    known = {60: "A5", 168: "PSL(2,7)", 360: "A6", 504: "PSL(2,8)", 7920: "M11"}
    known |= {5616: "PSL(3,3)", 6048: "PSU(3,3)", 25920: "PSp(4,3)", 29120: "Sz(8)"}
    assert {order: simple_name(order) for order in known} == known
    assert simple_name(20160, has_order_15=True) == "A8"
    assert simple_name(20160, has_order_15=False) == "PSL(3,4)"
    assert not is_proper(simple_name(20160))
