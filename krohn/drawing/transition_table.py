"""Drawing the table of a machine whose arrows would be a tangle."""

from collections import deque

import numpy as np
import numpy.typing as npt
from matplotlib.colors import hsv_to_rgb
from matplotlib.figure import Figure

from krohn.algebra.automaton import Automaton
from krohn.algebra.wording import count
from krohn.drawing.canvas import INK, SOFT, Box, Canvas, legible, measure

ROWS = 50
MOST_LETTERS = 16
SIZE = 6.5
HIGH = 0.135
APART = 0.35
LONGEST = 12


def draw_table(machine: Automaton) -> Figure:
    """A row for each state, a column for each letter, a colour for each state.

    States stand in the order in which words reach them, shortest words first, so that
    colours that are near each other are states that are reached alike.
    """
    order = _reached(machine)
    colors = np.ones((len(order), 3))
    colors[order] = hsv_to_rgb([(i / len(order), 0.3, 1.0) for i in range(len(order))])
    letters = range(min(len(machine.letters), MOST_LETTERS))
    texts = [
        [_name(machine, q), *(_cell(machine, a, q) for a in letters)] for q in order
    ]
    heads = ["state", *(legible(machine.letters[a], LONGEST) for a in letters)]
    widths = [
        max(measure(t, SIZE, True)[0] for t in column) + 0.12
        for column in zip(heads, *texts, strict=True)
    ]
    canvas = Canvas()
    left = 0.0
    for first in range(0, len(order), ROWS):
        block = order[first : first + ROWS]
        targets = machine.transitions[: len(letters), block].T
        shades = colors[np.column_stack([block, targets])]
        stays = targets == np.array(block)[:, None]
        shades[:, 1:][stays] = 1.0
        _block(canvas, [heads, *texts[first : first + ROWS]], widths, left, stays)
        low = -HIGH * len(block)
        edges = left + np.concatenate([[0.0], np.cumsum(widths)])
        for i in range(len(widths)):
            box = Box(float(edges[i]), low, float(edges[i + 1]), 0.0)
            canvas.image(box, shades[:, i : i + 1])
        left = float(edges[-1]) + APART
    canvas.notes(_remarks(machine, len(letters)))
    facts = count(len(order), "state"), count(len(machine.letters), "letter")
    canvas.heading(legible(machine.name), ", ".join(facts))
    return canvas.finish()


def _block(
    canvas: Canvas,
    lines: list[list[str]],
    widths: list[float],
    left: float,
    stays: npt.NDArray[np.bool_],
) -> None:
    """The texts of some rows under the heads of the columns."""
    middle = left + np.cumsum(widths) - np.array(widths) / 2
    for x, head in zip(middle.tolist(), lines[0], strict=True):
        canvas.text(x, HIGH * 0.65, head, size=SIZE, bold=True)
    for row, cells in enumerate(lines[1:]):
        y = -HIGH * (row + 0.5)
        for i, (x, cell) in enumerate(zip(middle.tolist(), cells, strict=True)):
            color = SOFT if i and stays[row, i - 1] else INK
            canvas.text(x, y, cell, size=SIZE, color=color, bold=i == 0)


def _reached(machine: Automaton) -> list[int]:
    """All states, those that shorter words reach before the others."""
    found, waiting = {machine.start: None}, deque([machine.start])
    while waiting:
        for q in machine.transitions[:, waiting.popleft()].tolist():
            if q not in found:
                found[q] = None
                waiting.append(q)
    return [*found, *(q for q in range(len(machine.states)) if q not in found)]


def _name(machine: Automaton, state: int) -> str:
    name, output = legible(machine.states[state], LONGEST), machine.output
    if output is None or output.on == "transitions":
        return name
    return f"{name}: {legible(output.names[output.table[state]], LONGEST)}"


def _cell(machine: Automaton, letter: int, state: int) -> str:
    after = legible(machine.states[machine.transitions[letter, state]], LONGEST)
    output = machine.output
    if output is None or output.on == "states":
        return after
    return f"{after}/{legible(output.names[output.table[letter, state]], LONGEST)}"


def _remarks(machine: Automaton, letters: int) -> list[str]:
    start = legible(machine.states[machine.start])
    remarks = [
        f"Each row says where the letters lead from a state; {start} is the start. "
        "Every state has its colour wherever it stands; white: the letter changes "
        "nothing. States that shorter words reach stand above the others."
    ]
    if letters < len(machine.letters):
        total = len(machine.letters)
        remarks.append(f"Only the first {letters} of {total} letters are shown.")
    return remarks
