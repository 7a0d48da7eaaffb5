"""Drawing a cascade: its levels from top to bottom, its components, who reads whom."""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from matplotlib.figure import Figure

from krohn.algebra.cascade import Cascade
from krohn.algebra.cascade_structure import Reading, dependencies, levels, meaning
from krohn.algebra.covering import Covering
from krohn.algebra.wording import count
from krohn.coordinate_meanings import merged
from krohn.drawing.canvas import SOFT, Box, Canvas, DrawingError, legible, measure
from krohn.drawing.component import MOST_CIRCLES, Card, card, draw_card, glyph_size
from krohn.drawing.readings import Scale, arranged, key_entries, scale_of
from krohn.drawing.wires import LANE, TRACK, Port, draw_wires, lanes

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
    readings = [merged(of_one) for of_one in meaning(cascade)]
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
            arranged(readings[i], component.machine.states, scale, most),
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
        canvas.text(*middle, str(number + 1), size=11, bold=True, color=SOFT)
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
    remarks = [
        f"{'Bars' if scale.counted else 'Squares'}: the states that a value rules out "
        "among those that the coordinates above leave; one grid for each context, or "
        "one grid where all contexts agree."
    ]
    if dependencies(cascade).any():
        remarks.append(
            "Wires: a component reads the letter and those components, before they move, "
            "on whose lanes its wire has a dot."
        )
    if any(component.size <= MOST_CIRCLES for component in cascade.components):
        remarks.append(
            "Circles: values; coloured arrows are permutations among the component's "
            "letters, short arrows from nowhere are resets."
        )
    names = tuple(legible(cascade.states[q], 24) for q in scale.order.tolist())
    if not scale.counted and scale.labels != names:
        remarks.append(f"The states, from left to right: {', '.join(names)}.")
    return remarks


def _facts(cascade: Cascade, method: str, covering: Covering | None) -> str:
    facts = [
        count(len(cascade.states), "state"),
        count(len(cascade.letters), "letter"),
        count(len(levels(cascade)), "level"),
        count(len(cascade.components), "component"),
    ]
    proved = "not proved to cover the machine"
    if covering is not None:
        proved = f"covering proved for {count(covering.coordinates, 'coordinate')}"
    return " · ".join([*([method] if method else []), ", ".join(facts), proved])
