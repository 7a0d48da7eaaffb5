"""Where the states of a machine are drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import networkx as nx
import numpy as np

from krohn.algebra.semiautomaton import IntArray
from krohn.drawing.canvas import Points
from krohn.drawing.stress import UP, apart_of, circle, least_stress

MOST_INCHES = 9.0
ROW = 10


@dataclass(frozen=True)
class Layout:
    """Places of states.

    Attributes:
        places: ``(states, 2)``, in inches.
        outward: ``(states,)``: the direction in which a state's loop looks best.
    """

    places: Points
    outward: Points


def arrange(table: IntArray, start: int, gap: float, room: float) -> Layout:
    """Places that show what shape a machine has.

    Args:
        table: ``(letters, states)``: where each drawn letter leads.
        start: The start state.
        gap: The wanted distance of neighbours, in inches.
        room: The least distance of any two states.
    """
    graph = links(table)
    layout = _chosen(table, graph, start, gap, room)
    # Coarse enough that the last bits of the arithmetic do not reach the picture.
    return Layout(layout.places.round(3), layout.outward)


def _chosen(
    table: IntArray, graph: "nx.Graph[int]", start: int, gap: float, room: float
) -> Layout:
    circle = _circle_order(table, graph, start)
    if _is_path(graph):
        return _rows(_along_path(graph), gap)
    if circle and len(circle) <= 3:
        return _rings(circle, graph, gap)
    if len(graph) > 4 and nx.is_tree(graph):
        return _tree(graph, start, gap, room)
    return _from_centre(_spread(least_stress(graph), graph, gap, room))


def links(table: IntArray) -> "nx.Graph[int]":
    """Which states are neighbours: the transitions without loops and directions."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(table.shape[1]))
    for row in table.tolist():
        graph.add_edges_from((p, q) for p, q in enumerate(row) if p != q)
    return graph


def _is_path(graph: "nx.Graph[int]") -> bool:
    degrees = [d for _, d in graph.degree]
    return len(graph) == 1 or (nx.is_tree(graph) and max(degrees) <= 2)


def _along_path(graph: "nx.Graph[int]") -> list[int]:
    ends = [v for v, degree in graph.degree if degree < 2]
    return list(nx.dfs_preorder_nodes(graph, min(ends)))


def _rows(order: list[int], gap: float) -> Layout:
    """Rows read to and fro, so that neighbours in the order stay neighbours."""
    gap = min(gap, MOST_INCHES / min(len(order), ROW))
    places = np.zeros((len(order), 2))
    for i, state in enumerate(order):
        row, column = divmod(i, ROW)
        places[state] = (ROW - 1 - column if row % 2 else column, -row)
    return Layout(places * (gap, 1.4), np.full(len(order), UP))


def _circle_order(
    table: IntArray, graph: "nx.Graph[int]", start: int
) -> list[list[int]] | None:
    """Cycles of equal length that together hold every state; None if there are none."""
    states = table.shape[1]
    found = [cycles(row, start) for row in table.tolist() if len(set(row)) == states]
    best = max(found, key=lambda cycles: len(cycles[0]), default=None)
    if best and len(best[0]) >= 3 and len({len(c) for c in best}) == 1:
        return best
    plain = nx.density(graph) > 0.6 or not graph.number_of_edges()
    return [list(range(states))] if plain else None


def cycles(row: Sequence[int], start: int) -> list[list[int]]:
    """The cycles of a permutation, first that through ``start``."""
    found: list[list[int]] = []
    seen: set[int] = set()
    for first in (start, *range(len(row))):
        if first in seen:
            continue
        cycle = [first]
        while (after := row[cycle[-1]]) != first:
            cycle.append(after)
        seen.update(cycle)
        found.append(cycle)
    return found


def _rings(cycles: list[list[int]], graph: "nx.Graph[int]", gap: float) -> Layout:
    """Concentric circles, each turned so that the links to the last are short."""
    size = len(cycles[0])
    if nx.density(graph) > 0.6:
        gap *= 1.3
    radius = gap / (2 * np.sin(np.pi / max(size, 2)))
    radius = min(radius, MOST_INCHES / 2 - gap * (len(cycles) - 1))
    places = np.zeros((len(graph), 2))
    places[cycles[0]] = circle(size, radius)
    for number, cycle in enumerate(cycles[1:], start=1):
        # A ring needs only as much room as its states do; loops go outward.
        ring = circle(size, radius + number * max(1.1, 0.8 * gap))
        places[_turned(cycle, cycles[number - 1], ring, places, graph)] = ring
    return _from_centre(places)


def _turned(
    cycle: list[int],
    inner: list[int],
    ring: Points,
    places: Points,
    graph: "nx.Graph[int]",
) -> list[int]:
    def length(order: list[int]) -> float:
        return sum(
            float(np.hypot(*(ring[i] - places[q])))
            for i, p in enumerate(order)
            for q in inner
            if graph.has_edge(p, q)
        )

    both = (cycle, cycle[::-1])
    turned = [c[k:] + c[:k] for c in both for k in range(len(c))]
    return min(turned, key=lambda order: round(length(order), 6))


def _from_centre(places: Points) -> Layout:
    away = places - places.mean(axis=0)
    return Layout(places, np.arctan2(away[:, 1], away[:, 0] + 1e-9))


def _tree(graph: "nx.Graph[int]", start: int, gap: float, room: float) -> Layout:
    """Root on the left, a column for every depth, a row for every leaf."""
    tree = nx.bfs_tree(graph, start)
    depth = nx.shortest_path_length(tree, start)
    leaves = [v for v in nx.dfs_preorder_nodes(tree, start) if not tree.out_degree(v)]
    step = min(max(room * 1.15, 0.4), MOST_INCHES / max(1, len(leaves) - 1))
    places = np.zeros((len(graph), 2))
    for row, leaf in enumerate(leaves):
        places[leaf, 1] = -row * step
    for state in nx.dfs_postorder_nodes(tree, start):
        below = list(tree.successors(state))
        if below:
            places[state, 1] = places[below, 1].mean()
        places[state, 0] = depth[state] * min(
            max(gap, 1.5), MOST_INCHES / max(depth.values())
        )
    return Layout(places, np.where(places[:, 1] > places[:, 1].mean(), UP, -UP))


def _spread(places: Points, graph: "nx.Graph[int]", gap: float, room: float) -> Points:
    """The places at the wanted distances, the longer side of the whole lying flat."""
    centred = places - places.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    flat = centred @ (axes * np.sign(axes.sum(axis=1) + 1e-9)[:, None]).T
    pairs = list(combinations(range(len(flat)), 2))
    apart = apart_of(flat)
    lengths = [apart[p, q] for p, q in graph.edges]
    scale = gap / max(float(np.mean(lengths)), 1e-9)
    scale = max(scale, room / max(min(apart[p, q] for p, q in pairs), 0.05))
    widest = float(np.ptp(flat, axis=0).max())
    return np.asarray(flat * min(scale, MOST_INCHES / widest))
