"""Tables as reduced decision diagrams: no question without consequence."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from krohn.algebra.semiautomaton import IntArray

Values = frozenset[int]


@dataclass(frozen=True, slots=True)
class Node:
    """A question about one input of a table.

    Attributes:
        column: Which input.
        branches: The values of the input that lead to each successor; a successor is the
            index of another node, or −1 − value where the value is decided.
    """

    column: int
    branches: tuple[tuple[int, Values], ...]


@dataclass
class Diagram:
    """A table as a reduced decision diagram: no question without consequence.

    Attributes:
        nodes: The questions.
        root: The first one, or −1 − value for a constant.
    """

    nodes: list[Node] = field(default_factory=list)
    root: int = 0
    known: dict[Node, int] = field(default_factory=dict)

    def node(self, column: int, branches: Mapping[int, list[int]]) -> int:
        """The node with these branches; none if all lead to the same."""
        if len(branches) == 1:
            return next(iter(branches))
        ordered = tuple((to, frozenset(v)) for to, v in sorted(branches.items()))
        made = Node(column, ordered)
        if made not in self.known:
            self.known[made] = len(self.nodes)
            self.nodes.append(made)
        return self.known[made]


def diagram(rows: IntArray, values: IntArray) -> Diagram:
    """The reduced diagram of a table, asking its inputs in order.

    Args:
        rows: ``(rows, inputs)`` in lexicographic order.
        values: ``(rows,)``.
    """
    made = Diagram()
    columns = [rows[:, i].tolist() for i in range(rows.shape[1])]
    leaves = (-1 - values).tolist()

    def below(low: int, high: int, column: int) -> int:
        if column == len(columns):
            return int(leaves[low])
        part, seen = rows[low:high, column], columns[column]
        cuts = np.flatnonzero(part[1:] != part[:-1]) + (low + 1)
        last = column + 1 == len(columns)
        branches: dict[int, list[int]] = {}
        for start, stop in pairwise([low, *cuts.tolist(), high]):
            # Most calls would end at once.
            to = leaves[start] if last else below(start, stop, column + 1)
            branches.setdefault(to, []).append(seen[start])
        return made.node(column, branches)

    made.root = below(0, len(rows), 0)
    return made
