"""Drawing a hidden Markov model: states as circles, arrows as wide as they are likely."""

from collections.abc import Iterator, Sequence
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
    Box,
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
THIN, WIDE = 0.6, 4.0
"""Line widths of probability 0 and 1, in points."""
NEIGHBOURS = 3
"""The likeliest steps of each state that the layout looks at."""
MOST_STARTS = 6
"""So many states in which a model may start are named."""
MOST_ROWS, MOST_COLUMNS = 12, 10
"""Of states and of letters in the table below a picture."""
CELL_WIDTH, CELL_HEIGHT = 0.5, 0.2
SAME = 1e-9
"""Probabilities nearer than this are the same."""


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
    steps, table = operators.sum(axis=0), _letters_of_states(model)
    arcs = _arcs(model, operators, table is None)
    radius = max(0.22, *(measure(_name(s), 9)[0] / 2 + 0.07 for s in model.states))
    layout = _layout(steps, int(model.start.argmax()), radius)
    curves, used = curves_of(arcs, layout, radius, [[] for _ in model.states])
    few, canvas = sum(len(arc.labels) for arc in arcs) <= MOST_LABELS, Canvas()
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
        labels = Labels(layout.places, radius, np.concatenate(lines), apart=True)
        missing = labels.write(canvas, curves, lambda arc: _color(model, arc))
    if table is not None:
        _table(canvas, model, *table)
    notes = _beside_arrows(model, few, table is not None)
    _caption(canvas, model, [*notes, *_left_out(steps, missing)])
    return canvas.finish()


def _letters_of_states(model: HiddenMarkovModel) -> tuple[str, Points] | None:
    """The probability of each letter in each state, where a table says it better.

    That is where letters do not depend on both ends of a step, or are too many to be
    written at arrows.

    Returns:
        What the letters depend on, and ``(states, letters)``; None where letters stand at
        arrows, or are chosen, or have weights.
    """
    if model.actions is not None or model.final is not None:
        return None
    operators, steps = model.operators, model.operators.sum(axis=0)
    labels = int((operators > 0).sum())
    if labels <= int((steps > 0).sum()):  # a letter for each step
        return None
    for axis, depends in ((2, "reached"), (1, "left")):
        laws = operators.sum(axis=axis) / np.maximum(steps.sum(axis=axis - 1), SAME)
        spread = laws[:, :, None] if axis == 2 else laws[:, None]
        if np.abs(spread * steps - operators).max() < SAME:
            return depends, laws.T
    return ("left", operators.sum(axis=1).T) if labels > MOST_LABELS else None


def _table(
    canvas: Canvas, model: HiddenMarkovModel, depends: str, laws: Points
) -> None:
    """A row for each state, a column for each letter, darker for what is likelier."""
    rows, columns = laws[:MOST_ROWS, :MOST_COLUMNS].shape
    box = canvas.extent
    margin = max(measure(_name(s), 8)[0] for s in model.states[:rows]) + 0.12
    heads = [legible(letter, 7) for letter in model.letters[:columns]]
    wide = max(CELL_WIDTH, *(measure(head, 8)[0] + 0.1 for head in heads))
    top = box.low - 0.75
    title = f"Letters, by the state that is {depends}"
    canvas.text(box.left, top + 0.44, title, size=9, form="bold", align="left")
    for column, head in enumerate(heads):
        x = box.left + margin + (column + 0.5) * wide
        canvas.text(x, top + 0.17, head, size=8, color=SOFT)
    for row in range(rows):
        y = top - row * CELL_HEIGHT
        name = _name(model.states[row])
        canvas.text(box.left + margin - 0.06, y, name, size=8, align="right")
        for column in range(columns):
            chance = float(laws[row, column])
            x = box.left + margin + (column + 0.5) * wide
            cell = Box.around(x, y, wide - 0.02, CELL_HEIGHT - 0.02)
            canvas.rectangle(cell, fill=PALETTE[0], alpha=0.55 * chance, order=2)
            canvas.text(x, y, f"{chance:.2g}", size=8)
    hidden = laws.shape[0] - rows, laws.shape[1] - columns
    more = [
        count(many, f"more {noun}")
        for many, noun in zip(hidden, ("state", "letter"), strict=True)
        if many
    ]
    if more:
        canvas.notes([f"… {' and '.join(more)}"])


def _name(state: str) -> str:
    return legible(state, 14)


def _arcs(model: HiddenMarkovModel, operators: Points, lettered: bool) -> list[Arc]:
    """An arc for each step that is likely enough, with its letters or its probability.

    Labels of letters say the probability given the action, or the weight.
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
        if not lettered:
            letters, labels = [], (f"{steps[target, source]:.2g}",)
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


def _beside_arrows(
    model: HiddenMarkovModel, few: bool, in_table: bool
) -> Iterator[str]:
    """What the widths of arrows and the numbers beside them are."""
    if model.final is not None:
        yield "The wider an arrow, the larger the weights of its letters."
    elif model.actions is not None:
        yield "The wider an arrow, the likelier its step, if actions are uniform."
    else:
        yield "The wider an arrow, the likelier its step."
    if in_table:
        if few:
            yield "The number at an arrow is the probability of its step."
    elif not few:
        yield "The letters are not written: there are too many."
    elif model.final is not None:
        yield "At an arrow stands each letter with its weight."
    elif model.actions is not None:
        yield (
            "At an arrow stand the letters: an action, its answer, and the probability of "
            "this answer and this step, given the action."
        )
    else:
        yield (
            "At an arrow stands each letter with the probability that the model says it "
            "and takes this step."
        )


def _left_out(steps: Points, missing: int) -> Iterator[str]:
    if missing:
        yield f"Left out for want of room: {count(missing, 'label')}."
    rare = int(((steps > 0) & (steps < LEAST)).sum())
    if rare:
        yield f"{count(rare, 'step')} of a probability below {LEAST} left out."


def _beginning(model: HiddenMarkovModel, begins: Sequence[int]) -> str:
    """The states that it may start in, with their probabilities if these are few."""
    if len(begins) > MOST_STARTS:
        return f"Before the first step it is in one of {len(begins)} states."
    each = (f"{legible(model.states[q])} ({model.start[q]:.3g})" for q in begins)
    joint = " or " if len(begins) == 2 else ", "
    return f"Before the first step it is in {joint.join(each)}."


def _caption(canvas: Canvas, model: HiddenMarkovModel, notes: list[str]) -> None:
    if len(begins := np.flatnonzero(model.start > 0).tolist()) > 1:
        notes.append(_beginning(model, begins))
    canvas.notes(notes)
    sizes = count(model.size, "state"), count(len(model.letters), "letter")
    canvas.heading(legible(model.name), ", ".join(["hidden Markov model", *sizes]))
