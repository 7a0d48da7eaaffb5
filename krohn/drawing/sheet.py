"""Many small pictures on one sheet."""

import io
from collections.abc import Iterable
from math import ceil

from matplotlib.figure import Figure
from matplotlib.image import imread

COLUMNS = 5
SIDE, PIXELS = 1.0, 240
"""The longer side of a picture, in inches and in pixels."""


def draw_sheet(pictures: Iterable[Figure]) -> Figure:
    """Pictures side by side, each made small.

    Args:
        pictures: At least one.
    """
    shown = list(pictures)
    rows = ceil(len(shown) / COLUMNS)
    sheet = Figure(figsize=(SIDE * COLUMNS, SIDE * rows), layout="constrained")
    all_axes = sheet.subplots(rows, COLUMNS, squeeze=False).ravel()
    for axes in all_axes:
        axes.set_axis_off()
    for axes, figure in zip(all_axes, shown, strict=False):
        buffer = io.BytesIO()
        largest = max(figure.get_size_inches())
        figure.savefig(buffer, format="png", dpi=PIXELS / largest)
        buffer.seek(0)
        axes.imshow(imread(buffer))
    return sheet
