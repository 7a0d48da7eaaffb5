"""Many small pictures on one sheet, each with its name."""

import io
from collections.abc import Sequence
from math import ceil

import numpy as np
from matplotlib.figure import Figure
from matplotlib.image import imread

from krohn.drawing.canvas import INK, Points, font, legible, measure

DOTS = 200
"""Pixels for an inch, as in saved pictures: thumbnails are copied pixel by pixel."""
CAPTION, LARGEST = 24, 6.0
"""Room for a name, in pixels, and its largest size, in points."""
PAD = 10
SHADES = 15
"""Of each colour. Fewer make a smaller file, more are not seen."""


def draw_sheet(
    named: Sequence[tuple[str, Figure]],
    columns: int = 5,
    room: tuple[int, int] = (200, 200),
    colours: Sequence[tuple[str, str]] = (),
) -> Figure:
    """Pictures side by side, each made small, with its name above.

    Args:
        named: The names and the pictures, which need no titles of their own.
        columns: How many stand side by side.
        room: How wide and how high one may be, in pixels.
        colours: What stands below: words, each with the colour that it explains.
    """
    wide, high = columns * room[0], ceil(len(named) / columns) * (room[1] + CAPTION)
    end = high
    high += bool(colours) * (CAPTION + PAD)
    sheet = Figure(figsize=(wide / DOTS, high / DOTS), dpi=DOTS)
    axes = sheet.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    names = [legible(name) for name, _ in named]
    widest = max(measure(name, LARGEST, True)[0] for name in names) * DOTS
    face = font(min(LARGEST, LARGEST * (room[0] - PAD) / widest), "bold")
    for number, (name, (_, figure)) in enumerate(zip(names, named, strict=True)):
        row, column = divmod(number, columns)
        left, top = column * room[0], row * (room[1] + CAPTION)
        pixels = _thumbnail(figure, (room[0] - PAD, room[1] - PAD))
        x = left + (room[0] - pixels.shape[1]) // 2
        y = top + CAPTION + (room[1] - pixels.shape[0]) // 2
        axes.imshow(
            pixels,
            extent=(x, x + pixels.shape[1], y + pixels.shape[0], y),
            interpolation="nearest",
        )
        axes.text(
            *(left + room[0] / 2, top + CAPTION / 2 + 2, name),
            ha="center",
            va="center",
            color=INK,
            fontproperties=face,
            parse_math=False,
        )
    x = PAD
    for text, colour in colours:
        axes.text(
            *(x, end + CAPTION / 2, f"■ {text}"),
            va="center",
            color=colour,
            fontproperties=font(LARGEST),
        )
        x += round(measure(f"■ {text}", LARGEST)[0] * DOTS) + 3 * PAD
    axes.set(xlim=(0, wide), ylim=(high, 0))
    axes.set_aspect("auto")
    return sheet


def _thumbnail(figure: Figure, room: tuple[int, int]) -> Points:
    """The pixels of a picture that is as large as the room allows, of few colours."""
    buffer, inches = io.BytesIO(), figure.get_size_inches()
    figure.savefig(buffer, format="png", dpi=min(np.array(room) / inches))
    buffer.seek(0)
    return np.round(imread(buffer) * SHADES) / SHADES
