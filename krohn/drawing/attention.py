"""Drawing attention: patterns side by side, and rollouts of texts that are written."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from krohn.drawing.canvas import (
    FAINT,
    INK,
    PALETTE,
    PAPER,
    SIGNED,
    SOFT,
    Box,
    Canvas,
    Points,
    bold_if,
    legible,
    measure,
)

# Drawing attention patterns side by side, a square each.


SIDE = 2.4
GAP = 0.55
MOST_LABELS = 24
PER_ROW = 4


def draw_attention(
    titles: Sequence[str],
    patterns: Sequence[Points],
    labels: Sequence[str],
    remarks: Sequence[str],
) -> Figure:
    """Patterns as squares: a row for each position that looks, the start on top.

    Args:
        titles: What to write above each.
        patterns: ``(positions, positions)`` weights.
        labels: What stands at each position.
        remarks: Lines to put below.
    """
    canvas = Canvas()
    for i, (title, pattern) in enumerate(zip(titles, patterns, strict=True)):
        x, y = (i % PER_ROW) * (SIDE + GAP), -(i // PER_ROW) * (SIDE + GAP + 0.3)
        box = Box(x, y - SIDE, x + SIDE, y)
        canvas.image(box, np.sqrt(pattern), SIGNED, 1.0)
        canvas.rectangle(box, fill="none", edge=SOFT)
        canvas.text(x + SIDE / 2, y + 0.38, legible(title, 44), size=8.5)
        _label(canvas, box, labels)
    canvas.notes(
        [
            "A row for each position that attends, a column for each position that it "
            "attends to; the darker, the more weight (the colour shows its square "
            "root); • is the start.",
            *remarks,
        ]
    )
    return canvas.finish()


def _label(canvas: Canvas, box: Box, labels: Sequence[str]) -> None:
    if len(labels) > MOST_LABELS:
        return
    step = SIDE / len(labels)
    for i, label in enumerate(labels):
        text = legible(label, 3)
        y = box.high - (i + 0.5) * step
        canvas.text(box.left - 0.05, y, text, size=7, color=SOFT, align="right")
        canvas.text(
            box.left + (i + 0.5) * step, box.high + 0.1, text, size=7, color=SOFT
        )


# Drawing a rollout: which token of a text attends to which, while it is written.
#
# A row for each token that is written, a column for each that stands before it. So a row
# has in colour the tokens that the heads take, and at its right end the one they lead to.


WIDEST, LARGEST, READABLE = 15.0, 0.24, 0.13
"""Inches of all columns; of one at most; of one at least whose token is written in it."""
NARROWER = 10.0
"""Inches of all columns whose tokens are not written: names remain, and are larger so."""
LEAST = 0.01
"""The least weight that is shown."""
WRITTEN = "#e6e8eb"


@dataclass(frozen=True)
class Head:
    """The attention of a head to each place, or of several heads of one kind together.

    Attributes:
        name: What it is called.
        weights: ``(tokens, tokens)``: how much is taken of a token to write another; a
            row for each that is written.
    """

    name: str
    weights: Points


@dataclass(frozen=True)
class Rollout:
    """A text that was written token by token, and what was looked at.

    Attributes:
        title: What it is a text of.
        facts: A line of facts.
        tokens: All tokens, those of the prompt first.
        called: What each is called; nothing for signs.
        start: How many tokens the prompt has.
        answer: The place of the answer, from 0.
        layers: The heads of each layer that has some, with the layer's name.
        remarks: Lines to put below.
    """

    title: str
    facts: str
    tokens: tuple[str, ...]
    called: tuple[str, ...]
    start: int
    answer: int
    layers: tuple[tuple[str, tuple[Head, ...]], ...]
    remarks: tuple[str, ...] = ()


def draw_rollout(rollout: Rollout) -> Figure:
    """A picture of a text and its attention, a matrix for each layer."""
    canvas = Canvas()
    for name, heads in rollout.layers:
        high = canvas.extent.low - 0.9 if canvas.boxes else 0.0
        grid = _Grid(rollout, high)
        if len(rollout.layers) > 1:
            canvas.text(0, high + 0.62, name, size=10, form="bold", align="left")
        _axes(canvas, grid)
        (_cells if grid.readable else _pixels)(canvas, grid, heads)
        _legend(canvas, heads)
    canvas.notes(
        [
            "A row for each token that is written, a column for each that stands before; "
            "coloured are the tokens that heads take to write the one at the right end of "
            "the row. A head without colour in a row takes nothing. i, j, …: the indices "
            "of the number that is written.",
            *rollout.remarks,
        ]
    )
    canvas.heading(legible(rollout.title, 60), rollout.facts)
    return canvas.finish()


@dataclass(frozen=True)
class _Grid:
    """Where rows and columns of a matrix lie.

    Attributes:
        rollout: What is drawn.
        high: The upper edge.
    """

    rollout: Rollout
    high: float

    @property
    def cell(self) -> float:
        """The side of a cell."""
        count = len(self.rollout.tokens)
        side = min(LARGEST, WIDEST / count)
        return side if side >= READABLE else NARROWER / count

    @property
    def readable(self) -> bool:
        """Whether tokens are written into cells."""
        return self.cell >= READABLE

    @property
    def rows(self) -> range:
        """The tokens that are written."""
        return range(self.rollout.start, len(self.rollout.tokens))

    def box(self, row: int, column: int, part: int = 0, parts: int = 1) -> Box:
        """A cell, or one of some parts of it beside one another."""
        x, y = column * self.cell, self.high - (row - self.rollout.start) * self.cell
        wide = self.cell / parts
        left = x + part * wide
        return Box(left, y - self.cell, left + wide, y)

    @property
    def whole(self) -> Box:
        """All cells."""
        count = len(self.rollout.tokens)
        low = self.high - len(self.rows) * self.cell
        return Box(0.0, low, count * self.cell, self.high)

    def groups(self, places: range) -> Iterator[tuple[str, range]]:
        """Neighbours with a name in common: a row, or all that led to one number."""
        cells = [name.removesuffix(" so far") for name in self.rollout.called]
        for row, members in groupby(places, lambda at: _row(cells[at])):
            listed = list(members)
            if len({cells[at] for at in listed}) == len(listed):
                named_groups = [(row, listed)]
            else:
                named_groups = [
                    (n, list(m)) for n, m in groupby(listed, cells.__getitem__)
                ]
            for name, each in named_groups:
                if name:
                    yield name, range(each[0], each[-1] + 1)


def _row(name: str) -> str:
    """A name without its last index: ``D[2, ·]`` of ``D[2, 3]``."""
    head, bracket, inside = name.partition("[")
    *before, _ = inside.rstrip("]").split(", ") if bracket else [""]
    return f"{head}[{', '.join(before)}, ·]" if before else head


def _axes(canvas: Canvas, grid: _Grid) -> None:
    """Tokens and groups along the top, names on the left, thin lines between groups."""
    whole, rollout = grid.whole, grid.rollout
    canvas.rectangle(whole, fill="none", edge=SOFT)
    everything = range(len(rollout.tokens))
    free = -1.0
    for stem, places in grid.groups(everything):
        ends = grid.box(rollout.start, places[0]).left, grid.box(0, places[-1]).right
        for x in ends:
            line = np.array([[x, whole.low], [x, whole.high]])
            canvas.curve(line, color=FAINT, width=0.5, order=2.5)
        wide = measure(stem, 7)[0]
        middle = sum(ends) / 2
        if middle - wide / 2 > free:
            over = 0.3 if grid.readable else 0.12
            canvas.text(middle, whole.high + over, stem, size=7, color=SOFT)
            free = middle + wide / 2 + 0.04
    for stem, places in grid.groups(grid.rows):
        edges = grid.box(places[0], 0).high, grid.box(places[-1], 0).low
        for y in edges:
            line = np.array([[whole.left, y], [whole.right, y]])
            canvas.curve(line, color=FAINT, width=0.5, order=2.5)
        if not grid.readable and edges[0] - edges[1] > 0.1:
            canvas.text(-0.06, sum(edges) / 2, stem, size=7, color=SOFT, align="right")
    if grid.readable:
        _names(canvas, grid)


def _names(canvas: Canvas, grid: _Grid) -> None:
    for place, token in enumerate(grid.rollout.tokens):
        box = grid.box(grid.rollout.start, place)
        _write(canvas, Box(box.left, box.high, box.right, box.high + 0.2), token)
    for row in grid.rows:
        last, y = row == grid.rollout.answer, grid.box(row, 0).middle[1]
        name = legible(grid.rollout.called[row], 24)
        canvas.text(
            -0.06, y, name, size=7, color=INK, align="right", form=bold_if(last)
        )


def _write(canvas: Canvas, box: Box, token: str, bold: bool = False) -> None:
    """A token, as large as the box allows."""
    text = legible(token, 8)
    size = 8.5 * (box.right - box.left) / LARGEST
    size = min(
        size, 0.94 * size * (box.right - box.left) / measure(text, size, bold)[0]
    )
    canvas.text(*box.middle, text, size=size, form=bold_if(bold))


def _cells(canvas: Canvas, grid: _Grid, heads: Sequence[Head]) -> None:
    """Each cell that is taken, in the colours of the heads, with its token."""
    weights = np.array([head.weights for head in heads])
    for row in grid.rows:
        for column in np.flatnonzero((weights[:, row] > LEAST).any(axis=0)).tolist():
            own = np.flatnonzero(weights[:, row, column] > LEAST).tolist()
            for part, head in enumerate(own):
                fill = _shade(_color(head), float(weights[head, row, column]))
                box = grid.box(row, column, part, len(own))
                canvas.rectangle(box, fill=fill, order=2)
            _write(canvas, grid.box(row, column), grid.rollout.tokens[column])
        last = row == grid.rollout.answer
        box = grid.box(row, row)
        canvas.rectangle(
            box, fill=WRITTEN, edge=INK if last else SOFT, width=1.4 if last else 0.5
        )
        _write(canvas, box, grid.rollout.tokens[row], bold=True)


def _pixels(canvas: Canvas, grid: _Grid, heads: Sequence[Head]) -> None:
    """Draw the cells as one image, if they are too small to be drawn one by one."""
    rollout = grid.rollout
    start, count = rollout.start, len(rollout.tokens)
    picture = np.ones((count, count, 3))
    taken = np.zeros((count, count))
    for i, head in enumerate(heads):
        shown = head.weights > LEAST
        shades = _shades(_color(i), head.weights[shown])
        # Where several heads look, their colours are mixed.
        before = taken[shown][:, None]
        picture[shown] = (picture[shown] * before + shades) / (before + 1)
        taken += shown
    own = np.arange(start, count)
    picture[own, own] = to_rgb(SOFT)
    canvas.image(grid.whole, picture[start:])
    # Of the answer the row is named, for its cell is too small to be seen.
    y = grid.box(rollout.answer, 0).middle[1]
    text = f"{rollout.called[rollout.answer]} {rollout.tokens[rollout.answer]}"
    canvas.text(grid.whole.right + 0.06, y, text, size=8, form="bold", align="left")


def _color(head: int) -> str:
    return PALETTE[head % len(PALETTE)]


def _shade(color: str, weight: float) -> str:
    return to_hex(tuple(_shades(color, np.array([weight]))[0].tolist()))


def _shades(color: str, weights: Points) -> Points:
    """``(weights, 3)``: the more weight, the more colour; by the square root."""
    amount = 0.7 * np.sqrt(np.minimum(weights, 1.0))[:, None]
    shades: Points = amount * np.array(to_rgb(color)) + (1 - amount) * to_rgb(PAPER)
    return shades


def _legend(canvas: Canvas, heads: Sequence[Head]) -> None:
    """A coloured square for each head, in rows below the matrix."""
    box = canvas.extent
    x, y = 0.0, box.low - 0.22
    for i, head in enumerate(heads):
        name = legible(head.name, 60)
        width = measure(name, 9)[0]
        if x > 0 and x + width + 0.3 > max(box.right, 5.0):
            x, y = 0.0, y - 0.22
        fill = _shade(_color(i), 1.0)
        canvas.rectangle(Box(x, y - 0.07, x + 0.14, y + 0.07), fill=fill)
        canvas.text(x + 0.2, y, name, size=9, align="left")
        x += width + 0.5
