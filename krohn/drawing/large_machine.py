"""Drawing machines whose arrows would be a tangle: panels of letters, or a table."""

from collections import deque

import numpy as np
import numpy.typing as npt
from matplotlib.colors import hsv_to_rgb
from matplotlib.figure import Figure

from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.algebra.groups.naming import is_proper, name
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.wording import count
from krohn.drawing.arrows import arcs, at, route
from krohn.drawing.canvas import (
    FAINT,
    INK,
    PALETTE,
    SOFT,
    Box,
    Canvas,
    Points,
    bold_if,
    legible,
    measure,
)
from krohn.drawing.layout import circle, cycles

# Drawing what the letters of a large machine do to a few points: a panel a letter.


MOST_POINTS = 24
MOST_PANELS = 24
COLUMNS = 4
RADIUS = 0.15
HEAD = 0.11
LONGEST_ACTION = 30


def acts_on_few(machine: Automaton) -> bool:
    """Whether the letters are known to act on so few points that arrows can show it."""
    return machine.action is not None and len(machine.action[0]) <= MOST_POINTS


def draw_action(machine: Automaton, bare: bool = False) -> Figure:
    """A picture of `Automaton.action`: for each letter an arrow from each point.

    Points are counted from 1, as in the names of the permutations of the zoo.
    """
    rows = np.array(machine.action, dtype=np.int64)
    shown = min(len(rows), MOST_PANELS)
    places = circle(rows.shape[1], max(0.62, 0.47 / np.sin(np.pi / rows.shape[1]) / 2))
    step = 2 * float(np.abs(places).max()) + 2 * RADIUS + 0.55
    canvas = Canvas(bare=bare)
    for letter in range(shown):
        row, column = divmod(letter, COLUMNS)
        centre = np.array([column * max(step, 1.9), -row * (step + 0.25)])
        color = PALETTE[letter % len(PALETTE)]
        _panel(canvas, rows[letter], places + centre, color)
        low = float(centre[1] - step / 2 + 0.1)
        title = legible(machine.letters[letter], 20)
        canvas.text(float(centre[0]), low, title, size=10, color=color, form="bold")
        notation = legible(_cycle_notation(rows[letter]), LONGEST_ACTION)
        canvas.text(float(centre[0]), low - 0.19, notation, size=8, color=SOFT)
    canvas.notes(_remarks_on_action(machine, rows, shown))
    facts = count(len(machine.states), "state"), count(len(machine.letters), "letter")
    canvas.heading(legible(machine.name), ", ".join((*facts, _group(rows))))
    return canvas.finish()


def _panel(canvas: Canvas, row: IntArray, places: Points, color: str) -> None:
    points = tuple(str(i + 1) for i in range(len(row)))
    one = Automaton(Semiautomaton(row[None], ("letter",), points))
    for arc in arcs(one, (0,)):
        if arc.source == arc.target:
            continue
        curve = route(arc, places, RADIUS)
        canvas.arrow(curve, color=color, width=1.4, head=HEAD)
        if arc.both:
            first, second = at(curve, np.array([0.0, 0.03]))
            canvas.head(first, first - second, color, HEAD)
    for i, (x, y) in enumerate(places.tolist()):
        stays = row[i] == i
        canvas.circle(x, y, RADIUS, edge=FAINT if stays else INK)
        canvas.text(x, y - 0.005, points[i], color=SOFT if stays else INK)


def _permutes(row: IntArray) -> bool:
    return len(set(row.tolist())) == len(row)


def _cycle_notation(row: IntArray) -> str:
    """A permutation in cycles, another map as the list of its values."""
    if not _permutes(row):
        return " ".join(str(q + 1) for q in row.tolist())
    long = [cycle for cycle in cycles(row.tolist(), 0) if len(cycle) > 1]
    factors = ["(" + " ".join(str(q + 1) for q in cycle) + ")" for cycle in long]
    return "".join(factors) or "identity"


def _group(rows: IntArray) -> str:
    """Which group the letters generate, if they permute the points."""
    if not all(map(_permutes, rows)):
        return f"acting on {count(rows.shape[1], 'point')}"
    group = PermutationGroup(rows)
    title = name(group)
    proper = f"the group {title} of order {group.order}"
    called = proper if is_proper(title) else f"a group of {title}"
    return f"{called}, acting on {count(rows.shape[1], 'point')}"


def _remarks_on_action(machine: Automaton, rows: IntArray, shown: int) -> list[str]:
    remarks = [
        "Each letter moves the points along its arrows; points without an arrow stay. "
        f"Where a word takes the {count(rows.shape[1], 'point')} determines which of "
        f"the {count(len(machine.states), 'state')} it leads to."
    ]
    if shown < len(rows):
        remarks.append(f"Only the first {shown} of {len(rows)} letters are drawn.")
    return remarks


# Drawing the table of a machine whose arrows would be a tangle.


ROWS = 50
MOST_LETTERS = 16
SIZE = 6.5
HIGH = 0.135
APART = 0.35
LONGEST_CELL = 12


def draw_table(machine: Automaton, bare: bool = False) -> Figure:
    """A row for each state, a column for each letter, a colour for each state.

    States stand in the order in which words reach them, shortest words first, so that
    colours that are near each other are states that are reached alike.
    """
    order = _by_distance(machine)
    colors = np.ones((len(order), 3))
    colors[order] = hsv_to_rgb([(i / len(order), 0.3, 1.0) for i in range(len(order))])
    letters = range(min(len(machine.letters), MOST_LETTERS))
    texts = [
        [_name(machine, q), *(_cell(machine, a, q) for a in letters)] for q in order
    ]
    heads = ["state", *(legible(machine.letters[a], LONGEST_CELL) for a in letters)]
    widths = [
        max(measure(t, SIZE, True)[0] for t in column) + 0.12
        for column in zip(heads, *texts, strict=True)
    ]
    canvas = Canvas(bare=bare)
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
    canvas.notes(_remarks_on_table(machine, len(letters)))
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
        canvas.text(x, HIGH * 0.65, head, size=SIZE, form="bold")
    for row, cells in enumerate(lines[1:]):
        y = -HIGH * (row + 0.5)
        for i, (x, cell) in enumerate(zip(middle.tolist(), cells, strict=True)):
            color = SOFT if i and stays[row, i - 1] else INK
            canvas.text(x, y, cell, size=SIZE, color=color, form=bold_if(i == 0))


def _by_distance(machine: Automaton) -> list[int]:
    """All states, those that shorter words reach before the others."""
    visited, waiting = {machine.start: None}, deque([machine.start])
    while waiting:
        for q in machine.transitions[:, waiting.popleft()].tolist():
            if q not in visited:
                visited[q] = None
                waiting.append(q)
    return [*visited, *(q for q in range(len(machine.states)) if q not in visited)]


def _name(machine: Automaton, state: int) -> str:
    name, output = legible(machine.states[state], LONGEST_CELL), machine.output
    if output is None or output.on == "transitions":
        return name
    return f"{name}: {legible(output.names[output.table[state]], LONGEST_CELL)}"


def _cell(machine: Automaton, letter: int, state: int) -> str:
    after = legible(machine.states[machine.transitions[letter, state]], LONGEST_CELL)
    output = machine.output
    if output is None or output.on == "states":
        return after
    return f"{after}/{legible(output.names[output.table[letter, state]], LONGEST_CELL)}"


def _remarks_on_table(machine: Automaton, letters: int) -> list[str]:
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
