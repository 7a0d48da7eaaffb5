"""The dependency function of one component of a cascade, apart from the others."""

from dataclasses import dataclass

import numpy as np

from krohn.algebra.cascade import INVALID, Cascade
from krohn.algebra.rows import distinct
from krohn.algebra.semiautomaton import IntArray


@dataclass(frozen=True, eq=False)
class Step:
    """How one more coordinate is taken into account.

    Attributes:
        component: The component whose state is read.
        follow: ``(nodes, states)``: the node after it; ``INVALID`` where no valid
            coordinates lead.
    """

    component: int
    follow: IntArray


@dataclass(frozen=True, eq=False)
class Dependency:
    """The dependency function of one component, as a diagram of its own.

    Attributes:
        entry: ``(letters,)``: the first node for each input letter.
        steps: The coordinates that are really read, top one first.
        emit: ``(nodes,)``: the letter of the component at each node after the last step.
    """

    entry: IntArray
    steps: tuple[Step, ...]
    emit: IntArray


def dependency(cascade: Cascade, component: int) -> Dependency:
    """The dependency function of a component, reduced to the coordinates that it reads.

    Nodes of the wiring that lead to the same letters of this component are one, and a
    coordinate whose states make no difference is not read.
    """
    label = cascade.wiring.emit[component]
    steps: list[Step] = []
    for i in range(component - 1, -1, -1):
        follow = cascade.wiring.follow[i]
        below = np.where(follow == INVALID, INVALID, label[follow])
        largest = below.max(axis=1)
        alike = ((below == INVALID) | (below == largest[:, None])).all(axis=1)
        if alike.all():
            label = largest
            continue
        # Where a node does not care, every valid state leads on alike.
        rows, above = distinct(below - INVALID)
        steps.append(Step(i, rows + INVALID))
        label = above
    return _numbered(cascade, label, steps[::-1])


def _numbered(cascade: Cascade, label: IntArray, steps: list[Step]) -> Dependency:
    """Nodes numbered from 0 where they are reached, layer by layer."""
    used, entry = np.unique(label[cascade.wiring.entry], return_inverse=True)
    kept: list[Step] = []
    for step in steps:
        led = step.follow[used]
        valid = led != INVALID
        follow = np.full_like(led, INVALID)
        used, follow[valid] = np.unique(led[valid], return_inverse=True)
        kept.append(Step(step.component, follow))
    return Dependency(entry.reshape(-1).astype(np.int64), tuple(kept), used)
