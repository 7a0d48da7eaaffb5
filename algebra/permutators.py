"""Words that turn an image into itself: the permutator group of a class of images.

A class is given by its inner steps, ``(letters, members)``: the place in the class to
which a letter takes each member, -1 where it leaves the class. Member 0 is its
representative.
"""

from collections import deque
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from krohn.algebra.semiautomaton import IntArray, Semiautomaton

BoolArray = npt.NDArray[np.bool_]


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
    found = np.unique(np.take_along_axis(position[after], moved, axis=1), axis=0)
    moving = (found != np.arange(points.shape[1])).any(axis=1)
    return np.asarray(found[moving], dtype=np.int64)


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
