"""Drawing a state space model: its layers, what they multiply by and what they add."""

from typing import TYPE_CHECKING

import numpy as np

from krohn.algebra.wording import count, listed
from krohn.architectures.state_space.statement import Layer
from krohn.drawing.canvas import (
    INK,
    SOFT,
    Box,
    Canvas,
    legible,
    measure,
)
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray

if TYPE_CHECKING:
    pass


MOST_LAYERS, MOST_VALUES = 64, 4


def draw_state_space(canvas: Canvas, file: ModelFile) -> list[str]:
    """Draws the layers from left to right, each with its coordinates and its table.

    Returns:
        Remarks to put below.
    """
    shape = file.architecture
    x, last = 0.0, _box(canvas, 0.0, [f"{shape.vocabulary} letters"])
    for i, layer in enumerate(shape.layers[:MOST_LAYERS]):
        x = last.right + 0.55
        box = _box(canvas, x, _lines(file, i, layer))
        _arrow(canvas, last, box)
        canvas.to_itself(box, "a")
        last = box
    end = _box(canvas, last.right + 0.55, [f"{shape.outputs} outputs"])
    _arrow(canvas, last, end)
    left = len(shape.layers) - MOST_LAYERS
    more = [f"{count(left, 'layer')} more not shown."] if left > 0 else []
    how = "a letter of the layer chooses a" if shape.selective else "a is fixed"
    return [
        f"h ← a ⊙ h + b(letter), {how}; a table of the letter and of h before it says the "
        "letter of the next layer.",
        *more,
    ]


def _lines(file: ModelFile, i: int, layer: Layer) -> list[str]:
    a, b = (file.tensors[f"layers.{i}.{name}"] for name in ("decay", "input"))
    return [
        f"layer {i}",
        f"{count(layer.coordinates, 'coordinate')}",
        f"a = {_values(a)}",
        f"b = {_values(b)}",
        f"table of {layer.hidden:,} units",
        f"says {count(layer.symbols, 'letter')}",
    ]


def _values(numbers: FloatArray) -> str:
    """The different numbers of a tensor, the first ones of many."""
    return listed((f"{x:.10g}" for x in np.unique(numbers)), MOST_VALUES)


def _box(canvas: Canvas, x: float, lines: list[str]) -> Box:
    width = max(measure(legible(line, 60), 9)[0] for line in lines) + 0.3
    high = 0.19 * len(lines) + 0.16
    box = Box(x, -high / 2, x + width, high / 2)
    canvas.rectangle(box, fill="#e6e8eb", edge=INK)
    for i, line in enumerate(lines):
        y = box.high - 0.17 - 0.19 * i
        canvas.text(x + width / 2, y, legible(line, 60), color=INK if i else SOFT)
    return box


def _arrow(canvas: Canvas, first: Box, last: Box) -> None:
    canvas.arrow(np.array([[first.right, 0], [last.left, 0]]))
