"""The inputs of claims about chains of thought, and about lists of numbers."""

from collections import Counter
from dataclasses import dataclass

from krohn.program.inputs import Inputs, Stated, whole_numbers
from krohn.program.strict_json import whole


@dataclass(frozen=True)
class Prompts(Inputs):
    """All prompts, and the whole text after each.

    Attributes:
        sizes: How many tokens may stand at each place of a prompt.
        tokens: How many tokens are read.
    """

    sizes: tuple[int, ...]
    tokens: int

    def __str__(self) -> str:
        alike = Counter(size for size in self.sizes if size > 1)
        powers = (f"{n}^{k}" if k > 1 else str(n) for n, k in alike.items())
        return f"the whole text after each of the {' · '.join(powers) or 1} prompts"


def prompts(source: Stated, claim: Stated, length: int | None) -> Inputs:
    """All prompts of a chain of thought."""
    places = whole(source["prompt"], 2)
    return Prompts(
        tuple((places[:, 1] - places[:, 0] + 1).tolist()), *whole_numbers(length)
    )


SIZES = ("shortest", "longest", "largest")
"""Of lists: how many numbers they have at least and at most, and how large these are."""


@dataclass(frozen=True)
class Lists(Inputs):
    """All lists of numbers from 0 to the largest, and the whole text after each."""

    shortest: int
    longest: int
    largest: int

    def __str__(self) -> str:
        exact = self.shortest == self.longest
        many = f"{'' if exact else 'up to '}{self.longest}"
        return (
            f"the whole text of every list of {many} numbers from 0 to {self.largest}"
        )


def lists(source: Stated, claim: Stated, length: int | None) -> Inputs:
    """All lists of numbers."""
    return Lists(*whole_numbers(*(source[name] for name in SIZES)))
