"""Places for the nodes of an order, one layer below another, with few crossings.

Nodes lie one layer below the lowest node above them; links that skip layers pass
through them in a column of their own, so that no link runs behind a node.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np

SWEEPS = 8
THROUGH = 0.16
"""The width of the column of a link that passes a layer."""


@dataclass(frozen=True)
class Layered:
    """An order on the page.

    Attributes:
        layers: The nodes of each layer from left to right; numbers beyond those of the
            nodes stand for links that pass.
        x: Where the middle of each node lies.
        links: The links between neighbouring layers, upper node first.
    """

    layers: tuple[tuple[int, ...], ...]
    x: dict[int, float]
    links: tuple[tuple[int, int], ...]


def layered(links: Sequence[tuple[int, int]], widths: Sequence[float]) -> Layered:
    """Places for nodes ``0..n-1`` of given widths.

    Args:
        links: Pairs, the upper node first; they must form no cycle.
        widths: The width of each node, with the room around it.
    """
    level = _levels(links, len(widths))
    columns = list(widths)
    short: list[tuple[int, int]] = []
    for upper, lower in links:
        at = upper
        for between in range(level[upper] + 1, level[lower]):
            columns.append(THROUGH)
            level.append(between)
            short.append((at, len(columns) - 1))
            at = len(columns) - 1
        short.append((at, lower))
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(len(columns)))
    graph.add_edges_from(short)
    layers: list[list[int]] = [[] for _ in range(max(level, default=-1) + 1)]
    for node, at in enumerate(level):
        layers[at].append(node)
    x = _places(layers, graph, columns)
    return Layered(tuple(map(tuple, layers)), x, tuple(short))


def _levels(links: Sequence[tuple[int, int]], nodes: int) -> list[int]:
    """The longest way down to each node."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(links)
    level = [0] * nodes
    for number, layer in enumerate(nx.topological_generations(graph)):
        for node in layer:
            level[node] = number
    return level


def _places(
    layers: list[list[int]], graph: "nx.Graph[int]", columns: Sequence[float]
) -> dict[int, float]:
    """Each node near the middle of its neighbours, in sweeps down and up."""
    x: dict[int, float] = {}
    for layer in layers:
        x.update(_packed(layer, dict.fromkeys(layer, 0.0), columns))
    sweeps = [*range(1, len(layers)), *range(len(layers) - 2, -1, -1)]
    for sweep in range(SWEEPS):
        for at in sweeps:
            near = set(layers[at - 1] if at else ())
            if sweep % 2 or not at:
                near |= set(layers[at + 1] if at + 1 < len(layers) else ())
            wish = {v: _middle(v, graph, near, x) for v in layers[at]}
            layers[at].sort(key=lambda v: (wish[v], v))
            x.update(_packed(layers[at], wish, columns))
    return x


def _middle(
    node: int, graph: "nx.Graph[int]", near: set[int], x: dict[int, float]
) -> float:
    places = [x[v] for v in graph.neighbors(node) if v in near]
    return float(np.mean(places)) if places else x[node]


def _packed(
    layer: Sequence[int], wish: dict[int, float], columns: Sequence[float]
) -> dict[int, float]:
    """Places in this order that do not overlap, on average where they are wished."""
    found: dict[int, float] = {}
    right = -np.inf
    for node in layer:
        found[node] = max(wish[node], right + columns[node] / 2)
        right = found[node] + columns[node] / 2
    shift = float(np.mean([wish[v] - found[v] for v in layer])) if layer else 0.0
    return {node: place + shift for node, place in found.items()}
