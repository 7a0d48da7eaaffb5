"""The cost of a cascade as a network, before anything is compiled."""

from dataclasses import dataclass, field
from math import ceil, log2

import numpy as np

from krohn.algebra.budget import Budget
from krohn.algebra.cascade import Cascade, Component
from krohn.algebra.cascade_structure import dependencies
from krohn.algebra.groups.permutation_group import PermutationGroup

SCANNED_LENGTH = 128
PASSES = 10  # over each label of a node that is compared to see who reads whom


@dataclass(frozen=True, order=True)
class CascadeCost:
    """The predicted size of the network of a cascade, in order of importance.

    Attributes:
        depth: Attention layers on the longest path of components that read each other:
            one per abelian factor of the derived series and one more for resets (both
            of spec/shallower: sums untwisted by the coordinates above, and a look-up of the
            last reset); a doubling scan for components without this form.
        values: Values of all coordinates together, the width of one-hot channels.
        nodes: Nodes of the wiring, the rows of its tables.
        levels: Components on the longest path; no part of the price.
    """

    depth: int
    values: int
    nodes: int
    levels: int = field(compare=False)


def cost(cascade: Cascade, budget: Budget | None = None) -> CascadeCost:
    """The predicted cost of a cascade; the work of it is counted, not limited."""
    if budget is not None:
        below = range(len(cascade.components), 0, -1)
        layers = zip(cascade.wiring.follow, below, strict=True)
        entries = sum(follow.size * count for follow, count in layers)
        budget.spend(PASSES * entries, PASSES * len(cascade.components))
    reads = dependencies(cascade)
    finished: list[int] = []
    level: list[int] = []
    for i, component in enumerate(cascade.components):
        above = np.flatnonzero(reads[i, :i]).tolist()
        waits = max((finished[j] for j in above), default=0)
        finished.append(waits + component_depth(component))
        level.append(1 + max((level[j] for j in above), default=0))
    nodes = sum(len(emit) for emit in cascade.wiring.emit)
    return CascadeCost(
        max(finished, default=0), sum(cascade.sizes), nodes, max(level, default=0)
    )


def component_depth(component: Component) -> int:
    """The attention layers that one component needs."""
    scan = ceil(log2(SCANNED_LENGTH))
    if not component.is_permutation_reset:
        return scan
    return min(scan, group_depth(component.group, scan) + bool(component.resets.any()))


def group_depth(group: PermutationGroup, scan: int) -> int:
    """The derived length; a scan in the place of a perfect core."""
    if group.order == 1:
        return 0
    length = group.derived_length
    if length is not None:
        return length
    # A giant's only perfect core is the alternating group, of index 2 or 1.
    return len(group.derived_series()) - 1 + scan
