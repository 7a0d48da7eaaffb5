"""Components of graphs, searches in them, and words that lead to each state."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import Automaton, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Components of graphs, and searches in them.
#
# Components are numbered in the order of their first nodes. scipy is imported for large
# graphs only: its import takes longer than the searches here.


Nodes = npt.NDArray[np.integer]

MOST_PLAIN_EDGES = 100_000
"""Up to so many edges, a search in Python is done before scipy is imported."""


def strong_components(nodes: int, source: Nodes, target: Nodes) -> IntArray:
    """The strongly connected component of each node of a directed graph.

    Args:
        nodes: The number of nodes.
        source: ``(edges,)``: where edges begin.
        target: ``(edges,)``: where they end.

    Returns:
        ``(nodes,)`` numbers from 0.
    """
    if len(source) > MOST_PLAIN_EDGES:
        return renumber_classes(_by_scipy(nodes, source, target))[0]
    return renumber_classes(_by_searches(nodes, source, target))[0]


def components_of_steps(step: Nodes) -> IntArray:
    """The strongly connected component of each node, ``(nodes,)``, of a step table.

    Args:
        step: ``(letters, nodes)``: where each letter leads from each node.
    """
    letters, nodes = step.shape
    source = np.repeat(np.arange(nodes), letters)
    return strong_components(nodes, source, step.T.ravel())


def weak_components(nodes: int, first: Nodes, second: Nodes) -> IntArray:
    """The component of each node, ``(nodes,)``, of a graph without directions.

    In each round every root with a lower root beside it goes below the lowest of them.

    Args:
        nodes: The number of nodes.
        first: ``(edges,)``: one end of each edge.
        second: ``(edges,)``: the other.
    """
    root = np.arange(nodes)
    while True:
        one, other = root[first], root[second]
        apart = one != other
        if not apart.any():
            return np.unique(root, return_inverse=True)[1].reshape(-1)
        first, second = first[apart], second[apart]
        low = np.minimum(one[apart], other[apart])
        high = np.maximum(one[apart], other[apart])
        np.minimum.at(root, high, low)
        while not np.array_equal(root[root], root):
            root = root[root]


def reached_from(step: Nodes, start: int) -> npt.NDArray[np.bool_]:
    """``(nodes,)``: which nodes are reached from one; it is reached itself.

    Args:
        step: ``(letters, nodes)``: where each letter leads from each node.
        start: The first node.
    """
    seen = np.zeros(step.shape[1], dtype=bool)
    seen[start] = True
    frontier = np.array([start], dtype=np.int64)
    while frontier.size:
        after = np.zeros_like(seen)
        after[step[:, frontier]] = True
        frontier = np.flatnonzero(after & ~seen)
        seen[frontier] = True
    return seen


def towards(nodes: int, source: Nodes, target: Nodes, root: int) -> IntArray:
    """The next node of each, ``(nodes,)``, on a shortest way to the root.

    The root, and nodes from which no way leads there, are their own.

    Args:
        nodes: The number of nodes.
        source: ``(edges,)``: where edges begin, in ascending order.
        target: ``(edges,)``: where they end.
        root: Where all ways lead.
    """
    following = np.arange(nodes)
    if len(source) > MOST_PLAIN_EDGES:
        from scipy.sparse.csgraph import breadth_first_order

        parents = breadth_first_order(_matrix(nodes, target, source), root)[1]
        following[parents >= 0] = parents[parents >= 0]
        return following
    before = _neighbours(nodes, target, source)
    seen = [False] * nodes
    seen[root] = True
    queue = [root]
    for node in queue:
        for other in before[node]:
            if not seen[other]:
                seen[other] = True
                following[other] = node
                queue.append(other)
    return following


def renumber_classes(label: npt.NDArray[Any]) -> tuple[IntArray, IntArray]:
    """Classes numbered in the order of their first members, and these members."""
    _, first, index = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[index.reshape(-1)], np.sort(first)


def _by_scipy(nodes: int, source: Nodes, target: Nodes) -> Nodes:
    from scipy.sparse.csgraph import connected_components

    edges = _matrix(nodes, source, target)
    return np.asarray(connected_components(edges, connection="strong")[1])


def _matrix(nodes: int, source: Nodes, target: Nodes) -> "csr_array[np.int8]":
    from scipy.sparse import coo_array

    ones = np.ones(len(source), dtype=np.int8)
    return coo_array((ones, (source, target)), (nodes, nodes)).tocsr()


def _by_searches(nodes: int, source: Nodes, target: Nodes) -> IntArray:
    """Two searches, the second backwards in the order in which the first left nodes.

    That is the algorithm of S. R. Kosaraju (M. Sharir 1981), without recursion.
    """
    label = [-1] * nodes
    before = _neighbours(nodes, target, source)
    for root in reversed(_finishing_order(_neighbours(nodes, source, target))):
        stack = [root] if label[root] < 0 else []
        while stack:
            node = stack.pop()
            if label[node] < 0:
                label[node] = root
                stack += before[node]
    return np.array(label, dtype=np.int64)


def _neighbours(nodes: int, source: Nodes, target: Nodes) -> list[list[int]]:
    order = np.argsort(source, kind="stable")
    first = np.searchsorted(source[order], np.arange(nodes + 1)).tolist()
    after = target[order].tolist()
    return [after[i:j] for i, j in pairwise(first)]


def _finishing_order(neighbours: list[list[int]]) -> list[int]:
    """The nodes in the order in which a depth-first search is done with them."""
    order: list[int] = []
    seen = [False] * len(neighbours)
    for root in range(len(neighbours)):
        # A node is on the stack once more, as ~node, below all that it leads to.
        stack = [root]
        while stack:
            node = stack.pop()
            if node < 0:
                order.append(~node)
            elif not seen[node]:
                seen[node] = True
                stack.append(~node)
                stack += neighbours[node]
    return order


# Words that lead from the start to each state, of one length where that is possible.


def approaches(machine: Automaton, longest: int) -> list[tuple[int, ...] | None]:
    """For every state a word that leads to it from the start.

    Of all lengths up to ``longest`` the one is chosen at which the most states can be, and
    of those the least. States that can be there get a word of this length, and the others
    a shortest one.

    Returns:
        Letter indices; None for a state that cannot be reached.
    """
    layers = _layers(machine, longest)
    common = max(range(len(layers)), key=lambda n: (int((layers[n] >= 0).sum()), -n))
    words = _shortest(machine)
    for state in np.flatnonzero(layers[common] >= 0).tolist():
        words[state] = _word(machine, layers[: common + 1], state)
    return words


def _shortest(machine: Automaton) -> list[tuple[int, ...] | None]:
    """The least of the shortest words to each state."""
    words: list[tuple[int, ...] | None] = [None] * len(machine.states)
    words[machine.start] = ()
    queue = [machine.start]
    for state in queue:
        for letter, after in enumerate(machine.transitions[:, state].tolist()):
            if words[after] is None:
                words[after] = (*(words[state] or ()), letter)
                queue.append(after)
    return words


def _layers(machine: Automaton, longest: int) -> list[IntArray]:
    """For each length, a predecessor of each state, ``(states,)``; −1 for none.

    They end where the same states can be reached as for a shorter length.
    """
    states = len(machine.states)
    layers: list[IntArray] = []
    known: set[bytes] = set()
    now = np.full(states, -1, dtype=np.int64)
    now[machine.start] = machine.start
    while len(layers) <= longest and (now >= 0).tobytes() not in known:
        known.add((now >= 0).tobytes())
        layers.append(now)
        here = np.flatnonzero(now >= 0)
        now = np.full(states, -1, dtype=np.int64)
        now[machine.transitions[:, here]] = here
    return layers


def _word(machine: Automaton, layers: list[IntArray], state: int) -> tuple[int, ...]:
    """A word with as many letters as there are layers after the first."""
    letters = []
    for layer in layers[:0:-1]:
        before = int(layer[state])
        letters.append(int((machine.transitions[:, before] == state).argmax()))
        state = before
    return tuple(reversed(letters))
