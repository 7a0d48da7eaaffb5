"""Means over what is selected exactly: three targets of attention with explicit weights.

Each vector says which others it means; the answer is their mean, weighed by whole numbers.
They are the demonstrations of Jiang and Li, appendix B.1, as exact functions (A28):

- *nearest point*: ``(x, y, candidate)``: the candidate with the least distance to the
  point; the mean of all that are equally near;
- *centre of gravity*: ``(y, mass, segment)``: Σ m y / Σ m over the own segment. A segment
  is no function of two inputs x(t), x(s) of the paper, so its number is part of the input;
- *selection*: ``(y_1, y_2, c_1, …, c_τ)``: the mean of the y of vectors 1 to τ, of vector v
  c_v times.
"""

import re
from dataclasses import dataclass

import numpy as np

from krohn.kinds.attention_targets.statement_selected_mean import (
    GRAVITY,
    NEAREST,
    SELECTION,
    SIZES,
    Form,
    StatedSelectedMean,
)
from krohn.program.domains import FloatArray
from krohn.program.errors import Refused, demand, told_as


@dataclass(frozen=True)
class Column:
    """A number of an input vector: a real one from 0 to 1, or one of low/scale, ….

    Attributes:
        name: What it is called.
        scale: Numbers are multiples of 1/scale.
        low: The first multiple.
        high: The last.
        real: Whether it is any number from 0 to 1 instead.
    """

    name: str
    scale: int = 1
    low: int = 0
    high: int = 1
    real: bool = False


class SelectedMean(StatedSelectedMean):
    """A target, with its reference and its inputs."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The numbers of an input vector."""
        if self.form == NEAREST:
            (grid,) = self.sizes
            axes = (Column(name, grid, 0, grid) for name in "xy")
            return (*axes, Column("candidate"))
        if self.form == GRAVITY:
            masses, segments = self.sizes
            last = max(segments - 1, 1)
            mass = Column("mass", low=1, high=masses)
            return Column("y", real=True), mass, Column("segment", high=last)
        (picks,) = self.sizes
        counts = (Column(f"c{v + 1}", high=picks) for v in range(self.length))
        return Column("y1", real=True), Column("y2", real=True), *counts

    @property
    def values(self) -> int:
        """How many of the numbers, the first ones, are averaged."""
        return 1 if self.form == GRAVITY else 2

    def weights(self, x: FloatArray) -> FloatArray:
        """``(batch, t, t)``: what each vector of ``(batch, t, d)`` gives each, exactly."""
        if self.form == NEAREST:
            points = np.rint(x[..., :2] * self.sizes[0])
            apart = points[:, :, None] - points[:, None]
            far = (apart**2).sum(axis=3)
            far = np.where(x[:, None, :, 2] == 1, far, np.inf)
            return np.asarray(far == far.min(axis=2, keepdims=True), np.float64)
        if self.form == GRAVITY:
            same = x[:, :, None, 2] == x[:, None, :, 2]
            return np.asarray(same * x[:, None, :, 1])
        return x[..., 2:]

    def run(self, x: FloatArray) -> FloatArray:
        """``(batch, t, n)``: the means of inputs ``(batch, t, d)``, in long doubles."""
        weights = self.weights(x).astype(np.longdouble)
        mean = (weights @ x[..., : self.values]) / weights.sum(axis=2, keepdims=True)
        return np.asarray(mean, np.float64)

    @property
    def rounding(self) -> float:
        """How far `run` can be off."""
        return float((self.length + 4) * np.finfo(np.longdouble).eps + 2.0**-53)

    def problem(self, x: FloatArray) -> str:
        """Why ``(t, d)`` is no input; empty if it is one."""
        for i, column in enumerate(self.columns):
            at = x[:, i] * column.scale
            inside = (at >= column.low) & (at <= column.high)
            known = inside if column.real else inside & (at == np.rint(at))
            if not known.all():
                t = int(np.argmin(known))
                of = "" if column.scale == 1 else f"/{column.scale}"
                what = "a number" if column.real else "a whole number"
                return (
                    f"{column.name} of vector {t + 1} is {x[t, i]:g}; it is {what} from "
                    f"{column.low} to {column.high}{of and ', divided by ' + of[1:]}"
                )
        if self.form == NEAREST and not x[:, 2].any():
            return "one vector at least must be a candidate"
        if self.form == SELECTION:
            if len(x) != self.length:
                return f"a selection is of {self.length} vectors, not {len(x)}"
            if not x[:, 2:].any(axis=1).all():
                return "each vector must pick another at least once, or itself"
        return ""


_NAME = re.compile(r"(Nearest|Gravity|Select)(\d+)(?::(.+))?")
_USUAL = {NEAREST: (16,), GRAVITY: (4, 5), SELECTION: (3,)}
_FORMS: dict[str, Form] = {"Nearest": NEAREST, "Gravity": GRAVITY, "Select": SELECTION}


def find_by_name(text: str) -> SelectedMean | None:
    """The target of a name; None if it is the name of none.

    ``Nearest6`` has six points that look for six candidates, on a grid of 16;
    ``Gravity10:masses=4,segments=5`` up to ten masses; ``Select8:picks=3`` eight vectors.

    Raises:
        Refused: If an option is unknown, or a number is out of range.
    """
    match = _NAME.fullmatch(text)
    if match is None:
        return None
    form = _FORMS[match[1]]
    options = dict(zip(SIZES[form], _USUAL[form], strict=True))
    for part in match[3].split(",") if match[3] else []:
        option, _, number = part.partition("=")
        known = option in options and number.isdecimal() and len(number) < 9
        demand(known, f"{text}: options are {', '.join(options)}, not {part!r}")
        options[option] = int(number)
    demand(len(match[2]) < 9, f"{text}: too long")
    length = int(match[2]) * (2 if form == NEAREST else 1)
    with told_as(Refused, f"{text}: "):
        return SelectedMean(text, form, length, **options)
