"""The inputs of claims about posterior heads."""

from dataclasses import dataclass

from krohn.program.inputs import Box, Inputs, Stated, whole_numbers
from krohn.program.strict_json import real


@dataclass(frozen=True)
class UnitVectors(Inputs):
    """The unit vectors of letters, up to so many; each is answered by itself."""

    letters: int
    length: int

    def __str__(self) -> str:
        return f"each of the {self.letters} letters, of up to {self.length} at once"


def points_or_letters(source: Stated, claim: Stated, length: int | None) -> Inputs:
    """Observations: letters, or vectors within a radius."""
    letters, (most,) = len(source["letters"]), whole_numbers(length)
    if "radius" not in source:
        return UnitVectors(letters, most)
    radius = real(source["radius"])
    return Box(((-radius, radius),) * letters, 1, most)
