"""The inputs that a claim is about: one type for each domain, read once from the header.

A reader of the checker says which inputs its proof covers by the same types; a claim is
proved only if both are equal (`krohn.verify.checker.network`). Whoever speaks of inputs
prints one of these.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeAlias

from krohn.program.slices import find, slice_sources
from krohn.program.strict_json import whole


@dataclass(frozen=True)
class Inputs:
    """A domain; what it is called stands in front of every statement about it.

    Attributes:
        lengths: Fields that bound how long inputs are: shorter ones are some of them.
    """

    lengths: ClassVar[tuple[str, ...]] = ("length", "tokens")


@dataclass(frozen=True)
class Words(Inputs):
    """All words over so many letters; of every length if there is no longest.

    Answers are right after each letter.
    """

    letters: int
    length: int | None

    def __str__(self) -> str:
        if self.length is None:
            return f"all words of every length over {self.letters} letters"
        n = self.length
        return f"all {self.letters}^{n} words of length {n}, and all shorter"


@dataclass(frozen=True)
class LegalPrefixes(Inputs):
    """All prefixes of nested brackets that are closed in the right order."""

    length: int

    def __str__(self) -> str:
        return f"all legal prefixes of {up_to(self.length, 'letters')}"


@dataclass(frozen=True)
class Box(Inputs):
    """All sequences of real vectors whose numbers lie in intervals.

    Attributes:
        intervals: The least and the largest value of each number of a vector.
        least: The fewest vectors of a sequence.
        length: The most; None for every length.
    """

    intervals: tuple[tuple[float, float], ...]
    least: int
    length: int | None

    def __str__(self) -> str:
        alike = len(set(self.intervals)) == 1
        each = self.intervals[:1] if alike else self.intervals
        many = f"{self.least} to {self.length}"
        if self.length is None:
            many = "any number of"
        ranges = ", ".join(
            f"{'x' if alike else f'x{k}'} in [{low!r}, {high!r}]"
            for k, (low, high) in enumerate(each, start=1)
        )
        size = f" of {len(self.intervals)} numbers" if len(self.intervals) > 1 else ""
        return (
            f"all inputs of {self.length if self.least == self.length else many} "
            f"vectors{size} with {ranges}"
        )


def contains(wider: Inputs, narrower: Inputs) -> bool:
    """Whether all inputs of one domain are some of another: the same, or shorter ones."""
    if type(wider) is not type(narrower):
        return False

    def fits(name: str) -> bool:
        bound, value = getattr(wider, name), getattr(narrower, name)
        if name == "least":
            return bool(bound <= value)
        if name in wider.lengths:
            return bound is None or (value is not None and bool(value <= bound))
        return bool(bound == value)

    return all(fits(field.name) for field in fields(wider))


def up_to(length: int | None, unit: str) -> str:
    """A length as people say it."""
    return "every length" if length is None else f"up to {length} {unit}"


# The inputs of each kind of source, from what a header states.


Stated: TypeAlias = Mapping[str, Any]


def of_source(source: Stated, claim: Stated, length: int | None) -> Inputs:
    """The inputs that a claim about a source is about.

    Args:
        source: As the header states it.
        claim: Likewise.
        length: T.

    Raises:
        LookupError: If something is missing, or the kind is unknown.
        Refused: If it is malformed.
        TypeError: If something is of another type.
        ValueError: If something is malformed.
    """
    inputs: Inputs = find(slice_sources()[source["kind"]].inputs)(source, claim, length)
    return inputs


def words(source: Stated, claim: Stated, length: int | None) -> Inputs:
    """All words over the letters of a source."""
    return Words(len(source["letters"]), length)


def whole_numbers(*numbers: Any) -> tuple[int, ...]:
    """Whole numbers of a header."""
    return tuple(int(whole(number, 0)) for number in numbers)
