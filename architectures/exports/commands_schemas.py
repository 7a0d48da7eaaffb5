"""Types of exports and circuits as JSON."""

from typing import Literal, NotRequired, TypedDict

from krohn.architectures.exports.circuit import Variable
from krohn.schemas.parts import (
    Verdict,
)


class CircuitBlock(TypedDict):
    """A block: how many heads it has, and the widths of its hidden layers."""

    layer: int
    heads: int
    mlp: list[int]


Edge = TypedDict("Edge", {"from": str, "to": str, "variable": str})


class Circuit(TypedDict):
    """Which component of a network writes which variable, and who reads it.

    Attributes:
        length: The longest word.
        features: The dimensions of features of the position: the first, one past the last.
        directions: What each dimension of a variable adds to the stream; absent where that
            is the unit vector of the dimension.
        outputs: The variables that the answer is read from.
        edges: From the component that writes a variable to each that reads it.
    """

    format: Literal["krohn-circuit"]
    version: Literal[1]
    name: str | None
    letters: list[str]
    length: int
    blocks: list[CircuitBlock]
    variables: list[Variable]
    features: dict[str, tuple[int, int]]
    directions: NotRequired[list[list[float]]]
    outputs: list[str]
    edges: list[Edge]


class Exported(TypedDict):
    """An export, and how it answers beside the model file.

    Attributes:
        to: The library.
        arithmetic: What is computed there.
        verdict: That of the checker on what was written.
        proved: The same in a sentence, with what is proved, or why nothing is.
        classes: What classes are called by.
        words: How many words were run there.
        length: How long the longest are.
        deviation: By how much a logit differs at most.
        wrong: How many answers are wrong; no export is written that has one.
    """

    to: str
    directory: str
    arithmetic: str
    verdict: Verdict
    proved: str
    classes: Literal["states", "answers"]
    words: int
    length: int
    deviation: float
    against: Literal["the machine", "the source", "the network", "nothing"]
    wrong: Literal[0]
