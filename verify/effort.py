"""What may be spent on a file: small files that cost much are refused on the way."""

from dataclasses import dataclass, field

from verify.errors import Rejected

MOST_STEPS = 20_000_000
"""A step looks at one value, in a microsecond or less, or at a hundred in arrays."""


@dataclass
class Effort:
    """Steps that are left; the same file takes the same steps on every machine.

    Attributes:
        left: How many.
    """

    left: int = field(default_factory=lambda: MOST_STEPS)

    def spend_on_arrays(self, entries: int) -> None:
        """The same for the entries of arrays that are worked out."""
        self.spend(entries // 100)

    def spend(self, steps: int) -> None:
        """Take steps off before they are taken.

        Raises:
            Rejected: If none are left.
        """
        self.left -= steps
        if self.left < 0:
            raise Rejected(f"the proof takes more than {MOST_STEPS:,} steps")
