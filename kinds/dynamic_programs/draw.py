"""Drawing a recurrence: the numbers of a dynamic program, and what each is made of."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from krohn.algebra.wording import count
from krohn.drawing.arrows import bow
from krohn.drawing.canvas import (
    INK,
    PALETTE,
    PAPER,
    SOFT,
    Box,
    Canvas,
    DrawingError,
    Points,
    bold_if,
    legible,
    measure,
)

WIDE, TALL, HALF = 0.78, 0.62, 0.24
"""From column to column, from row to row, and half the side of a cell, in inches."""
MOST_CELLS, MOST_ARROWS = 1000, 1200
Cell = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class Recurrence:
    """Which numbers are computed of which.

    Attributes:
        name: What it is called.
        inputs: The numbers and letters of the prompt.
        cells: Those that are computed, in their order.
        reads: The argument, the cell that is computed, and the one that is read.
        arguments: What each argument is called.
    """

    name: str
    inputs: tuple[Cell, ...]
    cells: tuple[Cell, ...]
    reads: tuple[tuple[int, Cell, Cell], ...]
    arguments: tuple[str, ...]


def draw_recurrence(recurrence: Recurrence) -> Figure:
    """A grid of cells for each table, arrows to what is computed, and one cell's reads.

    Raises:
        DrawingError: If there are too many cells.
    """
    every = [*recurrence.inputs, *recurrence.cells]
    if len(every) > MOST_CELLS:
        raise DrawingError(
            f"{recurrence.name} has {len(every):,} numbers, too many to draw; draw it at a "
            "smaller size, as in LCS4,4 or my.dp:n=4"
        )
    canvas, places = Canvas(), _places(recurrence)
    shown = _busiest(recurrence)
    own = [each for each in recurrence.reads if each[1] == shown]
    others = [
        each
        for each in recurrence.reads
        if each[1] != shown and each[2] not in recurrence.inputs
    ]
    few = len(others) <= MOST_ARROWS
    for argument, cell, read in others if few else ():
        _arrow(canvas, places, read, cell, argument, strong=False)
    for argument, cell, read in own:
        _arrow(canvas, places, read, cell, argument, strong=True)
    for cell in every:
        _cell(canvas, places[cell], cell, cell == shown, cell in recurrence.inputs)
    _titles(canvas, recurrence, places)
    canvas.legend(
        (legible(recurrence.arguments[k], 50), PALETTE[k % len(PALETTE)])
        for k in sorted({argument for argument, _, _ in recurrence.reads})
    )
    thin = "those between other numbers are thin" if few else "no others are drawn"
    canvas.notes(
        [
            "An arrow leads to a number from each number that it is computed from. "
            f"Those to {name_cell(shown)} are bold, {thin}. i, j, …: the indices of the "
            "computed number. Numbers that no input changes are left out."
        ]
    )
    counts = len(recurrence.inputs), len(recurrence.cells)
    facts = f"{count(counts[0], 'input')}, {count(counts[1], 'number')}"
    canvas.heading(legible(recurrence.name, 60), facts)
    return canvas.finish()


def _busiest(recurrence: Recurrence) -> Cell:
    """Of the cells with the most reads the one in the middle."""
    counts = Counter(cell for _, cell, _ in recurrence.reads)
    most = max(counts.values(), default=0)
    busiest = [c for c in recurrence.cells if counts[c] == most]
    return busiest[len(busiest) // 2]


def _places(recurrence: Recurrence) -> dict[Cell, Points]:
    """The centre of each cell: tables below one another, inputs above.

    An input that is read by row stands left of the rows, one by column above the columns.
    """
    left, top = (_beside(recurrence, k) for k in (0, 1))
    above = [cell for cell in recurrence.inputs if cell[0] not in (left, top)]
    centres, y = dict[Cell, Points](), 0.0
    for cells in (*_tables(above), *_tables(recurrence.cells)):
        y -= TALL * (top is not None and cells[0] == recurrence.cells[0])
        centres |= _grid(cells, y)
        y = min(float(centres[cell][1]) for cell in cells) - 1.6 * TALL
    first = [cell for cell in recurrence.cells if cell[0] == recurrence.cells[0][0]]
    x, high = centres[first[0]][0] - 1.3 * WIDE, centres[first[0]][1] + 1.3 * TALL
    for name, at in recurrence.inputs:
        for cell in first:
            if name == left and cell[1][0] == at[0]:
                centres[name, at] = np.array([x, centres[cell][1]])
            elif name == top and cell[1][1] == at[0]:
                centres[name, at] = np.array([centres[cell][0], high])
    for _, cell, read in recurrence.reads:
        if not cell[1] and read[1]:
            centres[cell] = np.array([centres[read][0], centres[cell][1]])
    return centres


def _tables(cells: Iterable[Cell]) -> list[list[Cell]]:
    tables = dict[str, list[Cell]]()
    for cell in cells:
        tables.setdefault(cell[0], []).append(cell)
    return list(tables.values())


def _grid(cells: Sequence[Cell], high: float) -> dict[Cell, Points]:
    """A table: the last index says the column, those before it the row."""
    rows = {row: n for n, row in enumerate(sorted({at[:-1] for _, at in cells}))}
    least = min((at[-1] for _, at in cells if at), default=0)
    return {
        (name, at): np.array(
            [(at[-1] - least if at else 0) * WIDE, high - rows[at[:-1]] * TALL]
        )
        for name, at in cells
    }


def _beside(recurrence: Recurrence, k: int) -> str | None:
    """The input whose index is always the k-th one of what is computed in the first table.

    None if there is none, or the table has other than two indices.
    """
    first = [at for name, at in recurrence.cells if name == recurrence.cells[0][0]]
    if len(first[0]) != 2:
        return None
    sides, fit = {at[k] for at in first}, dict[str, bool]()
    for _, (table, at), (name, index) in recurrence.reads:
        if table == recurrence.cells[0][0] and (name, index) in recurrence.inputs:
            fit[name] = fit.get(name, True) and index == (at[k],)
    every = {name: {i for n, i in recurrence.inputs if n == name} for name in fit}
    return next(
        (n for n in fit if fit[n] and every[n] <= {(side,) for side in sides}), None
    )


def _arrow(
    canvas: Canvas,
    places: Mapping[Cell, Points],
    read: Cell,
    cell: Cell,
    argument: int,
    strong: bool,
) -> None:
    first, last = places[read], places[cell]
    far = float(np.hypot(*(last - first)))
    # A long arrow bends, or it would run through what stands between.
    curve = bow(first, last, 0.0 if far < 1.5 * WIDE else -0.12)
    points = _outside(curve, first, last)
    color = PALETTE[argument % len(PALETTE)]
    width, head, order = (2.2, 0.13, 2.5) if strong else (0.5, 0.06, 1.0)
    canvas.arrow(points, color=color, width=width, head=head, order=order)


def _outside(curve: Points, first: Points, last: Points) -> Points:
    """A curve from the edge of one cell to the edge of another."""
    ends = []
    for centre, toward in ((first, curve[1]), (last, curve[2])):
        way = toward - centre
        scale = HALF * np.array([1.0, 0.62]) / np.maximum(np.abs(way), 1e-9)
        ends.append(centre + way * float(scale.min()) * 1.06)
    return np.array([ends[0], curve[1], curve[2], ends[1]])


def _cell(canvas: Canvas, place: Points, cell: Cell, shown: bool, given: bool) -> None:
    box = Box.around(float(place[0]), float(place[1]), 2 * HALF, 1.24 * HALF)
    fill = "#e6e8eb" if given else PAPER
    edge = INK if shown else SOFT
    canvas.rectangle(box, fill=fill, edge=edge, width=2.0 if shown else 0.7)
    text = ", ".join(map(str, cell[1])) or cell[0]
    size = min(8.0, 8.0 * 1.8 * HALF / measure(text, 8)[0])
    canvas.text(*box.middle, text, size=size, form=bold_if(shown))


def _titles(
    canvas: Canvas, recurrence: Recurrence, places: Mapping[Cell, Points]
) -> None:
    """The name of each table above its first cell."""
    for name in dict.fromkeys(
        name for name, _ in (*recurrence.inputs, *recurrence.cells)
    ):
        own = [places[c] for c in places if c[0] == name and c[1]]
        if own:
            x = min(float(p[0]) for p in own) - HALF
            y = max(float(p[1]) for p in own) + 0.62 * HALF + 0.1
            canvas.text(x, y, legible(name, 20), size=10, align="left", form="bold")


def name_cell(cell: Cell) -> str:
    """The name of a cell with its indices."""
    name, at = cell
    return f"{name}[{', '.join(map(str, at))}]" if at else name
