"""The transformation monoid is what composing maps by hand gives."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from krohn.algebra import zoo
from krohn.algebra.automaton import IntArray
from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.errors import MachineError
from krohn.algebra.monoid import Enumeration, TransformationMonoid, compose
from krohn.algebra.rows import RowTable, distinct

Row = tuple[int, ...]


@st.composite
def generators(draw: st.DrawFn, most: int = 4) -> IntArray:
    n, letters = draw(st.integers(1, most)), draw(st.integers(1, 3))
    row = st.lists(st.integers(0, n - 1), min_size=n, max_size=n)
    # Maps of many points are found by their hashes, those of few by their codes.
    return fixing(np.array([draw(row) for _ in range(letters)]), draw(st.booleans()))


def fixing(maps: IntArray, points: int) -> IntArray:
    """The same maps with so many times eight other points, which they fix."""
    n = maps.shape[1]
    others = np.tile(np.arange(n, n + 8 * points), (len(maps), 1))
    return np.concatenate([maps, others], axis=1)


def full(n: int) -> IntArray:
    """A cycle, a transposition and a merging map: all transformations of n points."""
    points = np.arange(n)
    swap, merge = points.copy(), points.copy()
    swap[:2], merge[1] = [1, 0], 0
    return np.stack([(points + 1) % n, swap, merge])


def smallest_words(table: IntArray) -> dict[Row, Row]:
    """Every element with its shortlex smallest word, one word after another."""
    words: dict[Row, Row] = {tuple(range(table.shape[1])): ()}
    queue = list(words)
    for element in queue:
        for letter, row in enumerate(table.tolist()):
            image = tuple(row[q] for q in element)
            if image not in words:
                words[image] = (*words[element], letter)
                queue.append(image)
    return words


@given(generators())
def test_elements_and_words_are_those_of_a_breadth_first_search(g: IntArray) -> None:
    monoid = TransformationMonoid.enumerate(g)
    found = {tuple(r): monoid.word(i) for i, r in enumerate(monoid.elements.tolist())}
    assert list(found.items()) == list(smallest_words(g).items())


@given(generators())
def test_a_word_is_its_prefix_and_a_letter_and_its_letter_and_suffix(
    g: IntArray,
) -> None:
    found = Enumeration(g)
    found.run(Budget())
    for i in range(1, found.size):
        word = found.word(i)
        assert len(word) == found.length[i]
        assert word == (*found.word(found.prefix[i]), found.last[i])
        assert word == (found.first[i], *found.word(found.suffix[i]))


@given(generators())
def test_cayley_graphs(g: IntArray) -> None:
    monoid = TransformationMonoid.enumerate(g)
    for letter, row in enumerate(g):
        after, before = monoid.right[:, letter], monoid.left[:, letter]
        assert np.array_equal(monoid.elements[after], row[monoid.elements])
        assert np.array_equal(monoid.elements[before], monoid.elements[:, row])


@given(generators())
def test_powers_products_and_idempotents(g: IntArray) -> None:
    monoid = TransformationMonoid.enumerate(g)
    every = np.arange(monoid.size)
    table = monoid.product(every[:, None], every)
    assert np.array_equal(monoid.idempotents, every[table[every, every] == every])
    for x in range(monoid.size):
        powers = [x]
        while table[powers[-1], x] not in powers:
            powers.append(int(table[powers[-1], x]))
        assert [p for p in powers if table[p, p] == p] == [monoid.omega[x]]


@given(generators())
def test_the_semigroup_has_the_identity_only_if_a_word_acts_so(g: IntArray) -> None:
    monoid = TransformationMonoid.enumerate(g)
    products = {
        tuple(row)
        for row in compose(
            np.repeat(g, monoid.size, axis=0),
            np.tile(monoid.elements, (len(g), 1)),
        ).tolist()
    }
    assert len(products) == monoid.semigroup_size
    word = monoid.identity_word()
    assert (word is not None) == (tuple(range(g.shape[1])) in products)
    if word is not None:
        state = np.arange(g.shape[1])
        for letter in word:
            state = g[letter][state]
        assert len(word)
        assert np.array_equal(state, np.arange(g.shape[1]))


@pytest.mark.parametrize("n", range(1, 7))
def test_all_transformations(n: int) -> None:
    monoid = TransformationMonoid.enumerate(full(n) if n > 1 else [[0]])
    assert monoid.size == monoid.semigroup_size == n**n


@pytest.mark.parametrize("n", [2, 5])
def test_points_that_all_letters_fix_change_nothing(n: int) -> None:
    few, many = map(TransformationMonoid.enumerate, (full(n), fixing(full(n), 1)))
    for name in ("right", "left", "length", "rules"):
        assert np.array_equal(getattr(few, name), getattr(many, name))
    assert np.array_equal(few.elements, many.elements[:, :n])


def test_the_rules_determine_the_monoid() -> None:
    """Words that avoid the left sides are as many as the elements."""
    monoid = TransformationMonoid.enumerate(full(3))
    longest = int(monoid.length.max())
    reduced = {monoid.word(i) for i in range(monoid.size)}
    left = [
        w
        for n in range(1, longest + 2)
        for w in product(range(3), repeat=n)
        if w not in reduced and w[1:] in reduced and w[:-1] in reduced
    ]
    assert len(left) == monoid.rules


@pytest.mark.parametrize(
    ("states", "size"), [(2, 2), (3, 7), (4, 17), (5, 34), (6, 60), (7, 97)]
)
def test_sizes_of_corridors(states: int, size: int) -> None:
    """The sizes that the thesis's corridors have: T(A), where no word does nothing."""
    monoid = TransformationMonoid.enumerate(zoo.machine(f"Grid{states}").semiautomaton)
    assert monoid.semigroup_size == size
    assert monoid.size == size + 1


def test_size_of_brackets() -> None:
    """Depth 4, two kinds, with a sink: S¹ has 1246 elements, the identity is added."""
    monoid = TransformationMonoid.enumerate(zoo.machine("Dyck4,2").semiautomaton)
    assert (monoid.size, monoid.semigroup_size) == (1246, 1245)


@pytest.mark.slow
def test_a_long_line_of_words() -> None:
    lengths, base, row = (4, 9, 5, 7), 0, []
    for length in lengths:
        row += [base + (i + 1) % length for i in range(length)]
        base += length
    assert TransformationMonoid.enumerate([row]).size == 4 * 9 * 5 * 7


def test_too_many_elements_are_reported_with_a_lower_bound() -> None:
    with pytest.raises(BudgetExceeded, match="more than 100 elements") as caught:
        TransformationMonoid.enumerate(full(5), Budget(size=100))
    assert 100 < caught.value.found <= 5**5
    with pytest.raises(BudgetExceeded, match="stopped after 0 steps"):
        TransformationMonoid.enumerate(full(5), Budget(0))


def test_a_stopped_enumeration_goes_on() -> None:
    found = Enumeration(full(5))
    for limit in range(0, 5**5, 500):
        with pytest.raises(BudgetExceeded):
            found.run(Budget(size=limit))
        assert not found.complete
    found.run(Budget())
    again = TransformationMonoid.of(found)
    assert np.array_equal(again.right, TransformationMonoid.enumerate(full(5)).right)


def test_what_is_not_there() -> None:
    monoid = TransformationMonoid.enumerate([[1, 1, 2]])
    assert monoid.index_of([[0, 1, 2], [1, 1, 2], [2, 2, 2], [0, 1, 9]]).tolist() == [
        *(0, 1),
        *(-1, -1),
    ]
    with pytest.raises(MachineError, match="3 points"):
        monoid.index_of([0, 1])
    with pytest.raises(MachineError, match="elements are"):
        monoid.word(2)
    with pytest.raises(MachineError, match="not all elements"):
        TransformationMonoid.of(Enumeration([[1, 0]]))


@given(st.lists(st.lists(st.integers(0, 2), min_size=9, max_size=9), max_size=60))
def test_rows_are_numbered_in_the_order_of_their_first_occurrence(
    rows: list[list[int]],
) -> None:
    table, expected = RowTable(9, 300), {}
    for part in (rows[:20], rows[20:]):
        numbers, fresh = table.add(np.array(part).reshape(-1, 9) * 100)
        before = len(expected)
        for row in part:
            expected.setdefault(tuple(row), len(expected))
        assert numbers.tolist() == [expected[tuple(row)] for row in part]
        assert len(fresh) == len(expected) - before == table.size - before
    if rows:
        assert table.find(np.array(rows) * 100).tolist() == [
            expected[tuple(row)] for row in rows
        ]
    assert (table.rows // 100).tolist() == [list(row) for row in expected]


def test_rows_without_columns_are_all_alike() -> None:
    rows, index = distinct(np.zeros((3, 0), dtype=np.int64))
    assert (rows.shape, index.tolist()) == ((1, 0), [0, 0, 0])
