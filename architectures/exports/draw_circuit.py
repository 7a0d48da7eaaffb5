"""Drawing a known circuit: components from left to right, and what leads to what."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from krohn.algebra.wording import count
from krohn.architectures.exports.circuit import (
    EMBEDDING,
    FORMAT,
    READ_OUT,
    graph,
    stages,
)
from krohn.drawing.canvas import (
    INK,
    PALETTE,
    SOFT,
    Box,
    Canvas,
    DrawingError,
    Points,
    legible,
    measure,
)
from krohn.drawing.sheet import draw_sheet
from krohn.program.files import read_bytes

if TYPE_CHECKING:
    from networkx import DiGraph

NAME = "circuit.json"
LARGEST_FILE = 2**26
MOST_COMPONENTS = 150
SHOWN = 8
"""So many variables are named in a component."""
STEP, ROW, PAD, APART = 0.7, 0.16, 0.08, 0.22
"""Between columns, between lines, inside boxes and between boxes, in inches."""
COLOURS = {EMBEDDING: PALETTE[0], "attn": PALETTE[1], "mlp": PALETTE[2]}


def drawer_of(source: object) -> Callable[[], Figure] | None:
    """What draws the circuit of a source, or the sheet of a folder of circuits; else None.

    Raises:
        DrawingError: If a circuit is damaged.
    """
    circuit = circuit_of(source)
    if circuit is not None:
        return partial(draw_circuit, circuit)
    if not isinstance(source, str | Path) or not Path(source).is_dir():
        return None
    folders = sorted(path.parent for path in Path(source).glob(f"*/{NAME}"))
    circuits = [(path.name, circuit_of(path)) for path in folders]
    named = [(name, circuit) for name, circuit in circuits if circuit is not None]
    return partial(draw_circuits, named) if named else None


def circuit_of(source: object) -> Mapping[str, Any] | None:
    """The circuit that a file, or the directory of an export, holds; None if none.

    Raises:
        DrawingError: If it is a damaged one.
    """
    if not isinstance(source, str | Path):
        return None
    path = Path(source)
    path = path / NAME if (path / NAME).is_file() else path
    if path.suffix != ".json" or not path.is_file():
        return None
    try:
        circuit = json.loads(read_bytes(path, LARGEST_FILE))
    except ValueError:
        return None
    if not isinstance(circuit, dict) or circuit.get("format") != FORMAT:
        return None
    try:
        graph(circuit)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise DrawingError(f"{path}: the circuit is damaged ({error!r})") from None
    return circuit


def draw_circuit(circuit: Mapping[str, Any]) -> Figure:
    """A picture of a circuit: components that write or read a variable, and edges.

    Args:
        circuit: The contents of a ``circuit.json``, as `circuit_of` returns it.

    Raises:
        DrawingError: If there are too many components.
    """
    digraph = graph(circuit)
    columns = [[n for n in stage if digraph.degree(n)] for stage in stages(circuit)]
    columns = [column for column in columns if column]
    if (many := sum(map(len, columns))) > MOST_COMPONENTS:
        raise DrawingError(
            f"{many} components are too many for a picture (at most {MOST_COMPONENTS})"
        )
    canvas = Canvas()
    boxes = _draw_components(canvas, digraph, columns)
    for source, target, edge in digraph.edges(data=True):
        _draw_edge(canvas, boxes, source, target, len(edge["variables"]))
    idle = digraph.number_of_nodes() - many
    notes = [
        "An arrow leads from the component that writes a variable to one that reads it."
    ]
    notes += [
        f"{count(idle, 'component')} that write and read nothing are left out."
    ] * (idle > 0)
    canvas.notes(notes)
    facts = [
        count(len(circuit["blocks"]), "block"),
        count(len(circuit["variables"]), "variable"),
        count(len(circuit["edges"]), "edge"),
    ]
    canvas.heading(f"The circuit of {legible(str(circuit['name']))}", " · ".join(facts))
    return canvas.finish()


def draw_circuits(named: Sequence[tuple[str, Mapping[str, Any]]]) -> Figure:
    """Circuits side by side: a square for each component, a line for each edge."""
    colours = [
        *(("embedding", COLOURS[EMBEDDING]), ("attention head", COLOURS["attn"])),
        *(("MLP", COLOURS["mlp"]), ("read-out", INK)),
    ]
    sketches = [(name, _sketch(circuit)) for name, circuit in named]
    return draw_sheet(sketches, columns=8, room=(135, 84), colours=colours)


def _sketch(circuit: Mapping[str, Any]) -> Figure:
    """The components of a circuit without words, from left to right."""
    canvas, digraph = Canvas(), graph(circuit)
    columns = [[n for n in stage if digraph.degree(n)] for stage in stages(circuit)]
    columns = [column for column in columns if column]
    if not columns:
        return canvas.finish()
    tall, at = max(map(len, columns)), dict[str, Points]()
    for x, column in enumerate(columns):
        for i, node in enumerate(column):
            y = (len(column) - 1) / 2 - i
            at[node] = np.array([x * max(1.0, tall / len(columns)), y * 0.9])
    size = max(float(np.ptp(list(at.values()), axis=0).max()), 2.0)
    for source, target in digraph.edges:
        middle = (at[source] + at[target]) / 2
        bend = size * 0.08 * (at[target][0] - at[source][0] > 1.5)
        middle = middle - np.array([0.0, bend])
        points = np.array([at[source], middle, middle, at[target]])
        canvas.curve(points, color=SOFT, width=0.6 * size)
    side = min(size / 10, 0.55)
    for node, place in at.items():
        x, y = place.tolist()
        canvas.rectangle(Box.around(x, y, side, side), fill=_colour(node))
    return canvas.finish()


def _title(node: str) -> str:
    """``blocks.0.attn.2`` as people say it."""
    if node in (EMBEDDING, READ_OUT):
        return node
    _, block, kind, *head = node.split(".")
    return f"block {block}, " + (f"head {head[0]}" if kind == "attn" else "MLP")


def _colour(node: str) -> str:
    kind = node if "." not in node else node.split(".")[2]
    return COLOURS.get(kind, INK)


def _lines(digraph: "DiGraph[str]", node: str) -> list[str]:
    writes = [legible(name, 24) for name in digraph.nodes[node]["writes"]]
    more = [f"… {len(writes) - SHOWN} more"] * (len(writes) > SHOWN)
    return writes[:SHOWN] + more


def _draw_components(
    canvas: Canvas, digraph: "DiGraph[str]", columns: list[list[str]]
) -> dict[str, Box]:
    """A box for each component, with the variables that it writes."""
    boxes, left = dict[str, Box](), 0.0
    for column in columns:
        lines = {node: _lines(digraph, node) for node in column}
        wide = [measure(_title(node), 9.0, True)[0] for node in column]
        wide += [measure(line, 8.0)[0] for each in lines.values() for line in each]
        width = max(wide) + 2 * PAD
        heights = [ROW * (1 + len(lines[node])) + 2 * PAD for node in column]
        top = (sum(heights) + APART * (len(column) - 1)) / 2
        for node, height in zip(column, heights, strict=True):
            box = boxes[node] = Box(left, top - height, left + width, top)
            colour = _colour(node)
            canvas.rectangle(box, fill="#ffffff", edge=colour, width=1.2)
            y = top - PAD - ROW / 2
            canvas.text(box.middle[0], y, _title(node), size=9, form="bold")
            for i, line in enumerate(lines[node], start=1):
                canvas.text(box.middle[0], y - i * ROW, line, size=8, color=SOFT)
            top -= height + APART
        left += width + STEP
    return boxes


def _draw_edge(
    canvas: Canvas, boxes: Mapping[str, Box], source: str, target: str, many: int
) -> None:
    """An arrow that is wider, the more variables are read along it."""
    start, end = boxes[source], boxes[target]
    x, y = start.right, start.middle[1]
    to, at = end.left, end.middle[1]
    between = [box for box in boxes.values() if x < box.left and box.right < to]
    straight = (y + at) / 2
    if any(box.low <= straight <= box.high for box in between):
        # Around all of them: a curve comes as near to its control points as 3/4.
        low = min(box.low for box in between) - APART
        turns = [(x + (to - x) / 4, y + (low - y) / 0.75)]
        turns += [(to - (to - x) / 4, at + (low - at) / 0.75)]
    else:
        turns = [((x + to) / 2, y), ((x + to) / 2, at)]
    points = np.array([(x, y), *turns, (to - 0.06, at)])
    width = min(0.8 + 0.3 * many, 3.0)
    canvas.curve(points, color=SOFT, width=width, order=1)
    canvas.head(np.array([to, at]), points[3] - points[2], SOFT, 0.1)
