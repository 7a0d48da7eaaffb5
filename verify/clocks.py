"""Functions of the position that repeat themselves: a clock instead of a count."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Clock:
    """Positions, of which those from ``start`` on are told apart modulo ``period`` only.

    Attributes:
        start: From where on.
        period: Modulo what; 0 if all positions are told apart.
    """

    start: int = 0
    period: int = 0

    def after(self, position: int) -> int:
        """The position that stands for the next one."""
        following = position + 1
        turned = self.period and following == self.start + self.period
        return self.start if turned else following


def clock(columns: Sequence[tuple[int, ...]]) -> Clock:
    """The clock with the fewest positions that tells some functions of the position.

    From the last value backwards, the first L values repeat themselves after L − f, f the
    longest proper prefix of them that is a suffix too (Knuth, Morris and Pratt 1977); so
    the clock has T + 1 − f positions, and the largest f of all L is best.

    Args:
        columns: For each function its values at 0, 1, …, T.
    """
    values = list(zip(*columns, strict=True))[::-1]
    borders, best = [0] * len(values), 0
    for end in range(1, len(values)):
        border = borders[end - 1]
        while border and values[border] != values[end]:
            border = borders[border - 1]
        borders[end] = border + (values[border] == values[end])
        best = max(best, end, key=lambda i: borders[i])
    if not values or not borders[best]:
        return Clock()
    return Clock(len(values) - 1 - best, best + 1 - borders[best])
