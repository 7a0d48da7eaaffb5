"""Drawing a recurrent network: its recurrence, and its matrices side by side."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.errors import KrohnError
from krohn.architectures.recurrent.statement import MATRICES
from krohn.drawing.canvas import (
    INK,
    SIGNED,
    SOFT,
    Box,
    Canvas,
    Points,
    legible,
    measure,
)
from krohn.foreign import own_machine
from krohn.network.architecture import kind_of, sparse_matrices
from krohn.network.modelfile import ModelFile
from krohn.network.sparse import Sparse

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST = 5.2
MOST_CELLS = 500
MOST_ENTRIES = 2**24
"""Of a product of sparse matrices that is drawn."""
LABELLED = 0.14


class Sides(NamedTuple):
    """The labels beside the matrices.

    Attributes:
        letters: The letters by name.
        outputs: The states, or the entries of one.
        units: What each unit means; empty if that is unknown.
        meaning: The same in a sentence; empty likewise.
    """

    letters: tuple[str, ...]
    outputs: tuple[str, ...]
    units: list[str]
    meaning: str


def draw_rnn(canvas: Canvas, file: ModelFile) -> list[str]:
    """Draws the recurrence and the matrices U, W and R of h W + x U, h R.

    Returns:
        Remarks to put below.
    """
    shape, sides = file.architecture, sides_of(file)
    hidden, pruned = shape.hidden, sparse_matrices(shape)
    inputs, weight, out = _sparse(file) if pruned else _dense(file)
    kind = kind_of(shape)
    gates: str = getattr(kind.declared, "gates", "")
    cell = min(0.3, MOST / hidden)
    side = cell * hidden
    broad = side * max(1, len(gates))
    high, wide = (
        _length(n, cell, most)
        for n, most in ((shape.vocabulary, 1.4), (shape.outputs, 2.8))
    )
    limit = max(float(np.abs(m).max(initial=0.0)) for m in (inputs, weight, out)) or 1.0
    upper = Box(0, 0.25, broad, 0.25 + high)
    square = Box(0, -side, broad, 0)
    readout = Box(broad + 0.25, -side, broad + 0.25 + wide, 0)
    for box, matrix in ((upper, inputs), (square, weight), (readout, out)):
        canvas.image(box, matrix, SIGNED, limit)
        canvas.rectangle(box, fill="none", edge=SOFT)
    _name_sides(canvas, sides, (upper, square, readout))
    _recurrence(canvas, sides, f"{hidden:,} units, {kind.title if gates else 'ReLU'}")
    remarks = ["h ← ReLU(h W + x U + b), logits h R + c."]
    if gates:
        remarks = [f"Gates {', '.join(gates)} side by side; logits h R + c."]
    remarks += [f"Blue entries are positive, orange ones negative, up to {limit:g}."]
    return [*remarks, sides.meaning] if sides.meaning else remarks


def _dense(file: ModelFile) -> list[Points]:
    parts, t = ("input.weight", "hidden.weight"), file.tensors
    if "hidden.weight" in t:
        inner = [t[name] for name in parts]
    else:
        inner = [t[f"recurrent.weight_{part}_l0"].T for part in ("ih", "hh")]
    return [_pool_cells(matrix) for matrix in (*inner, t["unembed.weight"])]


def _sparse(file: ModelFile) -> list[Points]:
    matrices = {
        name: Sparse.from_tensors(file.tensors, name, columns)
        for name, columns in sparse_matrices(file.architecture).items()
    }
    fan = sum(_terms(matrices, name) for name in MATRICES)
    if fan > MOST_ENTRIES:
        raise KrohnError(
            f"a recurrence of {fan:,} entries is too large to draw (at most "
            f"{MOST_ENTRIES:,})"
        )
    hidden, inputs, out = (_drawn_cells(matrices, name) for name in MATRICES)
    return [inputs, hidden, out]


def _terms(matrices: dict[str, Sparse], name: str) -> int:
    """How many products of entries a matrix is made of that is a product."""
    if f"{name}.left" not in matrices:
        return 0
    left, right = matrices[f"{name}.left"], matrices[f"{name}.right"]
    return int(np.diff(right.offsets)[left.columns].sum())


def _drawn_cells(matrices: dict[str, Sparse], name: str) -> Points:
    """The largest entry of every cell of a matrix, or of the product that it is."""
    if f"{name}.left" not in matrices:
        matrix = matrices[f"{name}.weight"]
        return _cells(matrix.shape, matrix.rows, matrix.columns, matrix.values)
    left, right = matrices[f"{name}.left"], matrices[f"{name}.right"]
    from scipy import sparse

    product = sparse.coo_array(_matrix(left) @ _matrix(right))
    rows, columns = (places.astype(np.int64) for places in product.coords)
    whole = (left.shape[0], right.shape[1])
    return _cells(whole, rows, columns, product.data)


def _matrix(held: Sparse) -> "csr_array":
    from scipy.sparse import csr_array

    parts = (held.values, held.columns, held.offsets)
    return csr_array(parts, shape=held.shape)


def _cells(
    shape: tuple[int, int], rows: IntArray, columns: IntArray, values: Points
) -> Points:
    """The largest entry of every cell, as `_pool_cells` gives it."""
    high, wide = (min(MOST_CELLS, n) for n in shape)
    cells = np.zeros((high, wide))
    order = np.argsort(np.abs(values), kind="stable")
    at = rows[order] * high // shape[0], columns[order] * wide // shape[1]
    cells[at] = values[order]
    return cells


def _length(entries: int, cell: float, most: float) -> float:
    return max(cell * entries, min(LABELLED * 1.15 * entries, most))


def _pool_cells(matrix: Points) -> Points:
    """The largest entry of every cell, where a page has fewer than the matrix."""
    for axis in (0, 1):
        parts = min(MOST_CELLS, matrix.shape[axis])
        groups = np.array_split(matrix, parts, axis=axis)
        matrix = np.stack([_extreme(g, axis) for g in groups], axis=axis)
    return matrix


def _extreme(group: Points, axis: int) -> Points:
    chosen = np.abs(group).argmax(axis=axis)
    return np.asarray(
        np.take_along_axis(group, np.expand_dims(chosen, axis), axis).squeeze(axis)
    )


def sides_of(file: ModelFile) -> Sides:
    """The names of letters, units and outputs of an RNN, read from its header."""
    claim, hidden = file.claim, file.architecture.hidden
    if not claim.of_machine:
        letters, entries = claim.letters, claim.answers
        blocks = [f"{a}·{b}" for a in letters for b in entries]
        meaning = (
            "The units of the last letter hold the state, with α/2 added to each entry; "
            "all others are 0."
        )
        if len(blocks) != hidden:  # units of beliefs
            return Sides(letters, entries, [], "")
        return Sides(letters, entries, [legible(name, 14) for name in blocks], meaning)
    machine = own_machine(file)
    units = _rectangles(machine, hidden)
    meaning = (
        "A unit is on when the state before the last letter, and that letter, are named. A "
        "state alone: its only unit."
    )
    return Sides(machine.letters, machine.states, units, meaning if units else "")


def _rectangles(machine: Automaton, hidden: int) -> list[str]:
    """The meaning of each unit: states before and letters, or a state; empty if unknown."""
    from krohn.architectures.recurrent.build import Units  # much of the compiler

    units = Units.of(machine)
    if hidden != len(units.arrived):
        return []
    alive = [machine.states[q] for q in units.alive.tolist()]
    before, read = ([list[str]() for _ in range(hidden)] for _ in range(2))
    for unit, q in units.on.states.tolist():
        before[unit].append(alive[q])
    for unit, a in units.on.letters.tolist():
        read[unit].append(machine.letters[a])
    alone = np.bincount(units.arrived) == 1
    names = [
        alive[q] if alone[q] else f"{','.join(before[i])}·{','.join(read[i])}"
        for i, q in enumerate(units.arrived.tolist())
    ]
    return [legible(name, 14) for name in names]


def _name_sides(canvas: Canvas, sides: Sides, boxes: tuple[Box, Box, Box]) -> None:
    upper, square, readout = boxes
    _rows(canvas, upper, sides.letters)
    _rows(canvas, square, sides.units)
    _columns(canvas, readout, sides.outputs)
    for box, name, x in (
        (upper, "U: letter → unit", upper.left),
        (square, "W: unit → unit", square.left),
        (readout, "R: unit → output", readout.left),
    ):
        low = box.low - 0.12 if box is not upper else box.high + 0.12
        canvas.text(x, low, name, size=8, color=SOFT, align="left")


def _rows(canvas: Canvas, box: Box, names: tuple[str, ...] | list[str]) -> None:
    step = (box.high - box.low) / max(1, len(names))
    if step < LABELLED:
        return
    for i, name in enumerate(names):
        y = box.high - (i + 0.5) * step
        canvas.text(box.left - 0.06, y, legible(name, 14), size=7, align="right")


def _columns(canvas: Canvas, box: Box, names: tuple[str, ...]) -> None:
    step = (box.right - box.left) / max(1, len(names))
    shown = [legible(name, 14) for name in names]
    if step < max(measure(name, 7)[0] for name in shown) + 0.03:
        return
    for i, name in enumerate(shown):
        canvas.text(box.left + (i + 0.5) * step, box.high + 0.09, name, size=7)


def _recurrence(canvas: Canvas, sides: Sides, middle: str) -> None:
    """Letter to hidden units to state, and the hidden units back to themselves."""
    y, x = canvas.extent.high + 0.55, 0.0
    texts = (
        f"{len(sides.letters)} letters",
        middle,
        f"{len(sides.outputs)} outputs",
    )
    boxes = []
    for text in texts:
        width = measure(text, 9)[0] + 0.3
        boxes.append(Box(x, y - 0.17, x + width, y + 0.17))
        canvas.rectangle(boxes[-1], fill="#e6e8eb", edge=INK)
        canvas.text(x + width / 2, y, text)
        x += width + 0.6
    for first, last, name in ((boxes[0], boxes[1], "U"), (boxes[1], boxes[2], "R")):
        canvas.arrow(np.array([[first.right, y], [last.left, y]]))
        canvas.text((first.right + last.left) / 2, y + 0.13, name)
    canvas.to_itself(boxes[1], "W")
