"""The wires of a cascade's picture: lanes down the left side that components read.

Every component that is read has a lane, a vertical wire; every component that reads has
one horizontal wire, with a dot on each lane that it reads. So no wire crosses a box, and
wires that cross without a dot have nothing to do with each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from krohn.algebra.cascade_structure import BoolArray
from krohn.drawing.canvas import INK, Box, Canvas

LANE = 0.13
WIRE = "#7b8490"
TRACK = 0.1
STUB = 0.28
"""How far from its left end a box in the middle of a row is entered."""


@dataclass(frozen=True)
class Port:
    """Where the wires of a component begin and end.

    Attributes:
        box: The component's box.
        first: Whether it is the leftmost of its row, with wires at its left side.
        above: The height of its track above the row, if it is not the first.
        below: The height of its track below the row, if it is not the first.
    """

    box: Box
    first: bool
    above: float
    below: float

    @property
    def entry(self) -> float:
        """The height of the horizontal wire that it reads from."""
        return self.box.high - 0.165 if self.first else self.above

    @property
    def exit(self) -> float:
        """The height of the horizontal wire to its lane."""
        return self.box.low + 0.1 if self.first else self.below


def lanes(reads: BoolArray, order: Sequence[int]) -> dict[int, int]:
    """The lane of every component that is read, counted from the outermost.

    Lanes that are free again are used again.

    Args:
        reads: ``(components, components)``: [i, j] says that i reads j.
        order: The components from top to bottom of the page.
    """
    place = {component: at for at, component in enumerate(order)}
    ends: list[int] = []
    found: dict[int, int] = {}
    for source in order:
        readers = np.flatnonzero(reads[:, source]).tolist()
        if not readers:
            continue
        free = [lane for lane, end in enumerate(ends) if end < place[source]]
        lane = free[0] if free else len(ends)
        ends[lane : lane + 1] = [max(place[reader] for reader in readers)]
        found[source] = lane
    return found


def draw_wires(
    canvas: Canvas, ports: Sequence[Port], reads: BoolArray, order: Sequence[int]
) -> None:
    """Draws a lane for every component that is read, and what leads there and on.

    Args:
        canvas: Where to draw.
        ports: For each component where its wires begin and end.
        reads: ``(components, components)``: [i, j] says that i reads j.
        order: The components from top to bottom of the page.
    """
    lane = lanes(reads, order)
    left = min(port.box.left for port in ports)
    count = max(lane.values(), default=-1) + 1
    x = {source: left - 0.2 - LANE * (count - 1 - at) for source, at in lane.items()}
    for source, at in x.items():
        readers = np.flatnonzero(reads[:, source]).tolist()
        low = min(ports[reader].entry for reader in readers)
        _out(canvas, ports[source], at)
        canvas.curve(np.array([[at, ports[source].exit], [at, low]]), color=WIRE)
    for reader, port in enumerate(ports):
        sources = [x[source] for source in np.flatnonzero(reads[reader]).tolist()]
        if sources:
            _into(canvas, port, sources)


def _out(canvas: Canvas, port: Port, lane: float) -> None:
    corner = port.box.left
    points = [[corner, port.exit], [lane, port.exit]]
    if not port.first:
        inner = port.box.left + STUB
        points = [[inner, port.box.low], [inner, port.exit], [lane, port.exit]]
    canvas.curve(np.array(points), color=WIRE)


def _into(canvas: Canvas, port: Port, sources: Sequence[float]) -> None:
    end = [[port.box.left, port.entry]]
    if not port.first:
        inner = port.box.left + STUB
        end = [[inner, port.entry], [inner, port.box.high]]
    points = np.array([[min(sources), port.entry], *end])
    canvas.arrow(points, color=WIRE, head=0.09)
    for x in sources:
        canvas.circle(x, port.entry, 0.032, fill=INK, width=0.0)
