"""Faithful actions of a group on few points."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from algebra.budget import Budget, BudgetExceeded
from algebra.groups.blocks import block_systems
from algebra.groups.decomposition import cyclic_factor
from algebra.groups.permutation_group import PermutationGroup
from algebra.groups.subgroups import core, subgroup_classes
from algebra.groups.table import GroupTable
from algebra.semiautomaton import IntArray

MOST_SEARCHED = 400
MOST_SUBGROUPS = 3_000


@dataclass(frozen=True, eq=False)
class Action:
    """What the generators of a group do on other points, faithfully.

    Attributes:
        images: ``(k, points)``: one row for each generator.
        minimal: Whether no faithful action on fewer points exists.
    """

    images: IntArray
    minimal: bool

    @property
    def degree(self) -> int:
        """The number of points."""
        return int(self.images.shape[1])

    @property
    def image(self) -> PermutationGroup:
        """The group on these points."""
        return PermutationGroup(self.images)


def smallest_action(group: PermutationGroup, budget: Budget | None = None) -> Action:
    """A faithful action on as few points as can be found.

    For groups of at most 400 elements, within the budget, all subgroups are searched,
    so that the result is minimal; abelian groups of at most 2048 elements need the sum
    of the prime powers of their cyclic factors (Johnson, Minimal permutation
    representations of finite groups, 1971). Otherwise orbits are left out and points
    joined into blocks as long as the action stays faithful, and only A_n and S_n on
    n ≥ 8 points are known to be minimal: A_n has no proper subgroup of smaller index.
    """
    if group.is_small and (group.is_abelian or group.order <= MOST_SEARCHED):
        try:
            return _on_cosets(group.table, _cheapest(group.table, budget))
        except BudgetExceeded:
            pass
    images = _shrunk(group.generators)
    minimal = images.shape[1] <= 1 or PermutationGroup(images).is_giant
    return Action(images, minimal)


def _cheapest(table: GroupTable, budget: Budget | None) -> list[IntArray]:
    """Subgroups of least total index whose cores meet in the identity."""
    if table.is_abelian:
        return _complements(table)
    options: dict[bytes, IntArray] = {}
    # Larger subgroups come first, so that each core keeps its smallest index.
    for subgroup in reversed(
        subgroup_classes(table, budget or Budget(size=MOST_SUBGROUPS))
    ):
        if len(subgroup) < table.order:
            options.setdefault(core(table, subgroup).tobytes(), subgroup)
    return _cheapest_choice(table, list(options.values()))


def _cheapest_choice(table: GroupTable, options: list[IntArray]) -> list[IntArray]:
    """Dijkstra's algorithm over the intersections of cores."""
    cores = [core(table, subgroup) for subgroup in options]
    tie = count()
    queue: list[tuple[int, int, IntArray, list[int]]] = [
        (0, next(tie), np.arange(table.order), [])
    ]
    done: set[bytes] = set()
    while queue:
        cost, _, kernel, chosen = heapq.heappop(queue)
        if len(kernel) == 1:
            return [options[i] for i in chosen]
        if kernel.tobytes() in done:
            continue
        done.add(kernel.tobytes())
        for i, normal in enumerate(cores):
            after = np.intersect1d(kernel, normal, assume_unique=True)
            if len(after) < len(kernel):
                index = table.order // len(options[i])
                heapq.heappush(queue, (cost + index, next(tie), after, [*chosen, i]))
    return []


def _complements(table: GroupTable) -> list[IntArray]:
    """For an abelian group, the kernels of projections onto its cyclic factors."""
    found: list[IntArray] = []
    rest, done = np.arange(table.order), np.zeros(1, dtype=np.int64)
    while split := cyclic_factor(table.restricted(rest)):
        cycle, below = split
        found.append(table.generated(rest[below].tolist(), done))
        done = table.generated(rest[cycle].tolist(), done)
        rest = rest[below]
    return found


def _on_cosets(table: GroupTable, subgroups: list[IntArray]) -> Action:
    parts, points = [], 0
    for subgroup in subgroups:
        part = table.action(subgroup, table.generators)
        parts.append(part + points)
        points += part.shape[1]
    if not parts:
        return Action(np.zeros((len(table.generators), 1), dtype=np.int64), True)
    return Action(np.concatenate(parts, axis=1), True)


def _shrunk(images: IntArray) -> IntArray:
    """Images of the generators after all reductions that keep the action faithful."""
    order = PermutationGroup(images).order
    while True:
        smaller = (r for r in _reductions(images) if PermutationGroup(r).order == order)
        chosen = next(smaller, None)
        if chosen is None:
            return images
        images = chosen


def _reductions(images: IntArray) -> Iterator[IntArray]:
    """Actions without one orbit, large ones first, or with blocks for points."""
    group = PermutationGroup(images)
    orbits = sorted(group.orbits, key=len, reverse=True)
    for orbit in orbits if len(orbits) > 1 else []:
        kept = np.setdiff1d(np.arange(group.degree), orbit)
        place = np.zeros(group.degree, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        yield place[images[:, kept]]
    if len(orbits) == 1:
        for label in block_systems(group):
            _, first = np.unique(label, return_index=True)
            yield label[images[:, first]]
