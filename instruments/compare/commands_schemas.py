"""The type of a comparison as JSON."""

from typing import Literal, NotRequired, TypedDict

from krohn.instruments.compare.comparison.belief_result import BeliefComparison
from krohn.instruments.compare.comparison.result import Comparison

COMPARISON = Comparison | BeliefComparison
"""What ``krohn compare`` prints."""


class Texts(TypedDict):
    """A set of texts in a folder.

    Attributes:
        format: How lines are written, and by which distribution prompts are drawn.
        train: How many texts there are for training.
        test: How many for testing, no prompt of which is in training.
        fewer_operators: Whether training has expressions of fewer operators, too.
        tokens: The names of the tokens, in their order.
        longest: Tokens of the longest text, with its end.
        files: The files with the texts, a line each.
    """

    source: str
    format: Literal["krohn", "feng"]
    seed: int
    train: int
    test: int
    fewer_operators: bool
    tokens: list[str]
    longest: int
    files: list[str]


Attending = TypedDict(
    "Attending",
    {
        "file": str,
        "construction": str,
        "attention": NotRequired[str],
        "depth": NotRequired[str],
        "scale": NotRequired[float],
        "seed": NotRequired[int],
        "beta": NotRequired[float],
        "worst S/P": NotRequired[float],
        "weight on top": float,
    },
)


Attention = TypedDict(
    "Attention",
    {
        "word": list[str],
        "networks": list[Attending],
        "variations": list[list[float]],
        "mean variation": float | None,
        "random baseline": float,
        "function error": float,
        "words": int,
        "length": int,
        "picture": NotRequired[str],
    },
)
