"""Drawing a machine: its states as circles, its transitions as arrows."""

import numpy as np
from matplotlib.figure import Figure

from krohn.algebra.automaton import Automaton
from krohn.algebra.formats.outputs import acceptance
from krohn.algebra.wording import count
from krohn.drawing.action import acts_on_few, draw_action
from krohn.drawing.arrows import (
    LABEL_SIZE,
    SAMPLES,
    Arc,
    Labels,
    at,
    free_angle,
    loop,
    part,
    route,
)
from krohn.drawing.canvas import (
    INK,
    SOFT,
    Canvas,
    DrawingError,
    Points,
    legible,
    measure,
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
    curves = {a: route(a, places, radius) for a in sketch.arcs if a.source != a.target}
    used = _used_angles(sketch, curves)
    for arc in sketch.arcs:
        if arc.source == arc.target:
            q = arc.source
            angle = free_angle(used[q], float(sketch.layout.outward[q]))
            used[q] += [angle - 0.35, angle, angle + 0.35]
            curves[arc] = loop(places[q], radius, angle)
    entry = _entry(sketch, free_angle(used[sketch.machine.start], np.pi))
    canvas.arrow(entry, width=1.8, head=0.14)
    for arc, curve in curves.items():
        _arrow(canvas, sketch, arc, curve)
    _nodes(canvas, sketch)
    return _labels(canvas, sketch, curves, entry)


def _used_angles(sketch: Sketch, curves: dict[Arc, Points]) -> list[list[float]]:
    """For each state the directions in which arrows leave or other states are near."""
    places = sketch.layout.places
    used: list[list[float]] = [[] for _ in places]
    for arc, curve in curves.items():
        for state, end in ((arc.source, curve[0]), (arc.target, curve[-1])):
            used[state].append(_angle(end - places[state]))
    for p, place in enumerate(places):
        apart = np.linalg.norm(places - place, axis=1)
        near = np.flatnonzero((apart > 0) & (apart < 2 * sketch.radius + 0.6))
        used[p] += [_angle(places[q] - place) for q in near]
    return used


def _angle(vector: Points) -> float:
    return float(np.arctan2(vector[1], vector[0]))


def _entry(sketch: Sketch, angle: float) -> Points:
    """The arrow from nowhere to the start state."""
    centre = sketch.layout.places[sketch.machine.start]
    unit = np.array([np.cos(angle), np.sin(angle)])
    reach = sketch.radius + 0.02
    return np.array([centre + (reach + 0.42) * unit, centre + reach * unit])


def _arrow(canvas: Canvas, sketch: Sketch, arc: Arc, curve: Points) -> None:
    colors = sketch.strokes(arc, INK)
    ends = at(curve, np.array([0.0, 0.03, 0.97, 1.0]))
    length = float(np.linalg.norm(np.diff(at(curve, np.linspace(0, 1, 9)), axis=0)))
    # The line stops inside the head, or its square end would show beside the tip.
    inset = min(0.3, 0.7 * HEAD / max(length, 1e-9) / 2.4)
    line = part(curve, inset if arc.both else 0.0, 1 - inset)
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
    labels = Labels(sketch.layout.places, sketch.radius, lines, [])
    missing = 0
    loops_first = sorted(
        curves.items(), key=lambda item: item[0].source != item[0].target
    )
    for arc, curve in loops_first:
        if arc.source == arc.target:
            box = labels.beyond(curve, sketch.layout.places[arc.source], arc.text)
        else:
            box = labels.beside(curve, arc.text)
        if box is None:
            missing += 1
            continue
        color = sketch.colors.get(arc.letters[0], INK) if len(arc.letters) == 1 else INK
        canvas.text(*box.middle, arc.text, size=LABEL_SIZE, color=color, halo=True)
    return missing


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
    angle = _angle(-sketch.layout.places[sketch.machine.start])
    canvas.arrow(_entry(sketch, angle + np.pi), width=1.8, head=0.14, order=4)
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
        _legend(canvas, sketch)
    canvas.notes(_remarks(sketch))
    if missing and not _says_all(sketch):
        canvas.notes([f"Left out for want of room: {count(missing, 'label')}."])
    machine = sketch.machine
    facts = count(len(machine.states), "state"), count(len(machine.letters), "letter")
    canvas.heading(legible(machine.name), ", ".join(facts))


def _legend(canvas: Canvas, sketch: Sketch) -> None:
    """A coloured stroke for every letter, in rows below the drawing."""
    box = canvas.extent
    limit = max(box.right, box.left + 4.5)
    x, y = box.left, box.low - 0.25
    for letter, color in sketch.colors.items():
        name = legible(sketch.machine.letters[letter], 24)
        width = measure(name, 9)[0]
        if x > box.left and x + width + 0.4 > limit:
            x, y = box.left, y - 0.22
        canvas.arrow(np.array([[x, y], [x + 0.3, y]]), color=color, width=1.8)
        canvas.text(x + 0.37, y, name, color=color, align="left")
        x += width + 0.65


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
