"""Groups over normal subgroups: quotients, complements, wreath products."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.groups.extension import (
    Direct,
    NonSplit,
    SemiDirect,
    best_splitting,
    extension,
    splitting,
)
from algebra.groups.families import cyclic, dihedral, direct_product, quaternion
from algebra.groups.naming import name
from algebra.groups.permutation_group import PermutationGroup
from algebra.groups.permutations import GroupError
from algebra.groups.series import normal_subgroups
from algebra.groups.subgroups import conjugates, core, subgroup_classes
from algebra.groups.wreath import WreathEmbedding

SYMMETRIC, ALTERNATING = PermutationGroup.symmetric, PermutationGroup.alternating


@st.composite
def over_normal(draw: st.DrawFn) -> tuple[PermutationGroup, PermutationGroup]:
    rows = draw(st.lists(st.permutations(range(6)), min_size=1, max_size=2))
    group = PermutationGroup(np.array(rows))
    if group.order > 72:
        group = group.perfect_core()
        group = group if group.order <= 72 else ALTERNATING(4)
    return group, draw(st.sampled_from(normal_subgroups(group)))


@given(over_normal())
def test_the_quotient_multiplies_as_cosets(
    pair: tuple[PermutationGroup, PermutationGroup],
) -> None:
    over = extension(*pair)
    table = over.table.product
    assert np.array_equal(
        over.quotient_table.product[np.ix_(over.coset, over.coset)], over.coset[table]
    )
    assert over.quotient.order * over.normal.order == over.group.order
    assert over.coset[over.transversal].tolist() == list(range(over.quotient.order))
    assert over.normal == pair[1]


@given(over_normal())
def test_splittings_are_proved(pair: tuple[PermutationGroup, PermutationGroup]) -> None:
    group, normal = pair
    found = splitting(group, normal)
    if isinstance(found, NonSplit):
        assert not any(is_complement(found, other) for other in subgroups(group))
        return
    over, table = found.extension, group.table.product
    products = table[np.ix_(found.section, found.section)]
    assert np.array_equal(products, found.section[over.quotient_table.product])
    assert isinstance(found, Direct) == (
        (found.action == np.arange(normal.order)).all().item()
    )
    assert found.complement.order * normal.order == group.order


def subgroups(group: PermutationGroup) -> list[np.ndarray]:
    return [
        other
        for one in subgroup_classes(group.table)
        for other in conjugates(group.table, one)
    ]


def is_complement(found: NonSplit, other: np.ndarray) -> bool:
    inside = np.intersect1d(other, found.extension.members)
    whole = len(other) * len(found.extension.members)
    return len(inside) == 1 and whole == found.extension.table.order


@given(over_normal())
def test_coordinates_multiply_as_in_lemma_18(
    pair: tuple[PermutationGroup, PermutationGroup],
) -> None:
    found = splitting(*pair)
    if isinstance(found, NonSplit):
        return
    table, over = pair[0].table, found.extension
    every = np.arange(table.order)
    n, h = found.coordinates(every)
    assert np.array_equal(found.element(n, h), every)
    below = over.place[table.product[np.ix_(over.members, over.members)]]
    first, then = np.meshgrid(every, every, indexing="ij")
    moved = below[n[first], found.action[h[first], n[then]]]
    joined = over.quotient_table.product[h[first], h[then]]
    assert np.array_equal(found.element(moved, joined), table.product)


@given(over_normal())
def test_every_group_embeds_into_a_wreath_product(
    pair: tuple[PermutationGroup, PermutationGroup],
) -> None:
    embedding = WreathEmbedding(extension(*pair))
    embedding.check()
    f, k = embedding.encode(np.arange(pair[0].order))
    assert len(np.unique(np.column_stack([f, k]), axis=0)) == pair[0].order


def test_a_damaged_embedding_is_found_out() -> None:
    group = SYMMETRIC(4)
    embedding = WreathEmbedding(extension(group, ALTERNATING(4)))
    functions = embedding.functions.copy()
    functions[5, 1] = (functions[5, 1] + 1) % 12
    embedding.__dict__["functions"] = functions
    with pytest.raises(GroupError, match="products"):
        embedding.check()


@pytest.mark.parametrize(
    ("group", "below", "above"),
    [
        (SYMMETRIC(4), "C2^2", "S3"),
        (ALTERNATING(4), "C2^2", "C3"),
        (dihedral(8), "C4", "C2"),
        (SYMMETRIC(5), "A5", "C2"),
        (SYMMETRIC(3), "C3", "C2"),
    ],
)
def test_groups_split_as_known(group: PermutationGroup, below: str, above: str) -> None:
    found = best_splitting(group)
    assert type(found) is SemiDirect
    assert (name(found.extension.normal), name(found.complement)) == (below, above)


def test_direct_products_are_preferred() -> None:
    found = best_splitting(direct_product(SYMMETRIC(3), SYMMETRIC(4)))
    assert isinstance(found, Direct)
    assert {name(found.extension.normal), name(found.complement)} == {"S3", "S4"}


@pytest.mark.parametrize("group", [quaternion(), cyclic(4), cyclic(9), ALTERNATING(5)])
def test_some_groups_do_not_split(group: PermutationGroup) -> None:
    assert best_splitting(group) is None


def test_only_normal_subgroups_are_extended() -> None:
    group = SYMMETRIC(4)
    with pytest.raises(GroupError, match="normal"):
        extension(group, group.subgroup(group.generators[:1]))
    with pytest.raises(GroupError, match="elements"):
        extension(ALTERNATING(4), group)


@pytest.mark.parametrize(
    ("group", "classes", "subgroups"),
    [
        (SYMMETRIC(4), 11, 30),
        (SYMMETRIC(5), 19, 156),
        (ALTERNATING(5), 9, 59),
        (quaternion(), 6, 6),
        (dihedral(8), 8, 10),
    ],
)
def test_subgroups_are_counted_as_known(
    group: PermutationGroup, classes: int, subgroups: int
) -> None:
    found = subgroup_classes(group.table)
    assert len(found) == classes
    total = sum(len(list(conjugates(group.table, one))) for one in found)
    assert total == subgroups


def test_the_core_of_a_point_stabiliser_is_trivial() -> None:
    table = SYMMETRIC(4).table
    for subgroup in subgroup_classes(table):
        inside = core(table, subgroup)
        assert table.is_normal(inside)
        together = table.mask(subgroup)
        for other in conjugates(table, subgroup):
            together &= table.mask(other)
        assert np.array_equal(np.flatnonzero(together), inside)
