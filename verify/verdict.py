"""What a verdict rests on: values that only those make who have shown them.

What the checker has proved is a `Proved`. Beside it stand complete runs, and what z3 says
of ideal networks. A sentence about truth is the text of one of these, and of nothing else.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from krohn.program.inputs import Inputs
from krohn.verify.checker.verdict import Proved as Proved

IDEAL = "the ideal network: hard attention over the rationals, nothing rounded"


@dataclass(frozen=True)
class AllRun:
    """All inputs of a domain were run, and every answer, one of some classes, was right.

    Attributes:
        inputs: The domain.
        about: What else was run with each, after a comma.
    """

    inputs: Inputs
    about: str = ""

    def __str__(self) -> str:
        return f"right on {self.inputs}, run as here{self.about}"


@dataclass(frozen=True)
class Ideal:
    """By z3: an ideal network is right on a domain."""

    inputs: Inputs

    def __str__(self) -> str:
        return f"right on {self.inputs}, on {IDEAL}"


@dataclass(frozen=True)
class Tables:
    """By z3: inputs near codes give outputs near theirs, in MLPs over the rationals."""

    tables: int
    rows: int
    noise: Fraction
    error: Fraction

    def __str__(self) -> str:
        return (
            f"{self.tables} tables with {self.rows} rows, over the rationals: inputs "
            f"within {self.noise} of their codes give outputs within {self.error} of theirs"
        )


@dataclass(frozen=True)
class Steps:
    """By z3: steps of a chain of thought say what their rules say, over the rationals."""

    steps: int
    noise: Fraction
    error: Fraction

    def __str__(self) -> str:
        return (
            f"{self.steps} steps over the rationals: for all real numbers within their "
            f"bounds, delivered within {self.noise}, what is said is within "
            f"{self.error} of the rule"
        )


@dataclass(frozen=True)
class OfTensors:
    """What holds of the tensors of a module in Python, whose code nothing is proved of.

    Attributes:
        whose: Whose tensors, and how they are run, up to a colon and a blank.
        ground: What holds of them.
    """

    whose: str
    ground: "Ground"

    def __str__(self) -> str:
        return f"{self.whose}{self.ground}"


Ground: TypeAlias = Proved | AllRun | Ideal | Tables | Steps | OfTensors
