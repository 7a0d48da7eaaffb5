"""Functions of finitely many encoded inputs as model files state them: all their values."""

from dataclasses import dataclass
from math import prod

from krohn.program.errors import demand
from krohn.program.stated import Matrix, StatedSource

MOST_INPUTS, MOST_LENGTH = 100_000, 2**10
"""A function is checked on all inputs, which takes some seconds at most."""


@dataclass(frozen=True, eq=False)
class StatedGridFunction(StatedSource):
    """A function on a grid, by its values.

    Attributes:
        name: What it is called.
        pieces: For each position its points, ``(points, d)``.
        values: ``(inputs, positions)``: what is right at each position, for each choice of
            points, that of the last position the fastest.
    """

    kind = "grid-function"
    name: str
    pieces: tuple[Matrix, ...]
    values: Matrix

    def __post_init__(self) -> None:
        few = 1 <= len(self.pieces) <= MOST_LENGTH
        demand(few, "a function has a position at least, and not too many")
        for piece in self.pieces:
            demand(piece.size > 0, "each position needs a point")
            same = piece.shape[1] == self.pieces[0].shape[1]
            demand(same, "points are of different dimensions")
        count = prod(self.sizes)
        demand(count <= MOST_INPUTS, f"more than {MOST_INPUTS:,} inputs")
        whole = self.values.shape == (count, len(self.pieces))
        demand(whole, "a value is missing, or one is too many")

    @property
    def sizes(self) -> list[int]:
        """How many points each position has."""
        return list(map(len, self.pieces))
