"""Drawing a cascade: its levels from top to bottom, and the wires between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

import numpy as np
from matplotlib.figure import Figure

from krohn.algebra.cascade import Cascade, Covering
from krohn.algebra.decomposition.diagrams import (
    BoolArray,
    Reading,
    dependencies,
    levels,
    meaning,
    merge_readings,
)
from krohn.algebra.wording import count
from krohn.drawing.canvas import INK, SOFT, Box, Canvas, DrawingError, legible, measure
from krohn.drawing.component import MOST_CIRCLES, Card, card, draw_card, glyph_size
from krohn.drawing.readings import (
    Scale,
    arrange_readings,
    caption,
    key_entries,
    scale_of,
)

# The wires of a cascade's picture: lanes down the left side that components read.
#
# Every component that is read has a lane, a vertical wire; every component that reads
# has one horizontal wire, with a dot on each lane that it reads. So no wire crosses a
# box, and wires that cross without a dot have nothing to do with each other.


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
    lane_of: dict[int, int] = {}
    for source in order:
        readers = np.flatnonzero(reads[:, source]).tolist()
        if not readers:
            continue
        free = [lane for lane, end in enumerate(ends) if end < place[source]]
        lane = free[0] if free else len(ends)
        ends[lane : lane + 1] = [max(place[reader] for reader in readers)]
        lane_of[source] = lane
    return lane_of


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


# Drawing a cascade: its levels from top to bottom, its components, who reads whom.


MOST_COMPONENTS = 64
PAGE = 7.4
APART = 0.16
NARROWEST = 5.6
BAND = "#f3f4f6"
INSET = 0.12
FEW = 6
ROWS = 12
"""Of squares in a component, where there are few of these."""


def draw_cascade(
    cascade: Cascade,
    name: str = "machine",
    method: str = "",
    covering: Covering | None = None,
) -> Figure:
    """A picture of a cascade: one band for each level, one box for each component.

    Squares show what every value of a coordinate says: which states of the machine it
    leaves of those that the coordinates above leave. Beyond 40 states they are counted.

    Args:
        cascade: What is drawn.
        name: The machine's name.
        method: How the cascade was found.
        covering: The proof that it covers the machine, if there is one.

    Raises:
        DrawingError: If there are more than 64 components.
    """
    if len(cascade.components) > MOST_COMPONENTS:
        raise DrawingError(
            f"the cascade has {len(cascade.components)} components, and a picture shows "
            f"up to {MOST_COMPONENTS}; write it as data to a .json file, or choose "
            "another method"
        )
    canvas = Canvas()
    readings = [merge_readings(of_one) for of_one in meaning(cascade)]
    scale = scale_of(cascade, readings)
    if cascade.components:
        _page(canvas, cascade, _cards(cascade, readings, scale))
        _key(canvas, scale)
    canvas.notes(_remarks(cascade, scale))
    canvas.heading(legible(name), _facts(cascade, method, covering))
    return canvas.finish()


def _cards(
    cascade: Cascade, readings: Sequence[tuple[Reading, ...]], scale: Scale
) -> list[Card]:
    """The components with what they mean; levels of one share columns of the page."""
    alone = {level[0] for level in levels(cascade) if len(level) == 1}
    sizes = [glyph_size(component)[0] for component in cascade.components]
    glyph = max((size for i, size in enumerate(sizes) if i in alone), default=0.0)
    reads = dependencies(cascade)
    most = ROWS if len(cascade.components) <= FEW else ROWS // 2
    return [
        card(
            i + 1,
            component,
            arrange_readings(
                readings[i],
                component.machine.states,
                scale,
                most,
                partial(caption, cascade, i),
            ),
            [j + 1 for j in np.flatnonzero(reads[i]).tolist()],
            glyph if i in alone else 0.0,
        )
        for i, component in enumerate(cascade.components)
    ]


def _page(canvas: Canvas, cascade: Cascade, cards: Sequence[Card]) -> None:
    rows = [_rows([cards[i] for i in level]) for level in levels(cascade)]
    reads, order = (
        dependencies(cascade),
        [i for level in levels(cascade) for i in level],
    )
    rail = 0.3 + LANE * len(set(lanes(reads, order).values()))
    width = max(NARROWEST - rail, *(_width(row) for level in rows for row in level))
    ports: dict[int, Port] = {}
    y = 0.0
    for number, level in enumerate(rows):
        bottom = _level(canvas, level, y, width, ports)
        band = Box(-rail - INSET, bottom, width + INSET, y)
        canvas.rectangle(band, fill=BAND, order=0)
        middle = band.left - 0.12, band.middle[1]
        canvas.text(*middle, str(number + 1), size=11, form="bold", color=SOFT)
        y = bottom - 0.1
    canvas.text(-rail - INSET - 0.2, 0.09, "level", size=7.5, color=SOFT, align="left")
    draw_wires(canvas, [ports[i] for i in range(len(cards))], reads, order)


def _rows(cards: Sequence[Card]) -> list[list[Card]]:
    """The cards of a level in rows that fit on the page."""
    rows: list[list[Card]] = []
    for one in cards:
        if rows and _width([*rows[-1], one]) <= PAGE:
            rows[-1].append(one)
        else:
            rows.append([one])
    return rows


def _width(row: Sequence[Card]) -> float:
    return sum(one.width for one in row) + APART * (len(row) - 1)


def _level(
    canvas: Canvas,
    rows: Sequence[Sequence[Card]],
    y: float,
    width: float,
    ports: dict[int, Port],
) -> float:
    """Draws a level from height ``y`` on, fills in the ports; where it ends."""
    for row in rows:
        gutter = INSET + TRACK * (len(row) - 1)
        high = y - gutter
        low = high - max(one.height for one in row)
        spare = (width - _width(row)) / len(row)
        lefts = accumulate((one.width + spare + APART for one in row), initial=0.0)
        for i, (one, left) in enumerate(zip(row, lefts, strict=False)):
            box = Box(left, low, left + one.width + spare, high)
            draw_card(canvas, box, one)
            shift = 0.02 + TRACK * i
            ports[one.number - 1] = Port(box, i == 0, high + shift, low - shift)
        y = low - gutter
    return y


def _key(canvas: Canvas, scale: Scale) -> None:
    box = canvas.extent
    x, y = box.left, box.low - 0.2
    for color, text in key_entries(scale.counted):
        wide = measure(text, 8)[0]
        if color == "#ffffff":
            canvas.rectangle(Box.around(x + 0.06, y, 0.02, 0.02), fill=SOFT)
        else:
            canvas.rectangle(Box.around(x + 0.06, y, 0.12, 0.11), fill=color)
        canvas.text(x + 0.17, y, text, size=8, color=SOFT, align="left")
        x += wide + 0.4


def _remarks(cascade: Cascade, scale: Scale) -> list[str]:
    if not cascade.components:
        return ["A machine with one state needs no components."]
    remarks = [_about_readings(scale)]
    if dependencies(cascade).any():
        remarks.append(
            "A line with a dot leads from a component to one that reads its value, as it "
            "was before the letter."
        )
    if any(component.size <= MOST_CIRCLES for component in cascade.components):
        remarks.append(
            "Circles are values. Coloured arrows: a letter permutes the values. A short "
            "arrow from nowhere: a letter sets this value, whatever it was."
        )
    names = [legible(cascade.states[q], 24) for q in scale.order.tolist()]
    if not scale.counted and not {*names} <= {*scale.labels}:
        numbered = (f"{i} is {name}" for i, name in enumerate(names, start=1))
        remarks.append(f"State {', '.join(numbered)}.")
    return remarks


def _about_readings(scale: Scale) -> str:
    if scale.counted:
        return (
            "Each bar is a value of the component: how many states it leaves, of those "
            "that the components above leave."
        )
    return (
        "Each row of a grid is a value of the component, each column a state of the "
        "machine."
    )


def _facts(cascade: Cascade, method: str, covering: Covering | None) -> str:
    facts = [
        count(len(cascade.states), "state"),
        count(len(cascade.letters), "letter"),
        count(len(levels(cascade)), "level"),
        count(len(cascade.components), "component"),
    ]
    proved = "not proved to follow the machine"
    if covering is not None:
        tuples = count(covering.coordinates, "combination")
        proved = f"proved to follow the machine from {tuples} of values"
    return " · ".join(
        [*([f"method {method}"] if method else []), ", ".join(facts), proved]
    )
