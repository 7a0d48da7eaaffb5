"""The tokens that are predicted, and which are given; and probabilities that sum to 1."""

import re
from dataclasses import dataclass
from typing import Self

import numpy as np

from krohn.program.domains import FloatArray
from krohn.program.errors import demand

SUM = 1e-9
"""How far probabilities may add up to something else than 1, for they are rounded."""
LATEST = 9
"""The last time that a task names: times are digits."""
_TASK = re.compile(r"(?P<predicted>[1-9]{1,2})given(?P<given>[1-9])")


@dataclass(frozen=True)
class Task:
    """The token that is predicted, and the tokens that are given.

    Attributes:
        predicted: One time, or two that ascend.
        given: The time of the token that is known; another one.
    """

    predicted: tuple[int, ...]
    given: int

    def __post_init__(self) -> None:
        times = (*self.predicted, self.given)
        ascends = list(self.predicted) == sorted(set(self.predicted))
        few = len(self.predicted) in (1, 2) and all(1 <= t <= LATEST for t in times)
        apart = self.given not in self.predicted
        demand(
            few and ascends and apart,
            f"{self} is no task: one time from 1 to {LATEST} is predicted, or two that "
            "ascend, given another, as 2given1 or 13given2",
        )

    def to_wire(self) -> str:
        """Its name, as `of` reads it."""
        return str(self)

    def __str__(self) -> str:
        return f"{''.join(map(str, self.predicted))}given{self.given}"

    @staticmethod
    def json_type() -> type[str]:
        """Its type on file."""
        return str

    @classmethod
    def of(cls, text: str) -> Self:
        """The task of a name such as ``23given1``.

        Raises:
            Refused: If it is none.
        """
        match = _TASK.fullmatch(text) if type(text) is str else None
        known = "one time or two that ascend, given another, as 2given1 or 13given2"
        demand(match is not None, f"{text!r} is no task; say {known}")
        assert match is not None
        return cls(tuple(map(int, match["predicted"])), int(match["given"]))


def check_sums(what: str, columns: FloatArray) -> None:
    """Refuse columns that do not add up to 1, by the name of the worst."""
    sums = columns.sum(axis=0)
    off = int(np.abs(sums - 1).argmax())
    demand(
        abs(sums[off] - 1) <= SUM,
        f"column {off + 1} of the {what} adds up to {sums[off]:.9g}, not to 1",
    )
