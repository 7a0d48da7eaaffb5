"""Places for the nodes of a graph: neighbours near each other, few lines that cross."""

from collections.abc import Iterable
from typing import cast

import networkx as nx
import numpy as np

from krohn.drawing.canvas import Points

TRIALS, STEPS = 12, 150
UP = np.pi / 2


def least_stress(graph: "nx.Graph[int]") -> Points:
    """Of several local optima of the stress, the one with fewest crossings."""
    distances = _distances(graph)
    generator = np.random.default_rng(0)
    trials = TRIALS if len(graph) <= 60 else 3
    starts = [circle(len(graph), 1.0)]
    starts += [generator.normal(size=(len(graph), 2)) for _ in range(trials - 1)]
    ends = _majorised(starts, distances)
    return min([*ends, *_nested(graph)], key=lambda p: _badness(p, distances, graph))


def _majorised(starts: list[Points], distances: Points) -> list[Points]:
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


def _nested(graph: "nx.Graph[int]") -> list[Points]:
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
