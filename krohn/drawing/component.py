"""Drawing one component of a cascade: its name, its transitions, what its values mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.algebra.cascade import Component
from krohn.algebra.decomposition.diagrams import kind
from krohn.algebra.groups.naming import name
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.wording import count
from krohn.drawing.arrows import bow, outside
from krohn.drawing.canvas import (
    INK,
    PALETTE,
    PAPER,
    SOFT,
    Box,
    Canvas,
    Points,
    legible,
    measure,
)
from krohn.drawing.readings import Readings, draw_readings

MOST_CIRCLES = 8
MOST_GENERATORS = 3
MOST_LETTERS = 24
RADIUS = 0.085
NAME_SIZE = 6.5
TITLE = 0.36
PAD = 0.12
BESIDE = 0.22
SILENT = "none of its values alone rules out a state"
TURN_COLORS = (PALETTE[1], PALETTE[2], PALETTE[3])
DASHES = (None, (0.0, (3.0, 1.4)), (0.0, (1.2, 1.2)))


@dataclass(frozen=True, eq=False)
class Card:
    """The contents of a component's box.

    Attributes:
        number: Its number in the cascade, from 1.
        component: The component.
        readings: What its values mean; None if they tell nothing.
        title: What it is.
        facts: A line on its group and on what it reads.
        glyph: The room for the picture of its transitions, in a column with others.
    """

    number: int
    component: Component
    readings: Readings | None
    title: str
    facts: str
    glyph: float

    @property
    def width(self) -> float:
        """The least width of the box."""
        heading = 0.28 + max(
            measure(self.title, 9, bold=True)[0], measure(self.facts, 7)[0]
        )
        inner = self.glyph
        inner += BESIDE
        inner += self.readings.width if self.readings else measure(SILENT, 7)[0]
        return max(heading, inner) + 2 * PAD

    @property
    def height(self) -> float:
        """The height of the box."""
        inner = glyph_size(self.component)[1]
        if self.readings:
            inner = max(inner, self.readings.height)
        return TITLE + 0.1 + inner + PAD


def card(
    number: int,
    component: Component,
    readings: Readings | None,
    reads: Sequence[int],
    glyph: float,
) -> Card:
    """The box of a component.

    Args:
        number: Its number in the cascade, from 1.
        component: The component.
        readings: What its values mean.
        reads: The numbers of the components that it reads.
        glyph: The least room for the picture of its transitions.
    """
    parts = [count(component.size, "value")]
    if component.group.order > 1:
        parts.append(f"group of order {component.group.order:,}")
    parts.append(_reads(reads))
    return Card(
        *(number, component, readings),
        legible(kind(component), 44),
        legible(" · ".join(parts), 72),
        max(glyph, glyph_size(component)[0]),
    )


def _reads(reads: Sequence[int]) -> str:
    if not reads:
        return "reads the letter alone"
    if len(reads) > 6:
        return f"reads the letter and {len(reads)} components"
    return f"reads the letter and {', '.join(map(str, reads))}"


def draw_card(canvas: Canvas, box: Box, card: Card) -> None:
    """Draws a component into its box."""
    canvas.rectangle(box, fill=PAPER, edge=SOFT, width=0.9, order=0.5)
    y = box.high - 0.165
    tag = Box.around(box.left + PAD + 0.09, y, 0.2, 0.18)
    canvas.rectangle(tag, fill=INK)
    canvas.text(tag.middle[0], y, str(card.number), size=7.5, form="bold", color=PAPER)
    x = tag.right + 0.08
    canvas.text(x, y, card.title, size=9, form="bold", align="left")
    canvas.text(x, y - 0.165, card.facts, size=7, color=SOFT, align="left")
    top, low = box.high - TITLE - 0.1, box.low + PAD
    if not card.readings:
        middle = (top + low) / 2
        _glyph(canvas, box.left + PAD + card.glyph / 2, middle, card.component)
        left = box.left + PAD + card.glyph + BESIDE
        canvas.text(left, middle, SILENT, size=7, color=SOFT, align="left")
        return
    room = top - low - card.readings.height
    middle = (top + low - card.readings.top + card.readings.bottom) / 2
    _glyph(canvas, box.left + PAD + card.glyph / 2, middle, card.component)
    left = box.left + PAD + card.glyph + BESIDE
    draw_readings(canvas, left, top - room / 2, card.readings)


def glyph_size(component: Component) -> tuple[float, float]:
    """Width and height of the picture of the transitions."""
    places = _places(component)
    if places is None:
        return measure(_plaque(component), 13, bold=True)[0] + 0.24, 0.42
    low, high = _span(component, places)
    return float(high[0] - low[0]), float(high[1] - low[1])


def _span(component: Component, places: Points) -> tuple[Points, Points]:
    """The corners of the picture, its circles and the arrows from nowhere."""
    room = RADIUS + (0.0 if _in_row(component) else 0.04)
    tails = [tail for _, tail in _tails(component, places)]
    points = np.array([*(places - room), *(places + room), *tails])
    return points.min(axis=0), points.max(axis=0)


def _in_row(component: Component) -> bool:
    return component.is_permutation_reset and component.group.order == 1


def _plaque(component: Component) -> str:
    """The text that stands for transitions that are too many to draw."""
    if component.group.order > 1:
        return legible(name(component.group), 12)
    return f"{component.size} values"


def _places(component: Component) -> Points | None:
    """Where the values stand, ``(values, 2)``; None if they are not drawn."""
    count = component.size
    if count > MOST_CIRCLES:
        return None
    if _in_row(component):
        return np.stack([np.arange(count) * 0.26, np.zeros(count)], axis=1)
    radius = 0.21 if count == 2 else max(0.24, 0.42 / (2 * np.sin(np.pi / count)))
    first = np.pi if count == 2 else np.pi / 2
    angles = first - 2 * np.pi * np.arange(count) / count
    places = np.empty((count, 2))
    places[_around(component)] = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return radius * places


def _around(component: Component) -> list[int]:
    """The values in the order in which the first permutation drawn visits them."""
    chosen = generators(component)
    row = chosen[0].tolist() if chosen else list(range(component.size))
    order: list[int] = []
    for value in range(component.size):
        while value not in order:
            order.append(value)
            value = row[value]
    return order


def _glyph(canvas: Canvas, x: float, y: float, component: Component) -> None:
    places = _places(component)
    if places is None:
        width, height = glyph_size(component)
        box = Box.around(x, y, width, height)
        canvas.rectangle(box, fill="#f1e9da", edge=SOFT, order=1)
        canvas.text(x, y, _plaque(component), size=13, form="bold")
        return
    low, high = _span(component, places)
    places = places - (low + high) / 2 + np.array([x, y])
    if component.is_permutation_reset:
        _turns(canvas, places, component)
        _entries(canvas, places, component)
    else:
        _moves(canvas, places, component)
    for value, (left, up) in enumerate(places.tolist()):
        canvas.circle(left, up, RADIUS, width=0.9)
        shown = legible(component.machine.states[value], 4)
        wide = measure(shown, NAME_SIZE)[0]
        size = NAME_SIZE * min(1.0, (2 * RADIUS - 0.03) / max(wide, 1e-9))
        canvas.text(left, up - 0.003, shown, size=round(size, 1))


def _turns(canvas: Canvas, places: Points, component: Component) -> None:
    """The arrows of a few permutations."""
    for number, row in enumerate(generators(component)):
        color = TURN_COLORS[number]
        for value, after in enumerate(row.tolist()):
            back = bool(row[after] == value)
            if value == after or (back and value > after):
                continue
            _link(canvas, places, (value, after), color, number, back)


def _link(
    canvas: Canvas,
    places: Points,
    ends: tuple[int, int],
    color: str,
    number: int,
    both: bool,
) -> None:
    first, last = places[ends[0]], places[ends[1]]
    bend = (0.0 if both else 0.12) + (0.0, -0.14, 0.26)[number]
    curve = outside(bow(first, last, bend), first, last, RADIUS)
    canvas.curve(curve, color=color, width=1.1, dashes=DASHES[number])
    canvas.head(curve[-1], curve[-1] - curve[-2], color, 0.075)
    if both:
        canvas.head(curve[0], curve[0] - curve[1], color, 0.075)


@lru_cache(maxsize=128)
def generators(component: Component) -> list[IntArray]:
    """A few of the letters that together generate much of the group."""
    rows = component.machine.transitions[component.permutes][:MOST_LETTERS]
    chosen: list[IntArray] = []
    order = 1
    while len(chosen) < MOST_GENERATORS:
        sizes = [PermutationGroup(np.array([*chosen, row])).order for row in rows]
        best = int(np.argmax(np.array(sizes, dtype=float))) if sizes else 0
        if not sizes or sizes[best] <= order:
            break
        chosen, order = [*chosen, rows[best]], sizes[best]
    return chosen


def _entries(canvas: Canvas, places: Points, component: Component) -> None:
    """A short arrow from nowhere to each value that a letter resets to."""
    for value, tail in _tails(component, places):
        unit = (tail - places[value]) / np.linalg.norm(tail - places[value])
        ends = np.array([tail, places[value] + unit * (RADIUS + 0.01)])
        canvas.arrow(ends, width=1.1, head=0.075)


def _tails(component: Component, places: Points) -> list[tuple[int, Points]]:
    """The values that are reset to, and where the arrows to them begin."""
    out = places - places.mean(axis=0)
    if _in_row(component):
        out = np.tile([0.0, 1.0], (len(places), 1))
    units = out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-9)
    return [(v, places[v] + units[v] * (RADIUS + 0.2)) for v in _targets(component)]


def _targets(component: Component) -> list[int]:
    if not component.is_permutation_reset:
        return []
    rows = component.machine.transitions[component.resets]
    return sorted({int(row[0]) for row in rows})


def _moves(canvas: Canvas, places: Points, component: Component) -> None:
    """All transitions of a component that neither permutes nor resets."""
    table = component.machine.transitions
    pairs = {(p, int(q)) for row in table for p, q in enumerate(row) if p != q}
    for ends in sorted(pairs):
        back = ends[::-1] in pairs
        if not (back and ends[0] > ends[1]):
            _link(canvas, places, ends, SOFT, 0, back)
