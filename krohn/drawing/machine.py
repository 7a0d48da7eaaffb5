"""Drawing a machine: what is drawn of it, its states as circles, its arrows."""

from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
from matplotlib.figure import Figure

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.formats.assembly import acceptance
from krohn.algebra.wording import count
from krohn.drawing.arrows import (
    LABEL_SIZE,
    SAMPLES,
    Arc,
    Labels,
    angle_of,
    arcs,
    at,
    curves_of,
    entry_of,
    free_angle,
    line_of,
)
from krohn.drawing.canvas import (
    INK,
    PALETTE,
    SOFT,
    Canvas,
    DrawingError,
    Points,
    legible,
    measure,
)
from krohn.drawing.large_machine import acts_on_few, draw_action, draw_table
from krohn.drawing.layout import MOST_INCHES, UP, Layout, arrange, crossings

# The parts of a drawing: letters, arrows, places of states.


MOST_NAMED = 40
SMALLEST_SINK = 8
OUTPUT_SIZE = 7.5


@dataclass(frozen=True)
class Sketch:
    """The arrows and states of a drawing, with their places.

    Attributes:
        machine: The machine.
        letters: The letters whose arrows are drawn.
        colors: Colour of each of these letters; empty where all arrows look alike.
        sink: The state whose incoming arrows are left out, if any.
        arcs: The arrows.
        layout: The places of the states.
        radius: Of the circles, in inches.
    """

    machine: Automaton
    letters: tuple[int, ...]
    colors: dict[int, str]
    sink: int | None
    arcs: list[Arc]
    layout: Layout
    radius: float

    def ends(self, arc: Arc) -> tuple[Points, Points]:
        """Where an arrow starts and ends."""
        return self.layout.places[arc.source], self.layout.places[arc.target]

    @property
    def is_tangled(self) -> bool:
        """Whether lines cross so often, once each or more, that none can be followed."""
        ends = {(a.source, a.target) for a in self.arcs if a.source != a.target}
        lines = {(min(pair), max(pair)) for pair in ends}
        return crossings(self.layout.places, lines) >= len(lines) > 0

    def strokes(self, arc: Arc, plain: str) -> list[str]:
        """The colours of an arrow, one for each letter; ``plain`` where all look alike."""
        return (
            [self.colors.get(a, plain) for a in arc.letters] if self.colors else [plain]
        )


def sketch_of(machine: Automaton) -> Sketch:
    """The letters, arrows and places of a machine's picture."""
    letters = _drawn_letters(machine)
    every = arcs(machine, letters)
    sink = _sink(machine, every)
    kept = [a for a in every if a.target != sink or a.source == sink]
    radius = _radius(machine)
    layout = _layout(machine, letters, kept, sink, radius)
    coloured = 1 < len(letters) <= len(PALETTE)
    colors = dict(zip(letters, PALETTE, strict=False)) if coloured else {}
    return Sketch(machine, letters, colors, sink, kept, layout, radius)


def _drawn_letters(machine: Automaton) -> tuple[int, ...]:
    """All letters, or where their arrows are too many a few that reach as much."""
    every = tuple(range(len(machine.letters)))
    states = len(machine.states)
    lines = [a for a in arcs(machine, every) if a.source != a.target]
    if len(lines) <= max(30, 4 * states) and (states <= MOST_NAMED or len(every) <= 8):
        return every
    chosen: list[int] = []
    for letter in every:
        if _reach(machine, [*chosen, letter]) > _reach(machine, chosen):
            chosen.append(letter)
    return tuple(chosen)


def _reach(machine: Automaton, letters: Sequence[int]) -> int:
    """How many states words in some letters lead to."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_node(machine.start)
    for row in machine.transitions[list(letters)].tolist():
        graph.add_edges_from(enumerate(row))
    return 1 + len(nx.descendants(graph, machine.start))


def _sink(machine: Automaton, every: Sequence[Arc]) -> int | None:
    """A state that is never left and that very many arrows lead to."""
    loops = {a.source for a in every if a.source == a.target and len(a.letters) > 1}
    loops -= {a.source for a in every if a.source != a.target} | {machine.start}
    for state in sorted(loops):
        if sum(a.target == state for a in every) > max(
            SMALLEST_SINK, len(machine.states) // 2
        ):
            return state
    return None


def _radius(machine: Automaton) -> float:
    if len(machine.states) > MOST_NAMED:
        return 0.06
    lines = [
        line for q in range(len(machine.states)) for line in inscription(machine, q)
    ]
    widest = max(measure(text, size)[0] for text, size in lines)
    return max(0.22, widest / 2 + 0.07)


def inscription(machine: Automaton, state: int) -> list[tuple[str, float]]:
    """The lines in the circle of a state, each with its size: name and output."""
    name = legible(machine.states[state], 20)
    lines = [(part, 10.0 if len(name) <= 4 else 8.0) for part in _halves(name)]
    output = machine.output
    if output and output.on == "states" and acceptance(machine) is None:
        lines.append((legible(output.names[output.table[state]], 10), OUTPUT_SIZE))
    return lines


def _halves(name: str) -> list[str]:
    """A long name on two lines, broken at an underscore near its middle or there."""
    if len(name) <= 10:
        return [name]
    breaks = [i + 1 for i, c in enumerate(name) if c in "_-., "] or [len(name) // 2]
    at = min(breaks, key=lambda i: abs(i - len(name) / 2))
    return [name[:at], name[at:]] if len(name) > at else [name]


def _layout(
    machine: Automaton,
    letters: Sequence[int],
    kept: Sequence[Arc],
    sink: int | None,
    radius: float,
) -> Layout:
    widest = max((measure(a.text, LABEL_SIZE)[0] for a in kept), default=0.0)
    named = len(machine.states) <= MOST_NAMED
    gap = 2 * radius + max(0.8, min(widest, 1.6) + 0.45) if named else 0.9
    room = 2 * radius + (0.22 if named else 0.05)
    table = machine.transitions[list(letters)]
    if sink is None:
        layout = arrange(table, machine.start, gap, room)
    else:
        layout = _with_sink(table, machine.start, sink, (gap, room))
    return layout if named else _scale_layout(layout)


def _scale_layout(layout: Layout) -> Layout:
    """Dots have no size of their own: the page is filled by how many there are."""
    wide = min(MOST_INCHES, 0.85 * len(layout.places) ** 0.5)
    scale = wide / max(float(np.ptp(layout.places, axis=0).max()), 1e-9)
    return Layout(layout.places * scale, layout.outward)


def _with_sink(
    table: IntArray, start: int, sink: int, spacing: tuple[float, float]
) -> Layout:
    """The layout without the sink, and the sink below it on the left."""
    others = np.delete(np.arange(table.shape[1]), sink)
    number = np.full(table.shape[1], -1)
    number[others] = np.arange(len(others))
    inner = number[table[:, others]]
    # A missing transition counts as a loop, which no layout looks at.
    inner = np.where(inner < 0, np.arange(len(others)), inner)
    layout = arrange(inner, int(number[start]), *spacing)
    places = np.zeros((table.shape[1], 2))
    places[others] = layout.places
    places[sink] = layout.places.min(axis=0)
    outward = np.full(table.shape[1], UP)
    outward[others] = layout.outward
    return Layout(places, outward)


# Drawing a machine: its states as circles, its transitions as arrows.


MOST_STATES = 200
HEAD = 0.11
DASH = 4.0


def draw_machine(machine: Automaton, *, bare: bool = False) -> Figure:
    """A picture of a machine: circles for states, arrows for transitions.

    States beyond 40 are drawn as dots without names. Where the arrows of all letters
    would not be legible, those of a few letters that reach every state are drawn, and
    the picture says so. Where even these are a tangle of dots, the picture shows how
    the letters act on a few points if that is known, and otherwise the table.

    Raises:
        DrawingError: If the machine has more than 200 states and acts on no few points.
    """
    states = len(machine.states)
    if states > MOST_STATES and acts_on_few(machine):
        return draw_action(machine, bare)
    if states > MOST_STATES:
        raise DrawingError(
            f"{legible(machine.name)} has {states} states, and a picture shows up to "
            f"{MOST_STATES}; minimise it, draw a smaller member of its family, or "
            "write its table to a file instead"
        )
    sketch = sketch_of(machine)
    if states > MOST_NAMED and sketch.is_tangled:
        draw = draw_action if acts_on_few(machine) else draw_table
        return draw(machine, bare)
    canvas = Canvas(bare=bare)
    missing = _dots(canvas, sketch) if states > MOST_NAMED else _circles(canvas, sketch)
    _caption(canvas, sketch, missing)
    return canvas.finish()


def _circles(canvas: Canvas, sketch: Sketch) -> int:
    """Draws all; how many labels did not fit."""
    places, radius = sketch.layout.places, sketch.radius
    curves, used = curves_of(sketch.arcs, sketch.layout, radius, _near(sketch))
    start = sketch.machine.start
    entry = entry_of(places[start], radius, free_angle(used[start], np.pi))
    canvas.arrow(entry, width=1.8, head=0.14)
    for arc, curve in curves.items():
        _arrow(canvas, sketch, arc, curve)
    _nodes(canvas, sketch)
    return _labels(canvas, sketch, curves, entry)


def _near(sketch: Sketch) -> list[list[float]]:
    """For each state the directions in which other states are near."""
    places, near = sketch.layout.places, list[list[float]]()
    for place in places:
        apart = np.linalg.norm(places - place, axis=1)
        others = np.flatnonzero((apart > 0) & (apart < 2 * sketch.radius + 0.6))
        near.append([angle_of(places[q] - place) for q in others])
    return near


def _arrow(canvas: Canvas, sketch: Sketch, arc: Arc, curve: Points) -> None:
    colors = sketch.strokes(arc, INK)
    ends = at(curve, np.array([0.0, 0.03, 0.97, 1.0]))
    line = line_of(curve, HEAD, arc.both)
    for i, color in enumerate(colors):
        canvas.curve(line, color=color, width=1.4, dashes=_dashes(i, len(colors)))
    tip = colors[0] if len(colors) == 1 else INK
    canvas.head(ends[3], ends[3] - ends[2], tip, HEAD)
    if arc.both:
        canvas.head(ends[0], ends[0] - ends[1], tip, HEAD)


def _dashes(number: int, count: int) -> tuple[float, tuple[float, float]] | None:
    """Dashes that leave room for those of the other colours of a line."""
    if count == 1:
        return None
    return (count - number) * DASH, (DASH, (count - 1) * DASH)


def _nodes(canvas: Canvas, sketch: Sketch) -> None:
    accepting = acceptance(sketch.machine)
    for state, (x, y) in enumerate(sketch.layout.places.tolist()):
        canvas.circle(x, y, sketch.radius)
        if accepting and accepting[state]:
            canvas.circle(x, y, sketch.radius - 0.04, width=0.9)
        lines = inscription(sketch.machine, state)
        for i, (text, size) in enumerate(lines):
            low = y + 0.15 * ((len(lines) - 1) / 2 - i) - 0.005
            shown = size == OUTPUT_SIZE
            canvas.text(
                x,
                low,
                text,
                size=size,
                color=SOFT if shown else INK,
                form="italic" if shown else "plain",
            )


def _labels(
    canvas: Canvas, sketch: Sketch, curves: dict[Arc, Points], entry: Points
) -> int:
    samples = [at(curve, SAMPLES) for curve in curves.values()]
    lines = np.concatenate([*samples, np.linspace(entry[0], entry[1], 12)])
    labels = Labels(sketch.layout.places, sketch.radius, lines)
    loops_first = sorted(curves, key=lambda arc: arc.source != arc.target)

    def color(arc: Arc) -> str:
        alone = len(arc.letters) == 1
        return sketch.colors.get(arc.letters[0], INK) if alone else INK

    return labels.write(canvas, {a: curves[a] for a in loops_first}, color)


def _says_all(sketch: Sketch) -> bool:
    """Whether colour and legend say what a missing label would."""
    output = sketch.machine.output
    shown = output is not None and output.on == "transitions"
    return (bool(sketch.colors) and not shown) or len(sketch.letters) == 1


def _dots(canvas: Canvas, sketch: Sketch) -> int:
    for arc in sketch.arcs:
        if arc.source != arc.target:
            _thin_arrow(canvas, sketch, arc)
    for x, y in sketch.layout.places.tolist():
        canvas.circle(x, y, sketch.radius, fill=INK, width=0)
    place = sketch.layout.places[sketch.machine.start]
    entry = entry_of(place, sketch.radius, angle_of(-place) + np.pi)
    canvas.arrow(entry, width=1.8, head=0.14, order=4)
    return 0


def _thin_arrow(canvas: Canvas, sketch: Sketch, arc: Arc) -> None:
    first, last = sketch.ends(arc)
    apart = float(np.linalg.norm(last - first))
    unit = (last - first) / max(apart, 1e-9) * min(sketch.radius, apart / 3)
    line = np.array([first + unit, last - unit])
    colors = sketch.strokes(arc, SOFT)
    for i, color in enumerate(colors):
        canvas.curve(line, color=color, width=0.9, dashes=_dashes(i, len(colors)))
    canvas.head(line[1], unit, colors[0], 0.08)
    if arc.both:
        canvas.head(line[0], -unit, colors[0], 0.08)


def _caption(canvas: Canvas, sketch: Sketch, missing: int) -> None:
    if sketch.colors:
        names = sketch.machine.letters
        canvas.legend((legible(names[a], 24), c) for a, c in sketch.colors.items())
    canvas.notes(_remarks(sketch))
    if missing and not _says_all(sketch):
        canvas.notes([f"Left out for want of room: {count(missing, 'label')}."])
    machine = sketch.machine
    facts = count(len(machine.states), "state"), count(len(machine.letters), "letter")
    canvas.heading(legible(machine.name), ", ".join(facts))


def _remarks(sketch: Sketch) -> list[str]:
    machine, drawn = sketch.machine, len(sketch.letters)
    remarks = []
    if drawn < len(machine.letters):
        names = ", ".join(legible(machine.letters[a], 16) for a in sketch.letters[:8])
        remarks.append(
            f"Only the arrows of {names} are drawn, {drawn} of "
            f"{count(len(machine.letters), 'letter')}; they reach as many states."
        )
    if sketch.sink is not None:
        name = legible(machine.states[sketch.sink])
        remarks.append(f"Transitions that are not drawn lead to {name}.")
    if len(machine.states) > MOST_NAMED:
        remarks.append("Names and loops are not drawn.")
    return remarks
