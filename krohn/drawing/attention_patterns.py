"""Drawing attention patterns side by side, a square each."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from krohn.drawing.canvas import SOFT, Box, Canvas, DrawingError, Points, legible
from krohn.drawing.rnn import SIGNED

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

    Raises:
        DrawingError: If there is nothing to draw.
    """
    if not patterns:
        raise DrawingError("there is no attention pattern to draw")
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
