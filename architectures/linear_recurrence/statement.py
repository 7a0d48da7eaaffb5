"""Linear RNNs of real vectors."""

from dataclasses import dataclass
from typing import Literal

from krohn.program.architecture import Architecture, Shapes
from krohn.program.stated import Size

BANDS = ("hidden.own", "hidden.before", "hidden.after")
"""With which a unit takes what it, the unit before and the unit after hold."""


@dataclass(frozen=True)
class LinearRecurrence(Architecture):
    """h_t = W h_{t−1} + U x_t, y_t = C h_t + D x_t, from h_0 = 0."""

    kind = "linear-recurrence"
    hidden: Size
    inputs: Size
    outputs: Size
    form: Literal["banded", "dense"]

    @property
    def shapes(self) -> Shapes:
        """Matrices stand transposed."""
        n, inputs, outputs = self.hidden, self.inputs, self.outputs
        shapes: Shapes = {"input.weight": (inputs, n), "unembed.weight": (n, outputs)}
        shapes["skip.weight"] = inputs, outputs
        if self.form == "dense":
            return {**shapes, "hidden.weight": (n, n)}
        return {**shapes, **dict.fromkeys(BANDS, (n,))}


@dataclass(frozen=True)
class StartedRecurrence(LinearRecurrence):
    """The same from a start, h_0."""

    kind = "started-recurrence"

    @property
    def shapes(self) -> Shapes:
        """The start beside what all have."""
        return {**super().shapes, "hidden.start": (self.hidden,)}
