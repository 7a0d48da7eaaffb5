"""The inputs of claims about targets of attention."""

from dataclasses import dataclass
from math import prod

from krohn.program.inputs import Box, Inputs, Stated, whole_numbers


@dataclass(frozen=True)
class Points(Inputs):
    """All choices of one point of a grid at each position."""

    lengths = ()
    count: int
    length: int

    def __str__(self) -> str:
        return f"all {self.count:,} inputs of {self.length} points of the grid"


def points(source: Stated, claim: Stated, length: int | None) -> Inputs:
    """All points of a grid."""
    return Points(prod(map(len, source["pieces"])), *whole_numbers(length))


def unit_interval(source: Stated, claim: Stated, length: int | None) -> Inputs:
    """All numbers from 0 to 1."""
    return Box(((0.0, 1.0),), 1, *whole_numbers(length))


@dataclass(frozen=True)
class Selections(Inputs):
    """All inputs of an exact selection (docs/proofs/attention_targets.md, T4).

    Attributes:
        form: What is selected.
        least: The fewest vectors.
        length: The most.
    """

    form: str
    least: int
    length: int

    def __str__(self) -> str:
        many = (
            f"{self.least} to {self.length}"
            if self.least < self.length
            else self.length
        )
        return f"all inputs of {many} {SELECTED[self.form]}"


SELECTED = {
    "nearest-point": "points of the grid, one a candidate",
    "centre-of-gravity": "vectors with masses and segments",
    "selection": "vectors, each of which picks one at least",
}


def selections(source: Stated, claim: Stated, length: int | None) -> Inputs:
    """All inputs of a selection."""
    (most,) = whole_numbers(length)
    least = most if source["form"] == "selection" else 1
    return Selections(str(source["form"]), least, most)
