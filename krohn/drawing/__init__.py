"""Pictures of machines, decompositions and compiled models, and how they are saved."""

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from krohn.drawing.attention import draw_rollout as draw_rollout
from krohn.drawing.canvas import PAPER, DrawingError as DrawingError
from krohn.drawing.cascade import draw_cascade as draw_cascade
from krohn.drawing.eggbox import draw_eggboxes as draw_eggboxes
from krohn.drawing.machine import draw_machine as draw_machine
from krohn.drawing.model import draw_model as draw_model
from krohn.network import ModelFileError
from krohn.program.writing import atomic_write

# What would otherwise differ from run to run or from one installation to the next.
_METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": "Krohn"},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": "Krohn", "Producer": None},
}
_SETTINGS: Any = {"svg.hashsalt": "krohn", "svg.fonttype": "none", "pdf.fonttype": 42}


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure as its file's name says; the same figure gives the same bytes.

    It gets a background if it has none: it may be shown on a dark page.

    Args:
        figure: What to write.
        path: A name that ends in ``.svg``, ``.png`` or ``.pdf``.

    Raises:
        DrawingError: If the name ends in anything else.
        MachineError: If the file system refuses.
    """
    check_suffix(path)
    if to_rgba(figure.get_facecolor())[3] < 1:
        figure.set_facecolor(PAPER)
    atomic_write(path, render(figure, Path(path).suffix.lower()))


def check_suffix(path: str | Path) -> None:
    """Refuse a file name that says no picture format, before anything is drawn.

    Raises:
        DrawingError: If the name does not end in ``.svg``, ``.png`` or ``.pdf``.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in _METADATA:
        raise DrawingError(
            f"{path}: no picture format goes by the ending {suffix!r}; "
            f"choose a name that ends in {', '.join(_METADATA)}"
        )


def render(figure: Figure, suffix: str) -> bytes:
    """The bytes of a figure in the format of ``.svg``, ``.png`` or ``.pdf``."""
    buffer = io.BytesIO()
    with rc_context(_SETTINGS), warnings.catch_warnings():
        # A script that the font lacks is drawn as boxes, which is no fault to report.
        warnings.filterwarnings("ignore", message=".*Glyph.*missing from")
        figure.savefig(buffer, format=suffix[1:], dpi=200, metadata=_METADATA[suffix])
    return buffer.getvalue()


def svg(drawn: Callable[[], Figure]) -> str | None:
    """The text of an SVG, for notebooks; None if there is no picture."""
    try:
        text = render(drawn(), ".svg").decode()
    except (DrawingError, ModelFileError):  # as of a network that no file says
        return None
    return text[text.index("<svg") :]
