"""Targets of attention as model files state them: tables, and how far they may be off.

H_t(x) = F(Σ_s softmax_s[ρ(x(t), x(s))] f(x(s))), x(s) ∈ [0, 1] (Jiang and Li, eq. 8). ρ and
f are given at the points k/N, F at points of its range; between them the tables are joined
by lines, ρ along each axis. The *modulus* of a table says how far the function that is
meant may be from what the table says: 0 where the table itself is meant.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from krohn.program.errors import demand
from krohn.program.stated import Matrix, Part, Size, StatedSource
from krohn.program.strict_json import reals

MOST_POINTS, MOST_RANK, MOST_VALUES, LONGEST = 2**12, 64, 16, 4096


def is_power(n: int) -> bool:
    """Whether a whole number is a power of two."""
    return n >= 1 and n & (n - 1) == 0


@dataclass(frozen=True)
class OuterFunction(Part):
    """A function by its values on a grid.

    Attributes:
        low: The first point.
        step: From point to point; a power of two, and ``low`` a multiple of it.
        values: ``(points, n)``: F_i at low + k·step.
    """

    low: float
    step: float
    values: Matrix

    def __post_init__(self) -> None:
        demand(self.values.ndim == 2, "F needs a row for each point")
        few = 2 <= len(self.values) <= MOST_POINTS + 1
        demand(few, "F has too few points, or too many")
        demand(np.isfinite(self.values), "F is not finite everywhere")
        fine = self.step > 0 and np.frexp(self.step)[0] == 0.5
        demand(fine, "the step of F is no power of two")
        first = self.low / self.step
        fine = first == np.rint(first) and abs(first) < 2**40
        demand(fine, "the points of F are no binary fractions")

    @property
    def high(self) -> float:
        """The last point."""
        return self.low + self.step * (len(self.values) - 1)


class Moduli(NamedTuple):
    """How far the functions that are meant may be from the tables, at any point."""

    rho: float = 0.0
    f: float = 0.0
    outer: float = 0.0

    @staticmethod
    def json_type() -> Any:
        """Their type on file."""
        return tuple[float, float, float]

    @classmethod
    def of(cls, said: Any) -> Self:
        """From a list of them.

        Raises:
            Refused: If these are no three numbers.
        """
        listed = reals(said, 1).tolist()
        demand(len(listed) == 3, "there are three moduli")
        return cls(*listed)

    def to_wire(self) -> list[float]:
        """A list of them."""
        return list(map(float, self))


@dataclass(frozen=True, eq=False, repr=False)
class StatedAttentionTarget(StatedSource):
    """A weighted mean, F(Σ softmax[ρ] f).

    Attributes:
        name: What it is called.
        length: τ: the most vectors of an input.
        left: ``(N + 1, r)``: with ``right`` what ρ is: ρ(i/N, j/N) = left_i · right_j.
        right: ``(N + 1, r)``.
        f: ``(N + 1, n)``.
        outer: F; None for the identity.
        moduli: How far ρ, f and F may be off the tables.
        causal: Whether the sum is over s ≤ t.
    """

    kind = "attention-target"
    name: str
    length: Size
    left: Matrix
    right: Matrix
    f: Matrix
    outer: OuterFunction | None
    moduli: Moduli
    causal: bool

    def __post_init__(self) -> None:
        demand(1 <= self.length <= LONGEST, f"a length lies between 1 and {LONGEST}")
        points = len(self.left) - 1
        demand(points > 1 and is_power(points), "a grid has 2, 4, 8, … pieces")
        demand(points <= MOST_POINTS, f"at most {MOST_POINTS} pieces")
        tables = (self.left, self.right, self.f)
        demand(all(t.ndim == 2 for t in tables), "a table has a row for each point")
        demand(all(len(t) == points + 1 for t in tables), "tables of several sizes")
        demand(self.left.shape == self.right.shape, "ρ has two ranks")
        demand(1 <= self.left.shape[1] <= MOST_RANK, f"a rank of 1 to {MOST_RANK}")
        demand(1 <= self.f.shape[1] <= MOST_VALUES, f"f has 1 to {MOST_VALUES} numbers")
        demand(all(np.isfinite(t).all() for t in tables), "a table is not finite")
        for modulus in self.moduli:
            demand(0 <= modulus < np.inf, "a modulus is a number from 0 on")
        if self.outer is not None:
            same = self.outer.values.shape[1] == self.f.shape[1]
            demand(same, "F is one function for each number of f")

    @property
    def points(self) -> int:
        """N."""
        return len(self.left) - 1
