"""Attention sharpening: a loss that is small where heads look at few letters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from krohn.algebra.errors import KrohnError

Form = Literal["entropy", "l2", "linf"]


@dataclass(frozen=True)
class Sharpening:
    """The mean of a concave function of each row of attention (thesis, section 3.5.3).

    Attributes:
        weight: Its share in the loss at its highest (thesis: 0.01 to 30).
        form: The entropy of the row, or minus its 2-norm or its largest entry.
        start: The step at which it sets in (thesis: 0, 2000 or 5000).
        rise: Steps over which it then rises linearly. (The thesis also lets it
            oscillate, and does not say how.)

    Raises:
        KrohnError: If a number makes no sense.
    """

    weight: float
    form: Form = "entropy"
    start: int = 0
    rise: int = 0

    def __post_init__(self) -> None:
        if not self.weight > 0:
            raise KrohnError(f"sharpening has a weight above 0, not {self.weight}")
        if self.start < 0 or self.rise < 0:
            raise KrohnError("sharpening starts and rises in no negative steps")
        if self.form not in get_args(Form):
            known = ", ".join(get_args(Form))
            raise KrohnError(f"forms of sharpening are {known}, not {self.form!r}")

    def strength(self, step: int) -> float:
        """Its share in the loss at a step, counted from 0."""
        if step < self.start:
            return 0.0
        passed = step - self.start + 1
        return self.weight * min(1.0, passed / max(self.rise, 1))

    def __call__(self, attention: Sequence[Tensor], step: int) -> Tensor:
        """The term of the loss.

        Args:
            attention: For each layer ``(count, heads, length, length)``.
            step: Counted from 0.

        Raises:
            KrohnError: If there is no attention.
        """
        if not attention:
            raise KrohnError("there is no attention to sharpen in this network")
        found = [_FORMS[self.form](rows.float()).mean() for rows in attention]
        return self.strength(step) * torch.stack(found).mean()


def _entropy(rows: Tensor) -> Tensor:
    # At 0, where a weight is masked, the slope is infinite.
    seen = rows.clamp_min(torch.finfo(rows.dtype).tiny)
    return -(seen * seen.log()).sum(dim=-1)


def _minus_2_norm(rows: Tensor) -> Tensor:
    return -rows.square().sum(dim=-1).sqrt()


def _minus_largest(rows: Tensor) -> Tensor:
    return -rows.amax(dim=-1)


_FORMS: dict[Form, Callable[[Tensor], Tensor]] = {
    "entropy": _entropy,
    "l2": _minus_2_norm,
    "linf": _minus_largest,
}
