"""Green's relations are what principal ideals say, and egg-boxes hold all elements."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from krohn.algebra import zoo
from krohn.algebra.automaton import IntArray
from krohn.algebra.errors import MachineError
from krohn.algebra.green import NO_IDEMPOTENT, Green, green
from krohn.algebra.monoid import TransformationMonoid


@st.composite
def monoids(draw: st.DrawFn, most: int = 4) -> TransformationMonoid:
    n, letters = draw(st.integers(1, most)), draw(st.integers(1, 2))
    row = st.lists(st.integers(0, n - 1), min_size=n, max_size=n)
    return TransformationMonoid.enumerate([draw(row) for _ in range(letters)])


def full(n: int) -> Green:
    points = np.arange(n)
    swap, merge = points.copy(), points.copy()
    swap[:2], merge[1] = [1, 0], 0
    rows = np.stack([(points + 1) % n, swap, merge])
    return green(TransformationMonoid.enumerate(rows))


def below(monoid: TransformationMonoid, on: str) -> IntArray:
    """``(size, size)``: whether y is in the ideal of x, from all products."""
    every = np.arange(monoid.size)
    products = monoid.product(every[:, None], every)
    inside = np.zeros((monoid.size, monoid.size), dtype=bool)
    if on == "right":
        inside[every[:, None], products] = True
    elif on == "left":
        inside[every, products] = True
    else:
        inside = below(monoid, "right") @ below(monoid, "left")
    return inside


def same(label: IntArray) -> IntArray:
    return label[:, None] == label


@given(monoids())
def test_related_elements_generate_the_same_ideals(
    monoid: TransformationMonoid,
) -> None:
    found = green(monoid)
    for label, on in (
        (found.r_class, "right"),
        (found.l_class, "left"),
        (found.d_class, "both"),
    ):
        inside = below(monoid, on)
        assert np.array_equal(same(label), inside & inside.T)
    expected = same(found.r_class) & same(found.l_class)
    assert np.array_equal(same(found.h_class), expected)


@given(monoids())
def test_classes_are_numbered_by_their_first_elements(
    monoid: TransformationMonoid,
) -> None:
    found = green(monoid)
    for label in (found.r_class, found.l_class, found.h_class, found.d_class):
        _, first = np.unique(label, return_index=True)
        assert (np.diff(first) > 0).all()


@given(monoids())
def test_the_order_of_d_classes_is_inclusion_of_ideals(
    monoid: TransformationMonoid,
) -> None:
    found = green(monoid)
    first = np.unique(found.d_class, return_index=True)[1]
    expected = below(monoid, "both")[np.ix_(first, first)]
    for pairs in (found.order, found.covers()):
        reach = np.eye(len(first), dtype=bool)
        if len(pairs):
            reach[tuple(pairs.T)] = True
        for _ in first:
            reach = reach @ reach
        assert np.array_equal(reach, expected)
    between = {tuple(p) for p in found.covers().tolist()}
    for above, under in between:
        assert not any(
            expected[above, c] and expected[c, under]
            for c in set(range(len(first))) - {above, under}
        )


@given(monoids())
def test_egg_boxes(monoid: TransformationMonoid) -> None:
    found = green(monoid)
    boxes = found.egg_boxes()
    assert sum(box.size for box in boxes) == monoid.size
    seen = set()
    for box in boxes:
        for row, cells in enumerate(box.first.tolist()):
            for column, element in enumerate(cells):
                assert found.r_class[element] == box.r_classes[row]
                assert found.l_class[element] == box.l_classes[column]
                inside = found.h_class == found.h_class[element]
                assert inside.sum() == box.h_size
                assert np.flatnonzero(inside)[0] == element
                idempotent = int(box.idempotents[row, column])
                own = set(np.flatnonzero(inside)) & set(monoid.idempotents.tolist())
                assert own == ({idempotent} - {NO_IDEMPOTENT})
                seen |= own
        if box.regular:
            assert (box.idempotents >= 0).any(axis=0).all()
            assert (box.idempotents >= 0).any(axis=1).all()
            assert box.group.order == box.h_size
            assert box.group.degree == box.rank
        else:
            assert (box.idempotents == NO_IDEMPOTENT).all()
    assert seen == set(monoid.idempotents.tolist())


@pytest.mark.sample(1)
@pytest.mark.parametrize("n", range(2, 7))
def test_all_transformations_are_related_by_rank(n: int) -> None:
    """T_n: a D-class for each rank, kernels as rows, images as columns, group S_k."""
    boxes = full(n).egg_boxes()
    assert [box.rank for box in boxes] == list(range(n, 0, -1))
    for box in boxes:
        k = box.rank
        assert box.h_size == np.prod(range(1, k + 1))
        assert len(box.l_classes) == len(list(_subsets(n, k)))
    names = ["S6", "S5", "S4", "S3", "C2", "1"]
    assert [box.group_name for box in boxes] == names[6 - n :]


def _subsets(n: int, k: int) -> list[int]:
    return [s for s in range(1 << n) if s.bit_count() == k]


def test_covers_of_all_transformations_are_a_chain() -> None:
    assert full(5).covers().tolist() == [[i, i + 1] for i in range(4)]


def test_many_elements_in_one_h_class_do_not_hide_a_d_class() -> None:
    found = green(TransformationMonoid.enumerate(zoo.machine("C256").semiautomaton))
    assert (len(found.d_sizes), found.egg_box(0).group_name) == (1, "C256")


def test_a_class_that_is_not_there() -> None:
    with pytest.raises(MachineError, match=r"D-classes are 0\.\.2"):
        full(3).egg_box(3)
