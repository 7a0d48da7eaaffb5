"""The skeleton of a machine: the images of its state set under all words.

The sets ``X·s`` for words s, and the singletons, form a finite set on which the letters
act. Sets that lead to each other have equally many states and are alike; each such class
has a group, and the classes have a height. All of Krohn–Rhodes theory that does not ask
for single elements of the monoid can be read off here, without enumerating the monoid.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from krohn.algebra.budget import Budget
from krohn.algebra.graphs import components_of_steps
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.image_sets import PASSES, BitArray, BoolArray, images, pack, set_keys
from krohn.algebra.permutators import permutator_words, schreier_generators, transports
from krohn.algebra.semiautomaton import IntArray, Semiautomaton

MOST_IMAGES = 200_000


@dataclass(frozen=True, eq=False)
class ImageClass:
    """Images that words turn into each other, seen from one of them.

    Attributes:
        members: ``(count,)`` indices of the images, the representative first.
        points: ``(count, size)``: row i lists the states of member i in the order that
            the transport from the representative gives; row 0 ascends.
        generators: ``(k, size)`` permutations of 0..size-1 that generate the permutator
            group, all of {s restricted to P : P·s = P}, on the representative P.
        height: 0 for singletons; otherwise one more than the highest class strictly
            below in the subduction order (P ≤ Q if P ⊆ Q·s for some word s).
    """

    members: IntArray
    points: IntArray
    generators: IntArray
    height: int

    @property
    def size(self) -> int:
        """The number of states of each member."""
        return int(self.points.shape[1])

    @cached_property
    def group(self) -> PermutationGroup:
        """The permutator group of the representative, on its states in order."""
        return PermutationGroup(self.generators)


@dataclass(frozen=True, eq=False)
class Skeleton:
    """The extended image set of a machine.

    Attributes:
        machine: The machine.
        sets: ``(images, states)``; the first is the set of all states.
        step: ``(letters, images)``: the image of an image under a letter.
        reached: ``(images, 2)``: the image and letter from which a breadth-first search
            from all states came to an image; -1 for all states and for singletons that
            no word reaches.
        classes: The classes, each after all that are above it.
        class_of: ``(images,)``: the class of an image.
    """

    machine: Semiautomaton
    sets: BoolArray
    step: IntArray
    reached: IntArray
    classes: tuple[ImageClass, ...]
    class_of: IntArray

    def index(self, sets: BoolArray) -> IntArray:
        """The indices of sets ``(…, states)`` that are images.

        Raises:
            KeyError: If one of them is none.
        """
        flat = sets.reshape(-1, sets.shape[-1])
        keys = set_keys(flat)
        found = np.array([self._index[key] for key in keys], dtype=np.int64)
        return found.reshape(sets.shape[:-1])

    def permutator_words(self, found: ImageClass) -> list[tuple[list[int], IntArray]]:
        """Words (letter indices) whose permutations generate a class's group.

        Each goes from the representative to a member, takes one letter, and returns.
        A word out and back along one path is among them, so that these permutations
        generate as much as Schreier's generators do.

        Returns:
            Words with the permutations ``(size,)`` of the representative's states in
            order that they effect; no permutation twice, none the identity.
        """
        place = np.full(len(self.sets), -1, dtype=np.int64)
        place[found.members] = np.arange(len(found.members))
        inner = place[self.step[:, found.members]]
        return list(permutator_words(self.machine, found.points[0], inner))

    @cached_property
    def _index(self) -> dict[bytes, int]:
        return {key: i for i, key in enumerate(set_keys(self.sets))}

    @cached_property
    def bits(self) -> BitArray:
        """``(images, words)``: the sets as bits, 64 states to a word."""
        return pack(self.sets)

    def tiles(self, image: int) -> IntArray:
        """The largest images strictly inside an image, in order of their states."""
        inside = ((self.bits & ~self.bits[image]) == 0).all(axis=1)
        inside[image] = False
        candidates = np.flatnonzero(inside)
        order = np.argsort(-self.sets[candidates].sum(axis=1), kind="stable")
        found = np.array(list(_maximal(candidates[order], self.bits)), dtype=np.int64)
        first = np.lexsort((~self.sets[found].T)[::-1])
        return found[first]


def skeleton(machine: Semiautomaton, budget: Budget | None = None) -> Skeleton:
    """The images of a machine's state set, their classes, groups and heights.

    Args:
        machine: Any semiautomaton.
        budget: How many images may be kept, and how much work to do.

    Raises:
        BudgetExceeded: If there are more images (there can be 2^states of them).
    """
    budget = budget or Budget(size=MOST_IMAGES)
    sets, step, reached = images(machine, budget)
    class_of = components_of_steps(step)
    bare = Skeleton(machine, sets, step, reached, (), class_of)
    members = _members(class_of)
    below = _below(bare, [group[0] for group in members], budget)
    height = _heights(sets, below, class_of)
    order = np.argsort(-height[[int(group[0]) for group in members]], kind="stable")
    rank = np.argsort(order)
    place = np.empty(len(sets), dtype=np.int64)
    for group in members:
        place[group] = np.arange(len(group))
    inner = np.where(class_of[step] == class_of, place[step], -1)
    classes: list[ImageClass] = []
    for c in order.tolist():
        budget.spend(PASSES * inner[:, members[c]].size * len(machine.states), PASSES)
        budget.check(len(classes), "classes of images")
        classes.append(_image_class(bare, inner[:, members[c]], members[c], height))
    return Skeleton(machine, sets, step, reached, tuple(classes), rank[class_of])


def _members(class_of: IntArray) -> list[IntArray]:
    order = np.argsort(class_of, kind="stable")
    return np.split(order, np.cumsum(np.bincount(class_of))[:-1])


def _maximal(candidates: IntArray, bits: BitArray) -> Iterator[int]:
    """The candidates, large ones first, that lie in no other one."""
    while len(candidates):
        largest = candidates[0]
        yield int(largest)
        inside = ((bits[candidates] & ~bits[largest]) == 0).all(axis=1)
        candidates = candidates[~inside]


def _below(bare: Skeleton, representatives: list[int], budget: Budget) -> IntArray:
    """Pairs ``(count, 2)`` of images, the second strictly below the first or alike."""
    letters, count = bare.step.shape
    source = np.tile(np.arange(count), letters)
    pairs = [np.stack([source, bare.step.reshape(-1)], axis=1)]
    for representative in representatives:
        if bare.sets[representative].sum() > 1:
            budget.check(count, "images of the state set")
            tiles = bare.tiles(representative)
            budget.spend((len(tiles) + 2) * bare.bits.size, PASSES * len(tiles))
            pairs.append(np.stack([np.full_like(tiles, representative), tiles], axis=1))
    return np.concatenate(pairs)


def _heights(sets: BoolArray, below: IntArray, class_of: IntArray) -> IntArray:
    """The longest descent from each image to a singleton, by relaxation."""
    upper, lower = class_of[below].T
    upper, lower = upper[upper != lower], lower[upper != lower]
    edges = np.unique(np.stack([upper, lower], axis=1), axis=0)
    height = np.zeros(int(class_of.max()) + 1, dtype=np.int64)
    large = np.zeros(len(height), dtype=bool)
    large[class_of[sets.sum(axis=1) > 1]] = True
    height[large] = 1
    edges = edges[large[edges[:, 0]] & large[edges[:, 1]]]
    while True:
        after = height.copy()
        np.maximum.at(after, edges[:, 0], height[edges[:, 1]] + 1)
        if np.array_equal(after, height):
            return height[class_of]
        height = after


def _image_class(
    bare: Skeleton, inner: IntArray, members: IntArray, height: IntArray
) -> ImageClass:
    """A class with the transports along a spanning tree and Schreier's generators."""
    points = transports(bare.machine, bare.sets[members[0]], inner)
    generators = schreier_generators(bare.machine, points, inner)
    return ImageClass(members, points, generators, int(height[members[0]]))
