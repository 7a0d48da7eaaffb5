"""Isomorphisms between small groups, found by images of generators."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from krohn.algebra.budget import Budget
from krohn.algebra.groups.table import GroupTable
from krohn.algebra.semiautomaton import IntArray

MOST_CANDIDATES = 200_000


@dataclass(frozen=True)
class _Tree:
    """How a subgroup's elements come from generators, one by one."""

    elements: list[int]
    parents: list[int]
    steps: list[int]


def isomorphism(first: GroupTable, second: GroupTable) -> IntArray | None:
    """An isomorphism as the image of each element, ``(m,)``; None if there is none.

    Images of generators are chosen among elements that look alike (`fingerprints`);
    partial choices are kept if they extend to an injective homomorphism on the
    subgroup that they generate. The first image is chosen up to conjugacy.

    Raises:
        BudgetExceeded: If there are too many choices.
    """
    if not look_alike(first, second):
        return None
    found = embeddings(first, second)
    return found[0] if len(found) else None


def look_alike(first: GroupTable, second: GroupTable) -> bool:
    """Whether all fingerprints occur equally often, as they do in isomorphic groups."""
    if first.order != second.order:
        return False
    a, b = (np.sort(fingerprints(group)) for group in (first, second))
    return np.array_equal(a, b)


def embeddings(
    first: GroupTable, second: GroupTable, budget: Budget | None = None
) -> IntArray:
    """Injective homomorphisms ``(count, m)``, at least one of each up to conjugacy.

    Raises:
        BudgetExceeded: If there are too many choices; the budget's size bounds those
            that are tried at a time.
    """
    same = first.order == second.order
    here = fingerprints(first) if same else first.orders
    there = fingerprints(second) if same else second.orders
    generators = _rare_generators(first, here)
    allowed = [np.flatnonzero(there == here[g]) for g in generators]
    if allowed:
        chosen = [members[0] for members in second.classes]
        allowed[0] = np.intersect1d(allowed[0], chosen)
    return extensions(first, second, generators, allowed, budget)


def extensions(
    first: GroupTable,
    second: GroupTable,
    generators: Sequence[int],
    allowed: Sequence[IntArray],
    budget: Budget | None = None,
) -> IntArray:
    """All injective homomorphisms that map generators to allowed elements.

    Args:
        first: The group that is mapped.
        second: The group that it is mapped into.
        generators: Elements that generate the first group.
        allowed: For each of them the elements that may be its image.
        budget: Its size bounds the choices that are tried at a time.

    Returns:
        ``(count, m)``: the image of each element.

    Raises:
        BudgetExceeded: If there are too many choices.
    """
    limit = budget or Budget(size=MOST_CANDIDATES)
    images = np.empty((1, 0), dtype=np.int64)
    whole = np.zeros((1, first.order), dtype=np.int64)
    for step, choices in enumerate(allowed):
        limit.check(len(images) * len(choices), "choices of images")
        repeated = np.repeat(images, len(choices), axis=0)
        added = np.tile(choices, len(images))[:, None]
        images = np.concatenate([repeated, added], axis=1)
        images, whole = _consistent(first, second, generators[: step + 1], images)
    return whole


def fingerprints(group: GroupTable) -> IntArray:
    """A number for each element that isomorphisms keep, ``(m,)``.

    It is made of the order, the size of the class, the number of square roots and of
    cube roots, and then of the same for the square and the cube.
    """
    every = np.arange(group.order)
    size = np.empty(group.order, dtype=np.int64)
    for members in group.classes:
        size[members] = len(members)
    square = group.product[every, every]
    cube = group.product[square, every]
    roots = [np.bincount(p, minlength=group.order) for p in (square, cube)]
    mark = _hash_columns([group.orders, size, *roots])
    return _hash_columns([mark, mark[square], mark[cube]])


def _hash_columns(columns: list[IntArray]) -> IntArray:
    """One number from several; equal columns give equal numbers in every group."""
    result = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        # Multiplying by an odd number modulo 2^64 mixes; a rare collision of unlike
        # elements only weakens the invariant and never makes it wrong.
        result = (result + column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        result ^= result >> np.uint64(29)
    return result.astype(np.int64)


def _rare_generators(group: GroupTable, marks: IntArray) -> list[int]:
    """Few generators, preferring elements that have few look-alikes."""
    _, place, counts = np.unique(marks, return_inverse=True, return_counts=True)
    rarity = counts[place.reshape(-1)]
    found = np.zeros(1, dtype=np.int64)
    chosen: list[int] = []
    while len(found) < group.order:
        outside = np.flatnonzero(~group.mask(found))
        order = np.lexsort((rarity[outside], -group.orders[outside]))
        tried = outside[order][:24]
        grown = [group.generated_subgroup([int(x)], found) for x in tried]
        best = max(range(len(tried)), key=lambda i: (len(grown[i]), -rarity[tried[i]]))
        chosen.append(int(tried[best]))
        found = grown[best]
    return chosen


def _consistent(
    first: GroupTable, second: GroupTable, chosen: Sequence[int], images: IntArray
) -> tuple[IntArray, IntArray]:
    """The images that extend to injective homomorphisms on the generated subgroup."""
    tree = _tree(first, chosen)
    whole = np.zeros((len(images), first.order), dtype=np.int64)
    for element, parent, step in zip(
        tree.elements, tree.parents, tree.steps, strict=True
    ):
        whole[:, element] = second.product[whole[:, parent], images[:, step]]
    for step, generator in enumerate(chosen):
        for element in (0, *tree.elements):
            after = first.product[element, generator]
            image = second.product[whole[:, element], images[:, step]]
            good = image == whole[:, after]
            if not good.all():
                images, whole = images[good], whole[good]
    inside = np.array(tree.elements, dtype=np.int64)
    injective = (whole[:, inside] != 0).all(axis=1)
    return images[injective], whole[injective]


def _tree(group: GroupTable, generators: Sequence[int]) -> _Tree:
    tree, known, queue = _Tree([], [], []), {0}, [0]
    for element in queue:
        for step, generator in enumerate(generators):
            after = int(group.product[element, generator])
            if after not in known:
                known.add(after)
                queue.append(after)
                tree.elements.append(after)
                tree.parents.append(element)
                tree.steps.append(step)
    return tree
