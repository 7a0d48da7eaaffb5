"""A blank figure whose unit is one inch, and what its pictures have in common.

With inches as data units, text and shapes keep their proportions whatever is drawn, and
the figure can be cut to what lies on it.
"""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Circle, Patch, PathPatch, Polygon, Rectangle
from matplotlib.path import Path
from matplotlib.textpath import text_to_path

from krohn.algebra.errors import KrohnError
from krohn.program.quoting import on_a_line

Points = npt.NDArray[np.float64]

INK = "#222222"
SOFT = "#5f6670"
FAINT = "#c3c8ce"
PAPER = "#ffffff"
PALETTE = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#aa4499",
    "#e69f00",
    "#56b4e9",
    "#222222",
    "#8a8a00",
)
SIGNED = LinearSegmentedColormap.from_list(
    "signed", [PALETTE[1], "#ffffff", PALETTE[0]]
)
"""Colours that colour-blind readers tell apart (after Okabe and Ito)."""

MARGIN = 0.15
FAMILY = "DejaVu Sans"


Form = Literal["plain", "bold", "italic"]


def bold_if(bold: bool) -> Form:
    """The form of a text that is bold or not."""
    return "bold" if bold else "plain"


class DrawingError(KrohnError):
    """Something cannot be drawn; the message says what to do instead."""


def legible(name: str, limit: int = 40) -> str:
    """A name on one line, cut to ``limit`` characters, control characters escaped."""
    return on_a_line(name, limit)


def font(size: float, form: Form = "plain") -> FontProperties:
    """The font of all pictures."""
    return FontProperties(
        family=FAMILY,
        size=size,
        weight="bold" if form == "bold" else "normal",
        style="italic" if form == "italic" else "normal",
    )


@lru_cache(maxsize=4096)
def measure(text: str, size: float, bold: bool = False) -> tuple[float, float]:
    """Width and height of a text in inches; lines are 1.25 sizes apart."""
    lines = text.split("\n")
    with warnings.catch_warnings():
        # A script that the font lacks is drawn as boxes, which is no fault to report.
        warnings.simplefilter("ignore")
        face = font(size, bold_if(bold))
        widths = [
            text_to_path.get_text_width_height_descent(line, face, False)[0]
            for line in lines
        ]
    return max(widths) / 72, 1.25 * size * len(lines) / 72


@dataclass(frozen=True)
class Box:
    """A rectangle on the page.

    Attributes:
        left: Least x.
        low: Least y.
        right: Greatest x.
        high: Greatest y.
    """

    left: float
    low: float
    right: float
    high: float

    @classmethod
    def around(cls, x: float, y: float, width: float, height: float) -> "Box":
        """The box of this size centred at ``(x, y)``."""
        return cls(x - width / 2, y - height / 2, x + width / 2, y + height / 2)

    @property
    def middle(self) -> tuple[float, float]:
        """The centre."""
        return (self.left + self.right) / 2, (self.low + self.high) / 2

    def meets(self, other: "Box") -> bool:
        """Whether two boxes have a point in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.low < other.high
            and other.low < self.high
        )

    def holds(self, points: Points) -> int:
        """How many of the points ``(n, 2)`` lie in the box."""
        inside = (points > (self.left, self.low)) & (points < (self.right, self.high))
        return int(inside.all(axis=1).sum())


@dataclass
class Canvas:
    """A drawing in inches, with its extent.

    Attributes:
        figure: What is drawn on.
        boxes: Around everything drawn so far.
        bare: Whether titles, legends and remarks are left out, as in a thumbnail.
    """

    figure: Figure = field(default_factory=Figure)
    boxes: list[Box] = field(default_factory=list)
    bare: bool = False

    def __post_init__(self) -> None:
        self._axes: Any = self.figure.add_axes((0.0, 0.0, 1.0, 1.0))
        self._axes.set_axis_off()

    @property
    def extent(self) -> Box:
        """The smallest box around everything drawn."""
        return Box(
            min((b.left for b in self.boxes), default=0.0),
            min((b.low for b in self.boxes), default=0.0),
            max((b.right for b in self.boxes), default=1.0),
            max((b.high for b in self.boxes), default=1.0),
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 9,
        color: str = INK,
        align: str = "center",
        form: Form = "plain",
    ) -> Box:
        """Text centred vertically at ``y``; ``align`` says what ``x`` is of it.

        Where it is ``"upwards"``, the text is read upwards from ``y`` on, centred at ``x``.
        """
        width, height = measure(text, size, form == "bold")
        if align == "upwards":
            return self._text_upwards(x, y, text, font(size, form), color)
        left = x - width * {"left": 0.0, "center": 0.5, "right": 1.0}[align]
        box = Box(left, y - height / 2, left + width, y + height / 2)
        self._axes.text(
            *(x, y, text),
            ha=align,
            va="center",
            color=color,
            fontproperties=font(size, form),
            parse_math=False,
            zorder=5,
        )
        self.boxes.append(box)
        return box

    def _text_upwards(
        self, x: float, y: float, text: str, face: FontProperties, color: str
    ) -> Box:
        long, high = measure(text, face.get_size(), face.get_weight() == "bold")
        self._axes.text(
            *(x, y, text),
            ha="center",
            va="bottom",
            rotation=90,
            color=color,
            fontproperties=face,
            parse_math=False,
            zorder=5,
        )
        self.boxes.append(box := Box(x - high / 2, y, x + high / 2, y + long))
        return box

    def curve(
        self,
        points: Points,
        *,
        color: str = INK,
        width: float = 1.2,
        dashes: tuple[float, Sequence[float]] | None = None,
        order: float = 1,
    ) -> None:
        """A cubic Bézier curve of four control points, or a line through others."""
        codes = [Path.MOVETO, *[Path.CURVE4] * 3] if len(points) == 4 else None
        self._add(
            PathPatch(
                Path(points, codes),
                fill=False,
                edgecolor=color,
                linewidth=width,
                linestyle=dashes or "-",
                capstyle="butt",
                zorder=order,
            ),
            points,
        )

    def polygon(self, points: Points, color: str, order: float = 2) -> None:
        """A filled polygon."""
        self._add(Polygon(points, facecolor=color, linewidth=0, zorder=order), points)

    def circle(
        self,
        x: float,
        y: float,
        radius: float,
        *,
        fill: str = PAPER,
        edge: str = INK,
        width: float = 1.2,
    ) -> None:
        """A circle, above all lines."""
        shape = Circle((x, y), radius, facecolor=fill, edgecolor=edge, linewidth=width)
        shape.set_zorder(3)
        corners = np.array([[x - radius, y - radius], [x + radius, y + radius]])
        self._add(shape, corners)

    def rectangle(
        self,
        box: Box,
        *,
        fill: str,
        edge: str = "none",
        width: float = 0.8,
        order: float = 3,
        alpha: float = 1.0,
    ) -> None:
        """A rectangle."""
        size = (box.right - box.left, box.high - box.low)
        shape = Rectangle(
            (box.left, box.low), *size, facecolor=fill, edgecolor=edge, linewidth=width
        )
        shape.set_zorder(order)
        shape.set_alpha(alpha)
        self._axes.add_patch(shape)
        self.boxes.append(box)

    def image(
        self,
        box: Box,
        values: Points,
        colors: Colormap | None = None,
        limit: float | None = None,
    ) -> None:
        """A matrix as a picture, first row on top, colours from −limit to limit.

        Without colours ``(rows, columns, 3)``: the matrix holds them.
        """
        self._axes.imshow(
            values,
            extent=(box.left, box.right, box.low, box.high),
            cmap=colors,
            vmin=None if limit is None else -limit,
            vmax=limit,
            interpolation="nearest",
            aspect="auto",
            zorder=2,
        )
        self.boxes.append(box)

    def _add(self, patch: Patch, points: Points) -> None:
        self._axes.add_patch(patch)
        low, high = points.min(axis=0), points.max(axis=0)
        self.boxes.append(Box(*map(float, (*low, *high))))

    def arrow(
        self,
        points: Points,
        *,
        color: str = INK,
        width: float = 1.2,
        head: float = 0.11,
        order: float = 1,
    ) -> None:
        """A curve as in `curve` with a head at its end."""
        self.curve(points, color=color, width=width, order=order)
        self.head(points[-1], points[-1] - points[-2], color, head, order + 0.5)

    def head(
        self, tip: Points, along: Points, color: str, size: float, order: float = 2
    ) -> None:
        """An arrow head that points along a direction."""
        unit = along / max(float(np.hypot(*along)), 1e-9)
        side = np.array([-unit[1], unit[0]]) * size * 0.36
        base = tip - unit * size
        self.polygon(np.array([tip, base + side, base - side]), color, order)

    def to_itself(self, box: Box, name: str) -> None:
        """An arrow from the top of a box back to it, with a name."""
        turns = [(0.3, 0), (0.3, 0.42), (-0.3, 0.42), (-0.3, 0)]
        middle, top = box.middle[0], box.high
        self.arrow(np.array([(middle + x, top + y) for x, y in turns]))
        self.text(middle, top + 0.42, name)

    def legend(self, entries: Iterable[tuple[str, str]]) -> None:
        """A stroke for each name and its colour, in rows below everything drawn so far."""
        if self.bare:
            return
        box = self.extent
        x, y = box.left, box.low - 0.25
        for name, color in entries:
            width = measure(name, 9)[0]
            if x > box.left and x + width + 0.4 > max(box.right, box.left + 4.5):
                x, y = box.left, y - 0.22
            self.arrow(np.array([[x, y], [x + 0.3, y]]), color=color, width=1.8)
            self.text(x + 0.37, y, name, color=color, align="left")
            x += width + 0.65

    def notes(self, lines: Iterable[str]) -> None:
        """Small print below everything drawn so far."""
        if self.bare:
            return
        wide = max(5.0, self.extent.right - self.extent.left)
        for line in lines:
            for part in wrap(line, wide, 8):
                box = self.extent
                self.text(
                    *(box.left, box.low - 0.14, part), size=8, color=SOFT, align="left"
                )

    def heading(self, title: str, subtitle: str) -> None:
        """A title with a line of facts, above everything drawn so far."""
        if self.bare:
            return
        wide = max(5.0, self.extent.right - self.extent.left)
        for part in reversed(wrap(subtitle, wide, 9)):
            box = self.extent
            at = (box.left, box.high + 0.16)
            self.text(*at, part, size=9, color=SOFT, align="left")
        box = self.extent
        self.text(
            *(box.left, box.high + 0.18, title), size=13, form="bold", align="left"
        )

    def finish(self) -> Figure:
        """The figure, cut to what is drawn."""
        box = self.extent
        low, high = (box.left - MARGIN, box.right + MARGIN), (box.low, box.high)
        self._axes.set_xlim(*low)
        self._axes.set_ylim(high[0] - MARGIN, high[1] + MARGIN)
        self._axes.set_aspect("auto")
        self.figure.set_size_inches(low[1] - low[0], high[1] - high[0] + 2 * MARGIN)
        return self.figure


def wrap(text: str, width: float, size: float) -> list[str]:
    """A text in lines no wider than ``width`` inches, broken between words."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and measure(longer, size)[0] > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
