"""The skeleton of a machine: images of its states, and the groups that permute them."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray, Semiautomaton
from krohn.algebra.budget import Budget
from krohn.algebra.graphs import components_of_steps
from krohn.algebra.groups.permutation_group import PermutationGroup

# Sets of states, and all that words make of the set of all states.


BoolArray = npt.NDArray[np.bool_]
BitArray = npt.NDArray[np.uint64]

PIECE_BYTES = 2**25
PASSES = 10  # over each entry, or array operations in a row, where sets are made
FOLLOWED = 2  # passes over each entry of a set that a letter moves
KEYED = 30  # entries that could be read while a set is looked up by its key


def pack(sets: BoolArray) -> BitArray:
    """Sets ``(count, states)`` as bits ``(count, words)``."""
    padded = np.zeros((len(sets), -(-sets.shape[1] // 64) * 64), dtype=bool)
    padded[:, : sets.shape[1]] = sets
    return np.packbits(padded, axis=1).view(np.uint64)


def set_keys(sets: BoolArray) -> list[bytes]:
    """One key for each of some sets ``(count, states)``, equal for equal sets."""
    packed = np.packbits(sets, axis=1)
    width = packed.shape[1]
    data = packed.tobytes()
    return [data[i : i + width] for i in range(0, len(data), width)]


def apply(letter: IntArray, sets: BoolArray) -> BoolArray:
    """The images ``(count, states)`` of sets under one letter ``(states,)``."""
    order = np.argsort(letter, kind="stable")
    targets, first = np.unique(letter[order], return_index=True)
    after = np.zeros_like(sets)
    after[:, targets] = np.logical_or.reduceat(sets[:, order], first, axis=1)
    return after


def images(
    machine: Semiautomaton, budget: Budget
) -> tuple[BoolArray, IntArray, IntArray]:
    """All images of the state set, with the singletons, and how letters act on them.

    Returns:
        ``sets``, ``step`` and ``reached`` as in ``Skeleton``.

    Raises:
        BudgetExceeded: If there are too many of them.
    """
    n, letters = len(machine.states), len(machine.letters)
    everything = np.ones((1, n), dtype=bool)
    known = {key: i for i, key in enumerate(set_keys(everything))}
    pieces, parents = [everything], [np.full((1, 2), -1)]
    steps: list[IntArray] = []
    first, singletons = 0, False
    rows = max(1, PIECE_BYTES // (letters * n))
    for piece in pieces:
        budget.spend(len(piece) * letters * (FOLLOWED * n + KEYED), PASSES * letters)
        step, fresh, parent = _advance(machine, piece, first, known)
        steps.append(step)
        first += len(piece)
        budget.check(len(known), "images of the state set")
        if first == len(known) and not singletons:
            fresh, singletons = _missing_singletons(n, known), True
            parent = np.full((len(fresh), 2), -1)
        for start in range(0, len(fresh), rows):
            pieces.append(fresh[start : start + rows])
            parents.append(parent[start : start + rows])
    return (
        np.concatenate(pieces),
        np.concatenate(steps, axis=1),
        np.concatenate(parents),
    )


def _advance(
    machine: Semiautomaton, piece: BoolArray, first: int, known: dict[bytes, int]
) -> tuple[IntArray, BoolArray, IntArray]:
    """Where letters take some sets; the new sets among those, and their origin."""
    after = np.stack([apply(letter, piece) for letter in machine.transitions])
    flat = after.reshape(-1, piece.shape[1])
    step = np.empty(len(flat), dtype=np.int64)
    fresh: list[int] = []
    for i, key in enumerate(set_keys(flat)):
        count = len(known)
        step[i] = known.setdefault(key, count)
        if len(known) > count:
            fresh.append(i)
    new = np.array(fresh, dtype=np.int64)
    letter, row = np.unravel_index(new, after.shape[:2])
    origin = np.stack([row + first, letter], axis=1)
    return step.reshape(after.shape[:2]), flat[new], origin


def _missing_singletons(n: int, known: dict[bytes, int]) -> BoolArray:
    single = np.eye(n, dtype=bool)
    missing = [i for i, key in enumerate(set_keys(single)) if key not in known]
    for key in set_keys(single[missing]):
        known[key] = len(known)
    return single[missing]


# Words that turn an image into itself: the permutator group of a class of images.
#
# A class is given by its inner steps, ``(letters, members)``: the place in the class to
# which a letter takes each member, -1 where it leaves the class. Member 0 is its
# representative.


def transports(
    machine: Semiautomaton, representative: BoolArray, inner: IntArray
) -> IntArray:
    """``(members, size)``: the states of each member, carried along a spanning tree."""
    start = np.flatnonzero(representative)
    points = np.full((inner.shape[1], len(start)), -1, dtype=np.int64)
    points[0] = start
    frontier = np.array([0])
    while len(frontier):
        letter, at = np.nonzero(inner[:, frontier] >= 0)
        after = inner[letter, frontier[at]]
        new = points[after, 0] < 0
        fresh, first = np.unique(after[new], return_index=True)
        letter, at = letter[new][first], at[new][first]
        points[fresh] = machine.transitions[letter[:, None], points[frontier[at]]]
        frontier = fresh
    return points


def schreier_generators(
    machine: Semiautomaton, points: IntArray, inner: IntArray
) -> IntArray:
    """``(k, size)``: there by the transport, on by a letter, back by the transport."""
    letter, before = np.nonzero(inner >= 0)
    after = inner[letter, before]
    moved = machine.transitions[letter[:, None], points[before]]
    position = np.full((len(points), len(machine.states)), -1, dtype=np.int64)
    np.put_along_axis(position, points, np.arange(points.shape[1])[None], axis=1)
    generators = np.unique(np.take_along_axis(position[after], moved, axis=1), axis=0)
    moving = (generators != np.arange(points.shape[1])).any(axis=1)
    return np.asarray(generators[moving], dtype=np.int64)


def permutator_words(
    machine: Semiautomaton, start: IntArray, inner: IntArray
) -> Iterator[tuple[list[int], IntArray]]:
    """Words that generate the group, with their permutations, none of them twice.

    Args:
        machine: The machine.
        start: ``(size,)``: the states of the representative.
        inner: The steps inside the class.
    """
    there, back = _paths(inner, forwards=True), _paths(inner, forwards=False)
    seen = {np.arange(len(start)).tobytes()}
    for member, after_letters in enumerate(inner.T.tolist()):
        for letter, after in enumerate(after_letters):
            if after < 0:
                continue
            word = [*there[member], letter, *back[after]]
            at = start
            for a in word:
                at = machine.transitions[a, at]
            permutation = np.searchsorted(start, at)
            if permutation.tobytes() not in seen:
                seen.add(permutation.tobytes())
                yield word, permutation


def _paths(inner: IntArray, forwards: bool) -> dict[int, list[int]]:
    """Shortest words from the representative to each member, or from each to it."""
    edges: dict[int, list[tuple[int, int]]] = {}
    for member, after_letters in enumerate(inner.T.tolist()):
        for letter, after in enumerate(after_letters):
            if after >= 0:
                source, target = (member, after) if forwards else (after, member)
                edges.setdefault(source, []).append((letter, target))
    words: dict[int, list[int]] = {0: []}
    queue = deque([0])
    while queue:
        at = queue.popleft()
        for letter, target in edges.get(at, ()):
            if target not in words:
                old = words[at]
                words[target] = [*old, letter] if forwards else [letter, *old]
                queue.append(target)
    return words


# The skeleton of a machine: the images of its state set under all words.
#
# The sets ``X·s`` for words s, and the singletons, form a finite set on which the
# letters act. Sets that lead to each other have equally many states and are alike; each
# such class has a group, and the classes have a height. All of Krohn–Rhodes theory that
# does not ask for single elements of the monoid can be read off here, without
# enumerating the monoid.


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
        indices = np.array([self._index[key] for key in keys], dtype=np.int64)
        return indices.reshape(sets.shape[:-1])

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
        maximal = np.array(list(_maximal(candidates[order], self.bits)), dtype=np.int64)
        first = np.lexsort((~self.sets[maximal].T)[::-1])
        return maximal[first]


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
