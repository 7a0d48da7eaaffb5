"""Limits on long computations: how much time and how many things they may take."""

import math
from dataclasses import dataclass, field
from time import monotonic

from algebra.errors import KrohnError


class BudgetExceeded(KrohnError):
    """A computation was stopped because it reached its limit.

    Attributes:
        found: How many things had been found by then (a lower bound of the answer).
    """

    def __init__(self, message: str, found: int) -> None:
        super().__init__(message)
        self.found = found


@dataclass(frozen=True)
class Budget:
    """What a computation may spend; the clock starts when the budget is made.

    Attributes:
        seconds: The longest time.
        size: The largest number of things (elements, images, …) that may be kept.
    """

    seconds: float = math.inf
    size: float = math.inf
    start: float = field(default_factory=monotonic, compare=False)

    def spent(self) -> float:
        """The seconds since the budget was made."""
        return monotonic() - self.start

    def check(self, found: int, what: str) -> None:
        """Go on only if the limits are kept.

        Args:
            found: How many things there are so far.
            what: What they are, in the plural.

        Raises:
            BudgetExceeded: If there are too many, or the time is over.
        """
        if found > self.size:
            raise BudgetExceeded(f"more than {self.size:,.0f} {what}", found)
        if self.spent() > self.seconds:
            raise BudgetExceeded(
                f"stopped after {max(self.seconds, 0):.3g} s with {found:,} {what}",
                found,
            )
