"""Drawing what the letters of a large machine do to a few points: a panel a letter."""

import numpy as np
from matplotlib.figure import Figure

from krohn.algebra.automaton import Automaton
from krohn.algebra.groups.naming import is_proper, name
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.semiautomaton import IntArray, Semiautomaton
from krohn.algebra.wording import count
from krohn.drawing.arrows import arcs, at, route
from krohn.drawing.canvas import FAINT, INK, PALETTE, SOFT, Canvas, Points, legible
from krohn.drawing.layout import cycles
from krohn.drawing.stress import circle

MOST_POINTS = 24
MOST_PANELS = 24
COLUMNS = 4
RADIUS = 0.15
HEAD = 0.11
LONGEST = 30


def acts_on_few(machine: Automaton) -> bool:
    """Whether the letters are known to act on so few points that arrows can show it."""
    return machine.action is not None and len(machine.action[0]) <= MOST_POINTS


def draw_action(machine: Automaton) -> Figure:
    """A picture of `Automaton.action`: for each letter an arrow from each point.

    Points are counted from 1, as in the names of the permutations of the zoo.
    """
    rows = np.array(machine.action, dtype=np.int64)
    shown = min(len(rows), MOST_PANELS)
    places = circle(rows.shape[1], max(0.62, 0.47 / np.sin(np.pi / rows.shape[1]) / 2))
    step = 2 * float(np.abs(places).max()) + 2 * RADIUS + 0.55
    canvas = Canvas()
    for letter in range(shown):
        row, column = divmod(letter, COLUMNS)
        centre = np.array([column * max(step, 1.9), -row * (step + 0.25)])
        color = PALETTE[letter % len(PALETTE)]
        _panel(canvas, rows[letter], places + centre, color)
        low = float(centre[1] - step / 2 + 0.1)
        title = legible(machine.letters[letter], 20)
        canvas.text(float(centre[0]), low, title, size=10, color=color, bold=True)
        said = legible(_cycle_notation(rows[letter]), LONGEST)
        canvas.text(float(centre[0]), low - 0.19, said, size=8, color=SOFT)
    canvas.notes(_remarks(machine, rows, shown))
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
    said = ["(" + " ".join(str(q + 1) for q in cycle) + ")" for cycle in long]
    return "".join(said) or "identity"


def _group(rows: IntArray) -> str:
    """Which group the letters generate, if they permute the points."""
    if not all(map(_permutes, rows)):
        return f"acting on {count(rows.shape[1], 'point')}"
    group = PermutationGroup(rows)
    title = name(group)
    proper = f"the group {title} of order {group.order}"
    called = proper if is_proper(title) else f"a group of {title}"
    return f"{called}, acting on {count(rows.shape[1], 'point')}"


def _remarks(machine: Automaton, rows: IntArray, shown: int) -> list[str]:
    remarks = [
        "Each letter moves the points along its arrows; points without an arrow stay. "
        f"Where a word takes the {count(rows.shape[1], 'point')} determines which of "
        f"the {count(len(machine.states), 'state')} it leads to."
    ]
    if shown < len(rows):
        remarks.append(f"Only the first {shown} of {len(rows)} letters are drawn.")
    return remarks
