"""The work that may be spent on a file: small files of much work are refused midway."""

from dataclasses import dataclass, field

from krohn.verify.errors import Rejected

MOST_STEPS = 20_000_000
"""A step looks at one value, in a microsecond or less, or at a hundred in arrays."""
STEPS_A_NUMBER = 300
"""So many more for each number that a file states of its Program. By trial, not derived:
the largest tables seen, those of PermReset4 by permutation-reset at T = 33, take 224 for
each of their 140,502 numbers beyond the first twenty million."""


@dataclass
class Effort:
    """Steps that are left; the same file takes the same steps on every machine.

    Attributes:
        left: How many.
    """

    left: int = field(default_factory=lambda: MOST_STEPS)

    def allow(self, numbers: int) -> None:
        """More steps for a file that states so many numbers."""
        self.left += STEPS_A_NUMBER * numbers

    def spend_on_arrays(self, entries: int) -> None:
        """Spend the work on the entries of arrays."""
        self.spend(entries // 100)

    def spend(self, steps: int) -> None:
        """Take steps off before they are taken.

        Raises:
            Rejected: If none are left.
        """
        self.left -= steps
        if self.left < 0:
            raise Rejected(
                f"the proof takes more than {MOST_STEPS:,} steps, and {STEPS_A_NUMBER} "
                "for each number that the file states of its Program"
            )
