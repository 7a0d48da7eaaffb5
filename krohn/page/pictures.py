"""Pictures inside a page: data that is shown as an image, whatever names are in it."""

import base64
from collections.abc import Callable
from dataclasses import dataclass

from matplotlib.figure import Figure

from algebra.automaton import Automaton
from krohn.drawing import DrawingError, draw_machine, draw_model, render
from network.modelfile import ModelFile


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
    coded = base64.b64encode(render(figure, ".svg")).decode("ascii")
    return Picture(title, f"data:image/svg+xml;base64,{coded}", width, height)
