"""Drawing a hidden Markov model: states as circles, arrows as wide as they are likely."""

from collections.abc import Sequence
from itertools import product

import numpy as np
from matplotlib.figure import Figure

from krohn.algebra.wording import count
from krohn.drawing.arrows import (
    Arc,
    Labels,
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
from krohn.drawing.layout import Layout, arrange
from krohn.kinds.hidden_markov.source import (
    HiddenMarkovModel,
    randomise_actions,
)

MOST_STATES, MOST_LABELS = 40, 40
"""Of how many states a picture is drawn, and how many letters are written at arrows."""
LEAST = 0.02
"""Arrows of a smaller probability are left out."""
THIN, WIDE = 0.6, 5.0
"""Line widths of probability 0 and 1, in points."""
NEIGHBOURS = 3
MOST_STARTS = 6
"""So many states in which a model may start are named."""
"""The likeliest steps of each state that the layout looks at."""


def draw_hidden_markov(model: HiddenMarkovModel) -> Figure:
    """A picture of a model: its steps, and where they are few the letters at them.

    Raises:
        DrawingError: If it has more than 40 states.
    """
    if model.size > MOST_STATES:
        raise DrawingError(
            f"{legible(model.name)} has {model.size} states, and a picture of a hidden "
            f"Markov model shows up to {MOST_STATES}"
        )
    operators = randomise_actions(model).operators
    if model.final is not None:
        operators = operators / operators.sum(axis=0).max()
    steps = operators.sum(axis=0)
    arcs = _arcs(model, operators)
    radius = max(0.22, *(measure(_name(s), 9)[0] / 2 + 0.07 for s in model.states))
    layout = _layout(steps, int(model.start.argmax()), radius)
    curves, used = curves_of(arcs, layout, radius, [[] for _ in model.states])
    few, canvas = sum(len(arc.letters) for arc in arcs) <= MOST_LABELS, Canvas()
    for arc, curve in curves.items():
        color = _color(model, arc) if few else INK
        _arrow(canvas, curve, float(steps[arc.target, arc.source]), color)
    for name, (x, y) in zip(model.states, layout.places.tolist(), strict=True):
        canvas.circle(x, y, radius)
        canvas.text(x, y, _name(name), size=9)
    if (model.start > 0).sum() == 1:
        start = int(model.start.argmax())
        angle = free_angle(used[start], np.pi)
        entry = entry_of(layout.places[start], radius, angle)
        canvas.arrow(entry, color=SOFT, width=1.8, head=0.14)
    missing = 0
    if few:
        lines = [at(curve, np.linspace(0, 1, 40)) for curve in curves.values()]
        labels = Labels(layout.places, radius, np.concatenate(lines))
        missing = labels.write(canvas, curves, lambda arc: _color(model, arc))
    _caption(canvas, model, steps, few, missing)
    return canvas.finish()


def _name(state: str) -> str:
    return legible(state, 14)


def _arcs(model: HiddenMarkovModel, operators: Points) -> list[Arc]:
    """An arc for each step that is likely enough, with its letters.

    Labels say the probability given the action, or the weight.
    """
    steps, arcs = operators.sum(axis=0), []
    for source, target in product(range(model.size), repeat=2):
        if steps[target, source] < LEAST:
            continue
        letters = np.flatnonzero(operators[:, target, source]).tolist()
        chances = model.operators[letters, target, source]
        labels = tuple(
            f"{legible(model.letters[o], 12)}: {p:.2g}"
            for o, p in zip(letters, chances.tolist(), strict=True)
        )
        paired = source != target and steps[source, target] >= LEAST
        arcs.append(Arc(source, target, tuple(letters), labels, paired=paired))
    return arcs


def _layout(steps: Points, start: int, radius: float) -> Layout:
    """Places by the likeliest steps; others would pull all states together."""
    others = steps * (1 - np.eye(len(steps)))
    order = np.argsort(-others, axis=0, kind="stable")[:NEIGHBOURS]
    likely = np.take_along_axis(others, order, axis=0) >= LEAST
    table = np.where(likely, order, np.arange(len(steps)))
    return arrange(table, start, 2 * radius + 1.2, 2 * radius + 0.5)


def _color(model: HiddenMarkovModel, arc: Arc) -> str:
    """That of the letter, if it is the only one of the arrow."""
    alone = len(arc.letters) == 1 and len(model.letters) <= len(PALETTE)
    return PALETTE[arc.letters[0]] if alone else INK


def _arrow(canvas: Canvas, curve: Points, chance: float, color: str) -> None:
    width = THIN + (WIDE - THIN) * chance
    head = 0.09 + 0.022 * width
    tip, before = at(curve, np.array([1.0, 0.96]))
    canvas.curve(line_of(curve, head), color=color, width=width)
    canvas.head(tip, tip - before, color, head)


def _beginning(model: HiddenMarkovModel, begins: Sequence[int]) -> str:
    """The states that it may start in, with their probabilities if these are few."""
    if len(begins) > MOST_STARTS:
        return f"It starts in one of {len(begins)} states."
    each = (f"{legible(model.states[q])} ({model.start[q]:.3g})" for q in begins)
    return f"It starts in {', '.join(each)}."


def _caption(
    canvas: Canvas, model: HiddenMarkovModel, steps: Points, few: bool, missing: int
) -> None:
    notes = ["An arrow is as wide as its step is likely."]
    if model.actions is not None:
        notes[0] = "An arrow is as wide as its step is likely if actions are uniform."
    if model.final is not None:
        notes[0] = "An arrow is as wide as the weights of its letters are large."
    if not few:
        notes.append("The letters are not written: there are too many.")
    if missing:
        notes.append(f"Left out for want of room: {count(missing, 'label')}.")
    rare = int(((steps > 0) & (steps < LEAST)).sum())
    if rare:
        notes.append(f"{count(rare, 'step')} of a probability below {LEAST} left out.")
    if len(begins := np.flatnonzero(model.start > 0).tolist()) > 1:
        notes.append(_beginning(model, begins))
    canvas.notes(notes)
    facts = count(model.size, "state"), count(len(model.letters), "letter")
    canvas.heading(legible(model.name), ", ".join(facts))
