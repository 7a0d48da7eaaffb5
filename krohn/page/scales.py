"""Axes of charts: from numbers to places, with ticks at round numbers."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SHARE_STEPS = (0.02, 0.05, 0.1, 0.25)
MOST_STEPS = 4
MOST_TICKS = 6


@dataclass(frozen=True)
class Scale:
    """From numbers to places: 0 at one end, 1 at the other.

    Attributes:
        low: The number at 0.
        high: The number at 1.
        ticks: Numbers in between that are written beside the axis.
        labels: How they are written.
        logarithmic: Whether equal ratios are equally far apart.
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    labels: tuple[str, ...]
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """The place of a number, within [0, 1]."""
        low, high, bent = map(self._bent, (self.low, self.high, value))
        if high == low:
            return 0.5
        return min(1.0, max(0.0, (bent - low) / (high - low)))

    def _bent(self, value: float) -> float:
        if not self.logarithmic:
            return value
        return math.log(value) if value > 0 else -math.inf


def shares(values: Iterable[float]) -> Scale:
    """Up to 100 %, from a round number below all values."""
    missing = 1 - min(values, default=0.0)
    steps = [s for s in SHARE_STEPS if missing <= MOST_STEPS * s + 1e-9]
    step = steps[0]
    count = max(1, math.ceil(missing / step - 1e-9))
    ticks = tuple(1 - step * i for i in range(count, -1, -1))
    return Scale(ticks[0], 1.0, ticks, tuple(f"{100 * t:.0f} %" for t in ticks))


def powers(values: Iterable[float]) -> Scale:
    """From one power of ten to another, of which some are written."""
    found = [v for v in values if v > 0]
    low = math.floor(math.log10(min(found, default=0.1)))
    high = max(low + 1, math.ceil(math.log10(max(found, default=1.0))))
    step = max(1, math.ceil((high - low) / MOST_STEPS))
    ticks = tuple(10.0**e for e in range(low, high + 1, step))
    labels = tuple(f"{t:g}" for t in ticks)
    return Scale(10.0**low, 10.0**high, ticks, labels, logarithmic=True)


def doubling(at: Sequence[float]) -> Scale:
    """A logarithmic axis with ticks at places that leave each other room."""
    ticks = [at[-1]]
    least = (math.log(at[-1]) - math.log(at[0])) / MOST_STEPS / 2
    for place in reversed(at[:-1]):
        if math.log(ticks[-1]) - math.log(place) >= least:
            ticks.append(place)
    chosen = tuple(reversed(ticks))
    return Scale(at[0], at[-1], chosen, tuple(f"{t:g}" for t in chosen), True)


def even(at: Sequence[float]) -> Scale:
    """A plain axis with ticks at multiples of 1, 2 or 5 times a power of ten."""
    low, high = at[0], at[-1]
    step = _round_step((high - low) / MOST_TICKS)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    ticks = tuple(round(step * i, 12) for i in range(first, last + 1))
    return Scale(low, high, ticks, tuple(f"{t:,g}" for t in ticks))


def _round_step(least: float) -> float:
    """The least of …, 0.5, 1, 2, 5, 10, 20, … that is not below a number."""
    if least <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(f * power for f in (1, 2, 5, 10) if f * power >= least - 1e-12)
