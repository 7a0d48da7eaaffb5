"""Groups over normal subgroups: quotients, complements, wreath products."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from krohn.algebra.groups.extension import (
    Direct,
    NonSplit,
    SemiDirect,
    extension,
    split,
)
from krohn.algebra.groups.naming import (
    cyclic,
    dihedral,
    direct_product,
    name,
    quaternion,
)
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.groups.permutations import GroupError
from krohn.algebra.groups.series import normal_subgroups

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
    found = split(extension(group, normal))
    if isinstance(found, NonSplit):
        assert not any(is_complement(found, other) for other in subgroups(group))
        return
    over, table = found.extension, group.table.product
    products = table[np.ix_(found.section, found.section)]
    assert np.array_equal(products, found.section[over.quotient_table.product])
    assert isinstance(found, Direct) == (
        (found.action == np.arange(normal.order)).all().item()
    )
    assert len(np.unique(found.section)) * normal.order == group.order


def subgroups(group: PermutationGroup) -> list[np.ndarray]:
    """All of them: each subgroup is the join of its cyclic subgroups."""
    table, found = group.table, {b"": np.zeros(1, dtype=np.int64)}
    for element in range(1, table.order):
        for known in list(found.values()):
            grown = table.generated_subgroup([element], known)
            found[grown.tobytes()] = grown
    return list(found.values())


def is_complement(found: NonSplit, other: np.ndarray) -> bool:
    inside = np.intersect1d(other, found.extension.members)
    whole = len(other) * len(found.extension.members)
    return len(inside) == 1 and whole == found.extension.table.order


@given(over_normal())
def test_coordinates_multiply_as_in_lemma_18(
    pair: tuple[PermutationGroup, PermutationGroup],
) -> None:
    found = split(extension(*pair))
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
    over, table = extension(*pair), pair[0].table
    k, f = over.coset, over.functions
    assert len(np.unique(np.column_stack([f, k]), axis=0)) == pair[0].order
    below = over.place[table.product[np.ix_(over.members, over.members)]]
    for x in range(table.order):
        after = over.quotient_table.product[:, k[x]]
        assert np.array_equal(f[table.product[x]], below[f[x], f[:, after]])


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("group", "below", "kind"),
    [
        (SYMMETRIC(4), "C2^2", SemiDirect),
        (ALTERNATING(4), "C2^2", SemiDirect),
        (dihedral(8), "C4", SemiDirect),
        (dihedral(8), "C2", NonSplit),
        (SYMMETRIC(5), "A5", SemiDirect),
        (SYMMETRIC(3), "C3", SemiDirect),
        (direct_product(SYMMETRIC(3), SYMMETRIC(4)), "S4", Direct),
        (quaternion(), "C4", NonSplit),
        (quaternion(), "C2", NonSplit),
        (cyclic(4), "C2", NonSplit),
        (cyclic(6), "C2", Direct),
        (cyclic(9), "C3", NonSplit),
    ],
)
def test_groups_split_as_known(
    group: PermutationGroup, below: str, kind: type[object]
) -> None:
    named = [normal for normal in normal_subgroups(group) if name(normal) == below]
    assert kind in {type(split(extension(group, normal))) for normal in named}


def test_only_normal_subgroups_are_extended() -> None:
    group = SYMMETRIC(4)
    with pytest.raises(GroupError, match="normal"):
        extension(group, group.subgroup(group.generators[:1]))
    with pytest.raises(GroupError, match="elements"):
        extension(ALTERNATING(4), group)
