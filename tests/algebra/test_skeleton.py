"""The images of the state set, their classes, groups and heights."""

from itertools import combinations

import numpy as np
import pytest
from bestiary import BESTIARY, cerny, full_transformations, machine, machines, monoid
from hypothesis import given, settings

from krohn.algebra.automaton import Semiautomaton
from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.skeleton import Skeleton, skeleton

Sets = list[frozenset[int]]


def sets_of(found: Skeleton) -> Sets:
    return [frozenset(np.flatnonzero(row).tolist()) for row in found.sets]


def images_by_force(a: Semiautomaton) -> set[frozenset[int]]:
    single = {frozenset([q]) for q in range(len(a.states))}
    return single | {frozenset(s.tolist()) for s in monoid(a)}


def subduction_by_force(a: Semiautomaton, sets: Sets) -> np.ndarray:
    """[i, j]: set i lies in an image of set j."""
    elements = monoid(a)
    below = np.zeros((len(sets), len(sets)), dtype=bool)
    for j, larger in enumerate(sets):
        images = {frozenset(s[list(larger)].tolist()) for s in elements}
        for i, smaller in enumerate(sets):
            below[i, j] = any(smaller <= image for image in images)
    return below


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_full_transformations_reach_every_nonempty_set(n: int) -> None:
    assert len(skeleton(full_transformations(n)).sets) == 2**n - 1


@pytest.mark.parametrize("n", [2, 4, 7, 10])
def test_cernys_machine_reaches_every_nonempty_set_by_cyclic_groups(n: int) -> None:
    found = skeleton(cerny(n))
    assert len(found.sets) == 2**n - 1
    large = [c for c in found.classes if c.height]
    assert [(c.size, c.group.order) for c in large] == [(k, k) for k in range(n, 1, -1)]


@given(machines())
def test_the_sets_are_the_images_and_the_singletons(a: Semiautomaton) -> None:
    found = skeleton(a)
    sets = sets_of(found)
    assert sets[0] == frozenset(range(len(a.states)))
    assert len(set(sets)) == len(sets)
    assert set(sets) == images_by_force(a)
    for letter, row in enumerate(a.transitions):
        moved = [frozenset(row[list(s)].tolist()) for s in sets]
        assert moved == [sets[i] for i in found.step[letter]]
    assert found.index(found.sets).tolist() == list(range(len(sets)))


@settings(max_examples=50)
@given(machines(most_states=4))
def test_classes_and_heights_follow_the_subduction_order(a: Semiautomaton) -> None:
    found = skeleton(a)
    height = np.array([c.height for c in found.classes])[found.class_of]
    sets = sets_of(found)
    below = subduction_by_force(a, sets)
    alike = below & below.T
    assert np.array_equal(alike, found.class_of[:, None] == found.class_of)
    for i, one in enumerate(sets):
        under = [
            int(height[j])
            for j, other in enumerate(sets)
            if below[j, i] and not alike[j, i] and len(other) > 1
        ]
        expected = 0 if len(one) == 1 else 1 + max(under, default=0)
        assert height[i] == expected


@settings(max_examples=50)
@given(machines(most_states=4))
def test_groups_are_what_the_monoid_does_to_a_set(a: Semiautomaton) -> None:
    found = skeleton(a)
    elements = monoid(a)
    for image_class in found.classes:
        start = image_class.points[0]
        stays = [s for s in elements if set(s[start]) == set(start.tolist())]
        rows = np.unique([np.searchsorted(start, s[start]) for s in stays], axis=0)
        assert image_class.group == PermutationGroup(rows)
        for member, points in zip(image_class.members, image_class.points, strict=True):
            assert set(points.tolist()) == set(np.flatnonzero(found.sets[member]))


@pytest.mark.sample(9)
@pytest.mark.parametrize("name", BESTIARY)
def test_words_effect_the_generators_and_reach_the_images(name: str) -> None:
    a = BESTIARY[name]
    found = skeleton(a)
    for image_class in found.classes:
        start = image_class.points[0]
        rows = [np.arange(len(start))]
        for word, permutation in found.permutator_words(image_class):
            at = start
            for letter in word:
                at = a.transitions[letter][at]
            assert at.tolist() == start[permutation].tolist()
            rows.append(permutation)
        assert PermutationGroup(np.array(rows)) == image_class.group
    for image in np.flatnonzero(found.reached[:, 0] >= 0).tolist():
        at = np.arange(len(a.states))
        letters = []
        current = image
        while current != 0:
            current, letter = (int(i) for i in found.reached[current])
            letters.append(letter)
        for letter in reversed(letters):
            at = a.transitions[letter][at]
        assert set(at.tolist()) == set(np.flatnonzero(found.sets[image]).tolist())


@given(machines())
def test_tiles_are_the_largest_images_inside(a: Semiautomaton) -> None:
    found = skeleton(a)
    sets = sets_of(found)
    for image_class in found.classes:
        inside = [s for s in sets if s < sets[image_class.members[0]]]
        largest = {s for s in inside if not any(s < other for other in inside)}
        assert {sets[t] for t in image_class.tiles.tolist()} == largest


def test_a_singleton_that_no_word_reaches_has_no_word() -> None:
    found = skeleton(BESTIARY["no singleton image"])
    singles = np.flatnonzero(found.sets.sum(axis=1) == 1)
    assert (found.reached[singles, 0] < 0).all()


def test_all_pairs_of_states_tile_what_two_letters_reach() -> None:
    """Six tiles on four states (erratum E22)."""
    pairs = [[p, q] for p, q in combinations(range(4), 2)]
    rows = [[1, 2, 3, 0], [1, 0, 2, 3], *([p, q, p, q] for p, q in pairs)]
    found = skeleton(machine(rows))
    assert len(found.classes[0].tiles) == 6


@pytest.mark.slow
def test_the_budget_ends_the_search() -> None:
    with pytest.raises(BudgetExceeded, match="images of the state set"):
        skeleton(cerny(12), Budget(size=1000))
    rng = np.random.default_rng(0)
    large = machine(rng.integers(0, 400, (20, 400)))
    with pytest.raises(BudgetExceeded, match=r"stopped after 10,000 steps"):
        skeleton(large, Budget(10_000))
