"""Drawing the D-classes of a monoid as egg-boxes, layer by layer."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from krohn.algebra.automaton import IntArray
from krohn.algebra.green import EggBox
from krohn.drawing.canvas import (
    INK,
    PALETTE,
    PAPER,
    SOFT,
    Box,
    Canvas,
    DrawingError,
    legible,
    measure,
)

# Places for the nodes of an order, one layer below another, with few crossings.
#
# Nodes lie one layer below the lowest node above them; links that skip layers pass
# through them in a column of their own, so that no link runs behind a node.


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


def layer_nodes(links: Sequence[tuple[int, int]], widths: Sequence[float]) -> Layered:
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
        x.update(_pack_layer(layer, dict.fromkeys(layer, 0.0), columns))
    sweeps = [*range(1, len(layers)), *range(len(layers) - 2, -1, -1)]
    for sweep in range(SWEEPS):
        for at in sweeps:
            near = set(layers[at - 1] if at else ())
            if sweep % 2 or not at:
                near |= set(layers[at + 1] if at + 1 < len(layers) else ())
            wish = {v: _middle(v, graph, near, x) for v in layers[at]}
            layers[at].sort(key=lambda v: (wish[v], v))
            x.update(_pack_layer(layers[at], wish, columns))
    return x


def _middle(
    node: int, graph: "nx.Graph[int]", near: set[int], x: dict[int, float]
) -> float:
    places = [x[v] for v in graph.neighbors(node) if v in near]
    return float(np.mean(places)) if places else x[node]


def _pack_layer(
    layer: Sequence[int], wish: dict[int, float], columns: Sequence[float]
) -> dict[int, float]:
    """Places in this order that do not overlap, on average where they are wished."""
    places: dict[int, float] = {}
    right = -np.inf
    for node in layer:
        places[node] = max(wish[node], right + columns[node] / 2)
        right = places[node] + columns[node] / 2
    shift = float(np.mean([wish[v] - places[v] for v in layer])) if layer else 0.0
    return {node: place + shift for node, place in places.items()}


# Drawing the D-classes of a monoid as egg-boxes, from the top of the J-order down.


MOST_CLASSES = 80
MOST_SIDE = 500
MOST_CELLS = 2_000
LARGEST = 3.6
CELL = 0.24
NAMED = 0.17
NAME_SIZE = 7.5
GROUP = "#bcdcf1"
LINE = "#b4bac2"
WIRE = "#7b8490"
BETWEEN = 0.42
BESIDE = 0.09
APART = 0.3


def draw_eggboxes(
    boxes: Sequence[EggBox],
    covers: IntArray,
    name: str = "monoid",
    facts: str = "",
    remarks: Sequence[str] = (),
) -> Figure:
    """A picture of all D-classes: a row for an R-class, a column for an L-class.

    Cells are H-classes; those that are groups are filled and bear the group's name.

    Args:
        boxes: All D-classes, in the order of their numbers.
        covers: ``(m, 2)``: pairs of D-classes, the second right below the first.
        name: What the picture is called.
        facts: A line below the name.
        remarks: Lines below the picture.

    Raises:
        DrawingError: If there are more than 80 D-classes.
    """
    if len(boxes) > MOST_CLASSES:
        raise DrawingError(
            f"the monoid of {legible(name)} has {len(boxes)} D-classes, and a picture "
            f"shows up to {MOST_CLASSES}; draw a smaller member of its family, or a "
            "machine with fewer letters"
        )
    canvas = Canvas()
    plan = layer_nodes(
        [(int(upper), int(lower)) for upper, lower in covers],
        [_width(box) for box in boxes],
    )
    _layers(canvas, boxes, plan)
    page = canvas.extent
    gap = Box(page.left, page.low - 0.1, page.right, page.low)
    canvas.rectangle(gap, fill="none")
    canvas.notes([*_notes(boxes), *remarks])
    canvas.heading(legible(name), facts)
    return canvas.finish()


def _cells(box: EggBox) -> tuple[float, float]:
    """The width and the height of a cell."""
    rows, columns = box.first.shape
    wide = high = min(CELL, LARGEST / max(rows, columns))
    if high == CELL and box.group_name:
        named = measure(legible(box.group_name, 12), NAME_SIZE)[0] + 0.08
        wide = min(max(CELL, named), max(CELL, LARGEST / columns))
    return wide, high


def _size(box: EggBox) -> tuple[float, float]:
    rows, columns = box.first.shape
    wide, high = _cells(box)
    return max(columns * wide, 0.1), max(rows * high, 0.1)


def _label(box: EggBox) -> tuple[str, str]:
    """The kind of a class, and its number of elements."""
    group = legible(box.group_name, 28) if box.regular else "not regular"
    kind = f"rank {box.rank}" if group == "1" else f"rank {box.rank}, {group}"
    rows, columns = box.first.shape
    if box.size == 1:
        return kind, "1 element"
    if box.first.size == 1:
        return kind, f"{box.h_size:,} elements"
    cells = f"{rows:,} × {columns:,} "
    return kind, cells + (f"cells of {box.h_size:,}" if box.h_size > 1 else "elements")


def _label_width(box: EggBox) -> float:
    kind, count = _label(box)
    return max(measure(kind, 8, bold=True)[0], measure(count, 7)[0])


def _width(box: EggBox) -> float:
    # Twice the label, so that the middle of the node is the middle of the box.
    return _size(box)[0] + 2 * (BESIDE + _label_width(box)) + APART


def _layers(canvas: Canvas, boxes: Sequence[EggBox], plan: Layered) -> None:
    top: dict[int, float] = {}
    bottom: dict[int, float] = {}
    y = 0.0
    for layer in plan.layers:
        nodes = [node for node in layer if node < len(boxes)]
        height = max(_size(boxes[node])[1] for node in nodes)
        for node in layer:
            top[node], bottom[node] = y, y - height
            middle = (plan.x[node], y - height / 2)
            if node < len(boxes):
                _draw(canvas, boxes[node], middle)
                height_of = _size(boxes[node])[1]
                top[node] = middle[1] + height_of / 2
                bottom[node] = middle[1] - height_of / 2
            else:
                _wire(canvas, [(plan.x[node], y), (plan.x[node], y - height)])
        y -= height + BETWEEN
    rims = _rims(plan, top, bottom)
    for upper, lower in plan.links:
        high, low = rims[upper][1], rims[lower][0]
        points = [(plan.x[upper], bottom[upper]), (plan.x[upper], high)]
        points += [(plan.x[lower], low), (plan.x[lower], top[lower])]
        _wire(canvas, points)


def _rims(
    plan: Layered, top: dict[int, float], bottom: dict[int, float]
) -> dict[int, tuple[float, float]]:
    """For each node the upper and the lower end of its layer."""
    rims = {}
    for layer in plan.layers:
        rim = max(top[node] for node in layer), min(bottom[node] for node in layer)
        rims.update(dict.fromkeys(layer, rim))
    return rims


def _wire(canvas: Canvas, points: Sequence[tuple[float, float]]) -> None:
    for first, last in pairwise(points):
        if first != last:
            canvas.curve(np.array([first, last]), color=WIRE, width=1.0, order=0.5)


def _draw(canvas: Canvas, box: EggBox, middle: tuple[float, float]) -> None:
    width, height = _size(box)
    frame = Box.around(*middle, width, height)
    canvas.rectangle(frame, fill=PAPER, edge=INK, width=1.2, order=1)
    if max(box.first.shape) > MOST_SIDE:
        canvas.text(*middle, "not drawn", size=7, color=SOFT)
    elif box.first.size <= MOST_CELLS:
        _grid(canvas, box, frame)
    else:
        signs = np.where(box.idempotents[:, _columns(box)] >= 0, 1.0, -1.0)
        canvas.image(frame, signs, ListedColormap([PAPER, PALETTE[0]]), 1.0)
        canvas.rectangle(frame, fill="none", edge=INK, width=1.2)
    kind, count = _label(box)
    x = frame.right + BESIDE
    canvas.text(x, middle[1] + 0.075, kind, size=8, form="bold", align="left")
    canvas.text(x, middle[1] - 0.075, count, size=7, color=SOFT, align="left")


def _columns(box: EggBox) -> IntArray:
    """The columns by their first group: so groups come near to a diagonal."""
    first = (box.idempotents >= 0).argmax(axis=0)
    return np.argsort(first, kind="stable")


def _grid(canvas: Canvas, box: EggBox, frame: Box) -> None:
    wide, high = _cells(box)
    idempotents = box.idempotents[:, _columns(box)]
    for row, column in np.ndindex(*idempotents.shape):
        left, top = frame.left + column * wide, frame.high - row * high
        cell = Box(left, top - high, left + wide, top)
        is_group = bool(idempotents[row, column] >= 0)
        fill = PAPER if not is_group else GROUP if high >= NAMED else PALETTE[0]
        canvas.rectangle(
            cell, fill=fill, edge=LINE, width=min(0.6, 3 * high), order=1.5
        )
        if is_group and high >= NAMED:
            _name(canvas, cell, legible(box.group_name, 12))
    canvas.rectangle(frame, fill="none", edge=INK, width=1.2)


def _name(canvas: Canvas, cell: Box, name: str) -> None:
    for size in (NAME_SIZE, 6.5, 5.5):
        if measure(name, size)[0] <= cell.right - cell.left - 0.03:
            canvas.text(*cell.middle, name, size=size)
            return


def _notes(boxes: Sequence[EggBox]) -> list[str]:
    notes = [
        "Rows are R-classes, columns L-classes, cells H-classes; the filled cells are the "
        "maximal subgroups. Lines lead down in the order of J-classes."
    ]
    if any(max(box.first.shape) > MOST_SIDE for box in boxes):
        notes.append(
            f"The cells of a class with a side of over {MOST_SIDE} are left out."
        )
    return notes
