"""Limits on long computations: how much work and how many things they may take.

Work is counted in steps, never in seconds: the same input then gives the same result on
every machine and under every load. A step is a call of a small array operation, or a
thousand entries of a large one, whichever is more: a few microseconds of one core. The
counts are estimates; that they are the same each time is exact.
"""

from math import inf, isfinite
from typing import Any

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import near

ENTRIES = 1_000
"""The entries of an array that take about as long as the call itself."""

EFFORTS = {
    "low": 30_000,
    "normal": 300_000,
    "high": 3_000_000,
    "unlimited": inf,
}
"""Steps by name: a fraction of a second of one core, a second or two, a quarter of a
minute; and no end."""

NORMAL = EFFORTS["normal"]


MORE = "more than"
"""What the message of a limit of size has, and that of a limit of work has not."""


def depends_on_effort(what: str) -> bool:
    """Whether more work may find what was left out: limits of size are fixed."""
    return MORE not in what


class BudgetExceeded(KrohnError):
    """A computation was stopped because it reached its limit.

    Attributes:
        found: How many things had been found by then (a lower bound of the answer).
    """

    def __init__(self, message: str, found: int) -> None:
        super().__init__(message)
        self.found = found


class Budget:
    """The limits of a computation, its work so far, and the parts it left out for them.

    Attributes:
        steps: The most work.
        size: The largest number of things (elements, images, …) that may be kept.
        spent: The work so far.
    """

    def __init__(
        self, steps: float = inf, size: float = inf, whole: "Budget | None" = None
    ) -> None:
        self.steps, self.size, self.spent = steps, size, 0
        self._whole = whole
        self._cut: dict[str, None] = {}

    @property
    def left(self) -> float:
        """The steps that remain."""
        return max(self.steps - self.spent, 0)

    @property
    def is_exhausted(self) -> bool:
        """Whether no step remains."""
        return self.spent >= self.steps

    @property
    def cut(self) -> tuple[str, ...]:
        """The parts that were left out because a limit was reached, a sentence each."""
        return tuple(self._cut)

    def record(self) -> dict[str, Any]:
        """The limit and the omissions of the search, as JSON values.

        Returns:
            ``effort``, the steps it might take, null without end; ``cut_short``, the
            parts that it left out for that.
        """
        steps = int(self.steps) if isfinite(self.steps) else None
        return {"effort": steps, "cut_short": list(self.cut)}

    def part(self, steps: float = inf, size: float | None = None) -> "Budget":
        """A budget for a part of the computation.

        Work of the part and its omissions count here as well.

        Args:
            steps: The most work of the part; no more than is left here in any case.
            size: Its own size; by default the size of this budget.
        """
        return Budget(min(steps, self.left), self.size if size is None else size, self)

    def spend(self, entries: int, calls: int = 1) -> None:
        """Count work.

        Args:
            entries: How many entries of arrays are made or compared.
            calls: How many array operations do it.
        """
        self._spend(calls + int(entries) // ENTRIES)

    def _spend(self, steps: int) -> None:
        self.spent += steps
        if self._whole is not None:
            self._whole._spend(steps)

    def reserve(self, what: str, entries: int, calls: int = 1) -> None:
        """Count work that is done as a whole, before it is done.

        Args:
            what: The step that takes the work, for the message.
            entries: How many entries of arrays are made or compared.
            calls: How many array operations do it.

        Raises:
            BudgetExceeded: If fewer steps remain; none is counted then.
        """
        steps = calls + int(entries) // ENTRIES
        if steps > self.left:
            raise BudgetExceeded(
                f"{what} would take {steps:,} steps, and {self.left:,.0f} remain", 0
            )
        self._spend(steps)

    def check(self, found: int, what: str) -> None:
        """Go on only if the limits are kept.

        Args:
            found: How many things there are so far.
            what: Their noun, in the plural.

        Raises:
            BudgetExceeded: If there are too many, or no step remains.
        """
        if found > self.size:
            raise BudgetExceeded(f"{MORE} {self.size:,.0f} {what}", found)
        if self.is_exhausted:
            raise BudgetExceeded(
                f"stopped after {self.steps:,.0f} steps with {found:,} {what}", found
            )

    def leave_out(self, what: str) -> None:
        """Note that something was left out because a limit was reached."""
        self._cut.setdefault(what)
        if self._whole is not None:
            self._whole.leave_out(what)


def steps_of(effort: str | float) -> float:
    """The steps that a level of effort stands for, or a number of steps as it is.

    Raises:
        KrohnError: If it is neither a level nor a number of at least 0.
    """
    if isinstance(effort, str) and effort in EFFORTS:
        return EFFORTS[effort]
    try:
        steps = float(effort.replace(",", "") if isinstance(effort, str) else effort)
    except ValueError:
        steps = -1
    if steps < 0 or steps != steps or (isinstance(effort, str) and not isfinite(steps)):
        raise KrohnError(
            f"--effort takes {', '.join(EFFORTS)} or a number of steps, not {effort!r}"
            f"{near(str(effort), EFFORTS)}"
        )
    return steps
