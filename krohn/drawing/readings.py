"""Drawing what the values of a coordinate say: squares for the states that they leave."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.algebra.cascade import Cascade
from krohn.algebra.decomposition.diagrams import BoolArray, Reading, say_context
from krohn.algebra.wording import count
from krohn.drawing.canvas import (
    FAINT,
    PALETTE,
    PAPER,
    SOFT,
    Box,
    Canvas,
    legible,
    measure,
)

MOST_STATES = 40
MOST_VALUES = 12
MOST_SHOWN = 9
REGION = 4.6
LABEL_SIZE = 6.5
ROW = 0.135
GAP = 0.1
BETWEEN = 0.22
BAR = 1.1
CORNER, CORNER_SIZE = 0.27, 5.5
"""The room above the squares for the words that say what rows and columns are."""
ROWS, COLUMNS = "value ↓", "state →"
LONGEST = 0.75
"""Of names of states that are read upwards, in inches."""
CAPTION = 0.15
MOST_CAPTION = 60
LEFT = PALETTE[0]
GONE = "#d9dde2"
DOT = 0.02


@dataclass(frozen=True, eq=False)
class Scale:
    """How wide the squares of a picture are, which columns of squares share.

    Attributes:
        order: ``(states,)``: which state each column stands for.
        labels: What stands above each column; empty where nothing fits.
        cell: The width of a square.
        counted: Whether there are too many states for squares.
        high: The room for what stands above.
        upwards: Whether it is read upwards.
    """

    order: IntArray
    labels: tuple[str, ...]
    cell: float
    counted: bool
    high: float = CORNER
    upwards: bool = False

    @property
    def width(self) -> float:
        """The width of the squares of one reading."""
        return BAR if self.counted else self.cell * len(self.labels)


def scale_of(cascade: Cascade, readings: Sequence[Sequence[Reading]]) -> Scale:
    """Squares as wide as the names of the states, or their numbers, where these fit.

    Longer names are read upwards.
    """
    order = _order(cascade, readings)
    states = tuple(legible(cascade.states[q]) for q in order.tolist())
    if len(states) > MOST_STATES:
        return Scale(order, states, ROW, True)
    numbers = tuple(str(i + 1) for i in range(len(states)))
    for labels in (states, numbers):
        longest = max(measure(label, LABEL_SIZE)[0] for label in labels) + 0.05
        cell = max(longest, ROW)
        if cell <= 0.45 and cell * len(states) <= REGION:
            return Scale(order, labels, cell, False)
        if longest <= LONGEST and ROW * len(states) <= REGION:
            high = max(CORNER, longest + 0.03)
            return Scale(order, labels, ROW, False, high, upwards=True)
    # Too narrow for all numbers: one in five helps to count.
    some = tuple(n if int(n) % 5 == 0 or n == "1" else "" for n in numbers)
    return Scale(order, some, 0.108, False)


def _order(cascade: Cascade, readings: Sequence[Sequence[Reading]]) -> IntArray:
    """The states as they are given, or by coordinates where sets get fewer gaps."""
    given = np.arange(len(cascade.states))
    lifted = np.lexsort(cascade.lift.T[::-1]) if cascade.lift.size else given
    shown = [r.refined for of_one in readings for r in of_one[:MOST_SHOWN]]
    if not shown:
        return given
    before, after = (
        sum(int((np.diff(sets[:, order].astype(np.int8)) > 0).sum()) for sets in shown)
        for order in (given, lifted)
    )
    return lifted if after < 0.9 * before else given


@dataclass(frozen=True, eq=False)
class Readings:
    """The readings of one component, arranged.

    Attributes:
        shown: Those that are drawn.
        hidden: How many there are besides.
        columns: How many stand side by side.
        values: How many values are drawn of each.
        names: The names of the values.
        scale: The width of the squares.
        captions: For each that is drawn at which values of components above it holds;
            empty where these do not matter.
    """

    shown: tuple[Reading, ...]
    captions: tuple[str, ...]
    hidden: int
    columns: int
    values: int
    names: tuple[str, ...]
    scale: Scale

    @property
    def cut(self) -> int:
        """How many values are not drawn."""
        return len(self.names) - self.values

    @property
    def margin(self) -> float:
        """The room for the names of the values."""
        return _margin(self.names)

    @property
    def one(self) -> float:
        """The width of one reading with its caption."""
        squares = self.margin + self.scale.width
        return max(squares, *(measure(c, LABEL_SIZE)[0] for c in self.captions))

    @property
    def above(self) -> float:
        """The room for a caption."""
        return CAPTION if any(self.captions) else 0.0

    @property
    def width(self) -> float:
        """The width of all, with the remark below them."""
        squares = self.columns * self.one + (self.columns - 1) * BETWEEN
        return max(squares, measure(self.remark, LABEL_SIZE)[0] if self.remark else 0.0)

    @property
    def step(self) -> float:
        """The height of one reading with the gap below it."""
        return self.above + self.values * ROW + GAP

    @property
    def height(self) -> float:
        """The height of all, with names above and the remark below."""
        rows = -(-len(self.shown) // self.columns)
        return self.top + rows * self.step - GAP + self.bottom

    @property
    def top(self) -> float:
        """The room for the names of the states."""
        return 0.0 if self.scale.counted else self.scale.high

    @property
    def bottom(self) -> float:
        """The room for the remark."""
        return 0.16 if self.remark else 0.0

    @property
    def remark(self) -> str:
        """The remark on contexts and values that are not drawn."""
        parts = [f"{self.cut} more values"] if self.cut else []
        if self.hidden:
            parts.append(count(self.hidden, "more context"))
        return f"… {' and '.join(parts)}" if parts else ""


def _margin(names: Sequence[str]) -> float:
    corner = max(measure(words, CORNER_SIZE)[0] for words in (ROWS, COLUMNS))
    return max(corner, *(measure(name, LABEL_SIZE)[0] for name in names)) + 0.07


def arrange_readings(
    readings: tuple[Reading, ...],
    names: tuple[str, ...],
    scale: Scale,
    most: int,
    write: Callable[[Reading], str],
) -> Readings | None:
    """The readings that fit into a box; None if no value says anything.

    Args:
        readings: What the values say.
        names: The names of the values.
        scale: The width of the squares.
        most: How many rows of squares may stand above each other.
        write: What says at which values of components above a reading holds.
    """
    if not readings:
        return None
    different = _by_counts(readings) if scale.counted else readings
    values = len(names) if len(names) <= MOST_VALUES else MOST_VALUES - 2
    names = tuple(legible(name, 8) for name in names)
    fitting = int((REGION + BETWEEN) / (_margin(names) + scale.width + BETWEEN))
    rows = max(1, most // (values + 1))
    count = min(len(different), rows * max(1, fitting), MOST_SHOWN)
    # As square as the room allows, and no column longer than the first.
    columns = min(max(1, fitting), count, -(-count // min(rows, count)) + 1)
    hidden, shown = len(readings) - count, different[:count]
    captions = tuple(map(write, shown))
    made = Readings(shown, captions, hidden, columns, values, names, scale)
    while made.columns > 1 and made.width > REGION + made.margin:
        made = replace(made, columns=made.columns - 1)
    return made


def caption(cascade: Cascade, component: int, reading: Reading) -> str:
    """The values of components above at which a reading holds, as people say it."""
    return legible(say_context(cascade, component, reading), MOST_CAPTION)


def _by_counts(readings: tuple[Reading, ...]) -> tuple[Reading, ...]:
    """One reading for each way in which the values share out states by number."""
    representatives: dict[bytes, Reading] = {}
    for reading in readings:
        representatives.setdefault(reading.refined.sum(axis=1).tobytes(), reading)
    return tuple(representatives.values())


def draw_readings(canvas: Canvas, x: float, y: float, readings: Readings) -> None:
    """Draws readings from the corner ``(x, y)`` on to the right and down."""
    for number, reading in enumerate(readings.shown):
        row, column = divmod(number, readings.columns)
        corner = x + column * (readings.one + BETWEEN)
        left = corner + readings.margin
        top = y - readings.above - readings.top - row * readings.step
        below = y - (readings.top + row * readings.step if row else 0.0)
        words = readings.captions[number]
        canvas.text(corner, below - CAPTION / 2, words, size=LABEL_SIZE, align="left")
        if row == 0 and readings.top:
            _states(canvas, left, top, readings.scale)
        _reading(canvas, left, top, reading, readings)
    if readings.remark:
        low = y - readings.height + 0.06
        canvas.text(
            x, low, readings.remark, size=LABEL_SIZE + 0.5, color=SOFT, align="left"
        )


def _states(canvas: Canvas, left: float, y: float, scale: Scale) -> None:
    """What stands above the squares, which begin at the height ``y``."""
    for number, words in enumerate((ROWS, COLUMNS)):
        at = y + 0.07 + 0.1 * number
        canvas.text(
            *(left - 0.05, at, words), size=CORNER_SIZE, color=SOFT, align="right"
        )
    for q, label in enumerate(scale.labels):
        at = left + (q + 0.5) * scale.cell
        if scale.upwards:
            canvas.text(
                *(at, y + 0.03, label), size=LABEL_SIZE, color=SOFT, align="upwards"
            )
        else:
            canvas.text(at, y + 0.07, label, size=LABEL_SIZE, color=SOFT)


def _reading(
    canvas: Canvas, left: float, top: float, reading: Reading, readings: Readings
) -> None:
    for value in range(readings.values):
        middle = top - (value + 0.5) * ROW
        name = readings.names[value]
        canvas.text(left - 0.05, middle, name, size=LABEL_SIZE, align="right")
        if readings.scale.counted:
            _bar(canvas, left, middle, reading, value)
        else:
            possible, inside = (
                sets[readings.scale.order]
                for sets in (reading.possible, reading.refined[value])
            )
            _squares(canvas, (left, middle), possible, inside, readings.scale.cell)


def _squares(
    canvas: Canvas,
    at: tuple[float, float],
    possible: BoolArray,
    inside: BoolArray,
    cell: float,
) -> None:
    for i, (open_, kept) in enumerate(zip(possible, inside, strict=True)):
        x = at[0] + (i + 0.5) * cell
        if open_:
            box = Box.around(x, at[1], cell - 0.02, ROW - 0.025)
            canvas.rectangle(box, fill=LEFT if kept else GONE)
        else:
            canvas.rectangle(Box.around(x, at[1], DOT, DOT), fill=FAINT)


def _bar(canvas: Canvas, left: float, y: float, reading: Reading, value: int) -> None:
    """How many states a value leaves of those that are possible."""
    all_of, some = int(reading.possible.sum()), int(reading.refined[value].sum())
    length, high = BAR - 0.62, ROW - 0.03
    whole = Box(left, y - high / 2, left + length, y + high / 2)
    canvas.rectangle(whole, fill=GONE)
    part = Box(left, whole.low, left + length * some / all_of, whole.high)
    canvas.rectangle(part, fill=LEFT)
    canvas.text(
        whole.right + 0.05, y, f"{some} of {all_of}", size=LABEL_SIZE, align="left"
    )


def key_entries(counted: bool) -> tuple[tuple[str, str], ...]:
    """The colours and what they mean."""
    left, gone = "the machine may be in this state", "not with this value"
    if counted:
        return ((LEFT, "states that the machine may be in"), (GONE, gone))
    return ((LEFT, left), (GONE, gone), (PAPER, "ruled out by components above"))
