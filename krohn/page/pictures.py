"""Pictures inside a page: data that is shown as an image, whatever names are in it."""

import base64
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.image import imsave

from krohn.algebra.automaton import Automaton
from krohn.drawing import DrawingError, draw_machine, draw_model, render
from krohn.network.modelfile import ModelFile


@dataclass(frozen=True)
class Picture:
    """A picture, or why there is none.

    Attributes:
        title: What it shows.
        data: A ``data:`` address; empty if it could not be drawn.
        width: In pixels.
        height: In pixels.
        reason: Why it could not be drawn.
    """

    title: str
    data: str
    width: int
    height: int
    reason: str = ""


def of_machine(machine: Automaton) -> Picture:
    """States and arrows."""
    return _picture("The machine", lambda: draw_machine(machine))


def of_model(file: ModelFile) -> Picture:
    """What lies where in the residual stream."""
    return _picture("What lies where in the network", lambda: draw_model(file))


def _picture(title: str, draw: Callable[[], Figure]) -> Picture:
    try:
        figure = draw()
    except DrawingError as error:
        return Picture(title, "", 0, 0, str(error))
    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    return Picture(title, _address("svg+xml", render(figure, ".svg")), width, height)


def of_pattern(weights: Sequence[Sequence[float]]) -> str:
    """A ``data:`` address of a pixel for each weight, a row for each position that looks.

    Colour goes by the square root of the weight, so that small weights are seen.
    """
    found = np.sqrt(np.clip(np.array(weights, dtype=np.float64), 0.0, 1.0))
    buffer = io.BytesIO()
    imsave(buffer, found, cmap="Blues", vmin=0.0, vmax=1.0, format="png")
    return _address("png", buffer.getvalue())


def _address(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
