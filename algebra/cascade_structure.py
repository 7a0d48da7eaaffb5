"""The structure of a cascade: who reads whom, what runs in parallel, what values mean."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from krohn.algebra.cascade import INVALID, Cascade, Component
from krohn.algebra.groups.naming import name
from krohn.algebra.rows import distinct
from krohn.algebra.semiautomaton import IntArray

BoolArray = npt.NDArray[np.bool_]

MOST_LABELS = 2**20  # labels that are compared at a time


@dataclass(frozen=True, eq=False)
class Reading:
    """The states of the machine that each value of a coordinate leaves possible.

    Attributes:
        possible: ``(states,)``: the states that the coordinates above leave possible.
        refined: ``(values, states)``: which of them each value leaves; no states for a
            value that cannot occur here.
    """

    possible: BoolArray
    refined: BoolArray


def dependencies(cascade: Cascade) -> BoolArray:
    """``(components, components)``: [i, j] says that component i reads component j.

    Component i reads j if at some node of the wiring two states of j lead to different
    letters of i in the end. The coordinates in between may make up for the difference,
    in which case one dependency too many is reported, never one too few.
    """
    count = len(cascade.components)
    reads = np.zeros((count, count), dtype=bool)
    labels = np.empty((1, 0), dtype=np.int64)
    for j in range(count - 1, -1, -1):
        above, reads[j + 1 :, j] = _labels_above(labels, cascade.wiring.follow[j])
        labels = np.concatenate([cascade.wiring.emit[j][:, None], above], axis=1)
    return reads


def _labels_above(labels: IntArray, follow: IntArray) -> tuple[IntArray, BoolArray]:
    """The labels one layer further up, from the labels of the nodes below.

    Args:
        labels: ``(nodes below, m)``: for each of m components, equal numbers for nodes
            from which it reads alike.
        follow: ``(nodes, states)``: the layer.

    Returns:
        Such labels ``(nodes, m)``, and ``(m,)`` whether the state matters.
    """
    piece = max(1, MOST_LABELS // follow.size)
    starts = range(0, max(1, labels.shape[1]), piece)
    parts = [_some_labels(labels[:, at : at + piece], follow) for at in starts]
    above, matters = zip(*parts, strict=True)
    return np.concatenate(above, axis=1), np.concatenate(matters)


def _some_labels(labels: IntArray, follow: IntArray) -> tuple[IntArray, BoolArray]:
    valid = (follow != INVALID)[:, :, None]
    below = np.where(valid, labels[follow], INVALID)
    above = below.max(axis=1)
    alike = (~valid | (below == above[:, None])).all(axis=1)
    node, column = np.nonzero(~alike)
    if len(node):
        rows = below[node, :, column] - INVALID
        _, index = distinct(np.concatenate([column[:, None], rows], axis=1))
        above[node, column] = index + int(labels.max()) + 1
    return above, ~alike.all(axis=0)


def levels(cascade: Cascade) -> tuple[tuple[int, ...], ...]:
    """The components by level: each lies one below the lowest that it reads.

    Components of one level do not read each other, so that they run in parallel.
    """
    reads = dependencies(cascade)
    level: list[int] = []
    for i, row in enumerate(reads):
        level.append(max((level[j] + 1 for j in range(i) if row[j]), default=0))
    deepest = max(level, default=-1)
    return tuple(
        tuple(i for i, at in enumerate(level) if at == number)
        for number in range(deepest + 1)
    )


def meaning(cascade: Cascade) -> tuple[tuple[Reading, ...], ...]:
    """For each component, the meaning of its values in each context where they matter."""
    possible = np.eye(len(cascade.states), dtype=bool)
    readings: list[tuple[Reading, ...]] = []
    for follow in reversed(cascade.projection.follow):
        refined = possible[follow] & (follow != INVALID)[:, :, None]
        possible = refined.any(axis=1)
        readings.append(tuple(_distinct_readings(possible, refined)))
    return tuple(reversed(readings))


def _distinct_readings(possible: BoolArray, refined: BoolArray) -> list[Reading]:
    """The readings that tell something, contexts with many states first."""
    occurs = np.asarray(refined.any(axis=2))
    fewer = occurs[:, :, None] & (refined != possible[:, None])
    tells = np.asarray(fewer.any(axis=(1, 2)))
    if not tells.any():
        return []
    flat = refined[tells].reshape(int(tells.sum()), -1)
    _, first = np.unique(flat, axis=0, return_index=True)
    chosen = np.flatnonzero(tells)[np.sort(first)]
    order = np.argsort(-possible[chosen].sum(axis=1), kind="stable")
    return [Reading(possible[u], refined[u]) for u in chosen[order].tolist()]


def kind(component: Component) -> str:
    """The kind of a component, in the words of the field."""
    size, group, resets = component.size, component.group, component.resets.any()
    if not component.is_permutation_reset:
        return f"machine of {size} states"
    if group.order == 1:
        if not resets:
            return f"constant of {size} values"
        return "flip-flop" if size == 2 else f"memory of {size} values"
    if resets:
        return f"{name(group)} with resets on {size} values"
    if group.is_abelian and group.order == size and name(group) == f"C{size}":
        return f"counter modulo {size}"
    regular = group.is_transitive and group.order == size
    return f"{name(group)} on itself" if regular else f"{name(group)} on {size} values"
