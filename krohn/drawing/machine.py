"""Drawing a machine: its states as circles, its transitions as arrows."""

import numpy as np
from matplotlib.figure import Figure

from krohn.algebra.automaton import Automaton
from krohn.algebra.formats.outputs import acceptance
from krohn.algebra.wording import count
from krohn.drawing.action import acts_on_few, draw_action
from krohn.drawing.arrows import (
    SAMPLES,
    Arc,
    Labels,
    angle_of,
    at,
    curves_of,
    entry_of,
    free_angle,
    line_of,
)
from krohn.drawing.canvas import (
    INK,
    SOFT,
    Canvas,
    DrawingError,
    Points,
    legible,
)
from krohn.drawing.machine_sketch import (
    MOST_NAMED,
    OUTPUT_SIZE,
    Sketch,
    inscription,
    sketch_of,
)
from krohn.drawing.transition_table import draw_table

MOST_STATES = 200
HEAD = 0.11
DASH = 4.0


def draw_machine(machine: Automaton) -> Figure:
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
        return draw_action(machine)
    if states > MOST_STATES:
        raise DrawingError(
            f"{legible(machine.name)} has {states} states, and a picture shows up to "
            f"{MOST_STATES}; minimise it, draw a smaller member of its family, or "
            "write its table to a file instead"
        )
    sketch = sketch_of(machine)
    if states > MOST_NAMED and sketch.tangled:
        return draw_action(machine) if acts_on_few(machine) else draw_table(machine)
    canvas = Canvas()
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
                x, low, text, size=size, color=SOFT if shown else INK, italic=shown
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
