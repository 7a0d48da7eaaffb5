"""The type of a comparison as JSON."""

from typing import NotRequired, TypedDict

from krohn.instruments.compare.comparison.belief_result import BeliefComparison
from krohn.instruments.compare.comparison.result import Comparison

COMPARISON = Comparison | BeliefComparison
"""What ``krohn compare`` prints."""


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
