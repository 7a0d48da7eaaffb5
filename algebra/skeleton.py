"""The skeleton of a machine: images of its states, and the groups that permute them."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray, Semiautomaton
from krohn.algebra.budget import Budget
from krohn.algebra.graphs import components_of_steps
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.rows import distinct

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


class _Letters:
    """Letters ``(letters, states)`` that are applied to many sets at once."""

    def __init__(self, transitions: IntArray) -> None:
        self.count, states = transitions.shape
        ends = (transitions + states * np.arange(self.count)[:, None]).ravel()
        order = np.argsort(ends, kind="stable")
        ends = ends[order]
        self._from = order % states
        self._first = np.flatnonzero(np.append(True, ends[1:] != ends[:-1]))
        self._to = ends[self._first]

    def apply(self, sets: BoolArray) -> BoolArray:
        """The images ``(letters, count, states)`` of sets ``(count, states)``."""
        count, states = sets.shape
        after = np.zeros((count, self.count * states), dtype=bool)
        sources = sets.take(self._from, axis=1)
        after[:, self._to] = np.logical_or.reduceat(sources, self._first, axis=1)
        return after.reshape(count, self.count, states).swapaxes(0, 1)


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
    action = _Letters(machine.transitions)
    everything = np.ones((1, n), dtype=bool)
    known = {key: i for i, key in enumerate(set_keys(everything))}
    pieces, parents = [everything], [np.full((1, 2), -1)]
    steps: list[IntArray] = []
    first, singletons = 0, False
    rows = max(1, PIECE_BYTES // (letters * n))
    for piece in pieces:
        budget.spend(len(piece) * letters * (FOLLOWED * n + KEYED), PASSES * letters)
        step, fresh, parent = _advance(action, piece, first, known)
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
    action: _Letters, piece: BoolArray, first: int, known: dict[bytes, int]
) -> tuple[IntArray, BoolArray, IntArray]:
    """Where letters take some sets; the new sets among those, and their origin."""
    flat = action.apply(piece).reshape(-1, piece.shape[1])
    step: list[int] = []
    fresh: list[int] = []
    for i, key in enumerate(set_keys(flat)):
        count = len(known)
        step.append(known.setdefault(key, count))
        if len(known) > count:
            fresh.append(i)
    new = np.array(fresh, dtype=np.int64)
    letter = new // len(piece)
    origin = np.array([new - letter * len(piece) + first, letter]).T
    return np.array(step).reshape(action.count, -1), flat[new], origin


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
    if inner.shape[1] == 1:
        return start[None]
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
    if not len(letter):
        return np.empty((0, points.shape[1]), dtype=np.int64)
    after = inner[letter, before]
    moved = machine.transitions[letter[:, None], points[before]]
    position = np.empty((len(points), len(machine.states)), dtype=np.int64)
    places = np.arange(points.shape[1])
    position[np.arange(len(points))[:, None], points] = places
    generators = distinct(position[after[:, None], moved])[0]
    moving: IntArray = generators[(generators != places).any(axis=1)]
    return moving


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
        tiles: The largest images strictly inside the representative, in order of their
            states.
        generators: ``(k, size)`` permutations of 0..size-1 that generate the permutator
            group, all of {s restricted to P : P·s = P}, on the representative P.
        height: 0 for singletons; otherwise one more than the highest class strictly
            below in the subduction order (P ≤ Q if P ⊆ Q·s for some word s).
    """

    members: IntArray
    points: IntArray
    tiles: IntArray
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
        bits: ``(images, words)``: the sets as bits, 64 states to a word.
        step: ``(letters, images)``: the image of an image under a letter.
        reached: ``(images, 2)``: the image and letter from which a breadth-first search
            from all states came to an image; -1 for all states and for singletons that
            no word reaches.
        classes: The classes, each after all that are above it.
        class_of: ``(images,)``: the class of an image.
    """

    machine: Semiautomaton
    sets: BoolArray
    bits: BitArray
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
    class_of, bits = components_of_steps(step), pack(sets)
    members = _members(class_of)
    tiles = _tiles(sets, bits, [int(group[0]) for group in members], budget)
    height = _heights(sets, _below(step, members, tiles), class_of)
    order = np.argsort(-height[[group[0] for group in members]], kind="stable")
    rank = np.argsort(order)
    place = np.empty(len(sets), dtype=np.int64)
    for group in members:
        place[group] = np.arange(len(group))
    inner = np.where(class_of[step] == class_of, place[step], -1)
    classes: list[ImageClass] = []
    for c in order.tolist():
        group, steps = members[c], inner[:, members[c]]
        budget.spend(PASSES * steps.size * len(machine.states), PASSES)
        budget.check(len(classes), "classes of images")
        if height[group[0]]:
            points = transports(machine, sets[group[0]], steps)
            generators = schreier_generators(machine, points, steps)
        else:
            points = sets[group].argmax(axis=1)[:, None]
            generators = np.empty((0, 1), dtype=np.int64)
        classes.append(
            ImageClass(group, points, tiles[c], generators, int(height[group[0]]))
        )
    return Skeleton(machine, sets, bits, step, reached, tuple(classes), rank[class_of])


def _members(class_of: IntArray) -> list[IntArray]:
    order = np.argsort(class_of, kind="stable")
    ends = np.bincount(class_of).cumsum().tolist()
    return [order[i:j] for i, j in pairwise([0, *ends])]


def _tiles(
    sets: BoolArray, bits: BitArray, representatives: list[int], budget: Budget
) -> list[IntArray]:
    """The largest images strictly inside each of some images, in order of their states.

    Singletons have none.
    """
    sizes, tiles = sets.sum(axis=1), []
    for image, size in zip(
        representatives, sizes[representatives].tolist(), strict=True
    ):
        if size == 1:
            tiles.append(np.empty(0, dtype=np.int64))
            continue
        budget.check(len(sets), "images of the state set")
        inside = _lie_in(bits, bits[image])
        inside[image] = False
        maximal = _maximal(np.flatnonzero(inside), sizes, bits)
        tiles.append(maximal[np.lexsort((~sets[maximal].T)[::-1])])
        budget.spend((len(maximal) + 2) * bits.size, PASSES * len(maximal))
    return tiles


def _lie_in(bits: BitArray, others: BitArray) -> BoolArray:
    """Whether sets ``(…, words)`` are parts of others."""
    beyond = bits & ~others
    inside: BoolArray = (beyond == 0).all(axis=-1)
    return inside


def _maximal(candidates: IntArray, sizes: IntArray, bits: BitArray) -> IntArray:
    """The candidates that lie in no other one."""
    candidates = candidates[np.argsort(-sizes[candidates], kind="stable")]
    found = []
    while len(candidates):
        # The largest of those that remain; none lies in another one of its size.
        here = sizes[candidates]
        most = max(1, PIECE_BYTES // (16 * bits.shape[1] * len(here)))
        largest = candidates[: min(np.count_nonzero(here == here[0]), most)]
        found.append(largest)
        rest = candidates[len(largest) :]
        inside = _lie_in(bits[rest][:, None], bits[largest]).any(axis=1)
        candidates = rest[~inside]
    return np.concatenate(found)


def _below(step: IntArray, members: list[IntArray], tiles: list[IntArray]) -> IntArray:
    """Pairs ``(count, 2)`` of images, the second strictly below the first or alike."""
    letters, count = step.shape
    upper = [np.tile(np.arange(count), letters)]
    upper += [
        np.full(len(below), group[0])
        for group, below in zip(members, tiles, strict=True)
    ]
    return np.array([np.concatenate(upper), np.concatenate([step.ravel(), *tiles])]).T


def _heights(sets: BoolArray, below: IntArray, class_of: IntArray) -> IntArray:
    """The longest descent from each image to a singleton, by relaxation."""
    upper, lower = class_of[below].T
    upper, lower = upper[upper != lower], lower[upper != lower]
    edges = distinct(np.array([upper, lower]).T)[0]
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
