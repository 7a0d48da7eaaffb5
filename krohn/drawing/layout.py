"""Where the states of a machine are drawn: few lines cross, neighbours are near."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import cast

import networkx as nx
import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.drawing.canvas import Points

# Places for the nodes of a graph: neighbours near each other, few lines that cross.


TRIALS, STEPS = 12, 150
UP = np.pi / 2


def least_stress(graph: "nx.Graph[int]") -> Points:
    """Of several local optima of the stress, the one with fewest crossings."""
    distances = _distances(graph)
    generator = np.random.default_rng(0)
    trials = TRIALS if len(graph) <= 60 else 3
    starts = [circle(len(graph), 1.0)]
    starts += [generator.normal(size=(len(graph), 2)) for _ in range(trials - 1)]
    ends = _majorise_stress(starts, distances)
    return min(
        [*ends, *_embed_in_rings(graph)], key=lambda p: _badness(p, distances, graph)
    )


def _majorise_stress(starts: list[Points], distances: Points) -> list[Points]:
    """Majorisation of Σ (|x_p − x_q| − d_pq)² / d_pq² (Gansner, Koren, North 2004)."""
    off = ~np.eye(len(distances), dtype=bool)
    weights = np.where(off, 1 / np.maximum(distances, 1) ** 2, 0.0)
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    ends = []
    for places in starts:
        for _ in range(STEPS):
            apart = np.maximum(apart_of(places), 1e-9)
            pull = np.where(off, -weights * distances / apart, 0.0)
            np.fill_diagonal(pull, -pull.sum(axis=1))
            places = inverse @ (pull @ places)
        ends.append(places)
    return ends


def _distances(graph: "nx.Graph[int]") -> Points:
    """Lengths of shortest paths; between parts of the graph one more than the longest."""
    distances = np.asarray(nx.floyd_warshall_numpy(graph, range(len(graph))))
    finite = distances[np.isfinite(distances)].max(initial=1.0)
    return np.where(np.isinf(distances), finite + 1, distances)


def _embed_in_rings(graph: "nx.Graph[int]") -> list[Points]:
    """A planar graph without crossings: the largest face outside, the rest in rings.

    Directions from the centre are those of Tutte's embedding, in which every inner
    state lies amid its neighbours; distances are evened out, for Tutte's shrink.
    """
    planar, embedding = nx.check_planarity(graph)
    if not planar or len(graph) < 6 or not nx.is_connected(graph):
        return []
    face = max(_faces(cast("nx.PlanarEmbedding[int]", embedding)), key=len)
    places = np.zeros((len(graph), 2))
    places[face] = circle(len(face), 1.0)
    inner = [v for v in graph if v not in face]
    laplacian = nx.laplacian_matrix(graph, range(len(graph))).toarray()
    if inner:
        pull = -laplacian[np.ix_(inner, face)] @ places[face]
        places[inner] = np.linalg.solve(laplacian[np.ix_(inner, inner)], pull)
    depth = nx.multi_source_dijkstra_path_length(graph, set(face))
    rings = max(depth.values()) + 0.8 - np.array([depth[v] for v in range(len(graph))])
    reach = np.maximum(np.linalg.norm(places, axis=1), 1e-9)
    return [places / reach[:, None] * rings[:, None]]


def _faces(embedding: "nx.PlanarEmbedding[int]") -> list[list[int]]:
    seen: set[tuple[int, int]] = set()
    return [
        embedding.traverse_face(v, w, mark_half_edges=seen)
        for v, w in embedding.edges
        if (v, w) not in seen
    ]


def _badness(
    places: Points, distances: Points, graph: "nx.Graph[int]"
) -> tuple[bool, int, float]:
    apart = apart_of(places)
    mean = float(np.mean([apart[p, q] for p, q in graph.edges]))
    crowded = bool((apart + mean * np.eye(len(apart)) < 0.3 * mean).any())
    relative = (apart - distances) / np.maximum(distances, 1)
    # Rounded, so that the choice does not hang on the last bits of the arithmetic.
    stress = round(float((relative**2).sum()), 3)
    return crowded, crossings(places, graph.edges), stress


def crossings(places: Points, edges: Iterable[tuple[int, int]]) -> int:
    """How many pairs of straight lines cross between their ends."""
    ends = np.array(list(edges)).reshape(-1, 2)
    p, q = places[ends[:, 0]], places[ends[:, 1]]

    def side(first: Points, second: Points, third: Points) -> Points:
        one, two = second - first, third - first
        return np.asarray(one[..., 0] * two[..., 1] - one[..., 1] * two[..., 0])

    apart = side(p[:, None], q[:, None], p[None]) * side(
        p[:, None], q[:, None], q[None]
    )
    crossed = (apart < -1e-9) & (apart.T < -1e-9)
    return int(crossed.sum()) // 2


def apart_of(places: Points) -> Points:
    """The distances of places ``(n, 2)``, ``(n, n)``."""
    difference = places[:, None] - places[None]
    return np.hypot(difference[..., 0], difference[..., 1])


def circle(size: int, radius: float) -> Points:
    """Places on a circle, clockwise from the top."""
    # A square stands on a side, every other polygon has a corner on top.
    first = UP + np.pi / 4 if size == 4 else UP
    angles = first - 2 * np.pi * np.arange(size) / size
    return radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


# The places of a machine's states.


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
    layout = _choose_layout(table, graph, start, gap, room)
    # Coarse enough that the last bits of the arithmetic do not reach the picture.
    return Layout(layout.places.round(3), layout.outward)


def _choose_layout(
    table: IntArray, graph: "nx.Graph[int]", start: int, gap: float, room: float
) -> Layout:
    circle = _circle_order(table, graph, start)
    if _is_path(graph):
        return _rows(_along_path(graph), gap)
    if circle and len(circle) <= 3:
        return _rings(circle, graph, gap)
    if len(graph) > 4 and nx.is_tree(graph):
        return _tree(graph, start, gap, room)
    return _from_centre(_scale_apart(least_stress(graph), graph, gap, room))


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
    permutations = [
        cycles(row, start) for row in table.tolist() if len(set(row)) == states
    ]
    best = max(permutations, key=lambda cycles: len(cycles[0]), default=None)
    if best and len(best[0]) >= 3 and len({len(c) for c in best}) == 1:
        return best
    plain = nx.density(graph) > 0.6 or not graph.number_of_edges()
    return [list(range(states))] if plain else None


def cycles(row: Sequence[int], start: int) -> list[list[int]]:
    """The cycles of a permutation, first that through ``start``."""
    orbits: list[list[int]] = []
    seen: set[int] = set()
    for first in (start, *range(len(row))):
        if first in seen:
            continue
        cycle = [first]
        while (after := row[cycle[-1]]) != first:
            cycle.append(after)
        seen.update(cycle)
        orbits.append(cycle)
    return orbits


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
        places[_rotate_inner(cycle, cycles[number - 1], ring, places, graph)] = ring
    return _from_centre(places)


def _rotate_inner(
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


def _scale_apart(
    places: Points, graph: "nx.Graph[int]", gap: float, room: float
) -> Points:
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
