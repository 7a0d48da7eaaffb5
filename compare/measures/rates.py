"""Shares of right answers with intervals: over words of one network, and over seeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from krohn.algebra.errors import KrohnError
from krohn.algebra.semiautomaton import IntArray
from krohn.network.precision import FloatArray

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Rate:
    """Right answers among the answers that were asked for.

    Attributes:
        right: How many were right.
        of: How many there were.
        low: Lower end of the 95 % interval.
        high: Its upper end.
    """

    right: int
    of: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """The share of right ones."""
        return self.right / self.of

    @property
    def wrong(self) -> int:
        """How many were wrong."""
        return self.of - self.right

    @property
    def perfect(self) -> bool:
        """Whether none was wrong (the thesis's criterion for a flip-flop)."""
        return self.right == self.of

    def to_object(self) -> dict[str, Any]:
        """Itself for JSON."""
        return {
            "right": self.right,
            "of": self.of,
            "value": self.value,
            "low": self.low,
            "high": self.high,
        }


def clustered_rate(right: IntArray, of: IntArray) -> Rate:
    """The rate of answers that come in words, which are independent; answers are not.

    After Korn and Graubard (1998): the Clopper–Pearson interval for as many independent
    answers as would vary like these words do. Docs: measures.md, section 2.

    Args:
        right: ``(words,)``: right answers in each word.
        of: ``(words,)``: answers in each word; a word without any is none.

    Raises:
        KrohnError: If there is no answer at all.
    """
    right, of = right[of > 0], of[of > 0]
    total = int(of.sum())
    if not total:
        raise KrohnError(
            "nothing was asked for in these words; draw more or longer ones"
        )
    low, high = _interval(right.sum() / total, _effective(right, of))
    return Rate(int(right.sum()), total, float(low), float(high))


def _effective(right: IntArray, of: IntArray) -> float:
    """How many independent answers these words are worth, at most all of them.

    Two words are thought to be there as well, one all right and one all wrong: without
    an error the variance is the variance of whole words, so that each word counts once.
    """
    size = of.sum() / len(of)
    answers = np.append(of, [size, size])
    good = np.append(right, [size, 0])
    share = good.sum() / answers.sum()
    variance = ((good - share * answers) ** 2).sum() / answers.sum() ** 2
    worth = share * (1 - share) / variance * len(of) / len(answers)
    return float(min(worth, of.sum()))


def independent(right: IntArray, of: IntArray) -> list[Rate | None]:
    """Rates of independent answers, by Clopper and Pearson; None where none was asked.

    Args:
        right: ``(rates,)``.
        of: ``(rates,)``.
    """
    low, high = _interval(right / np.maximum(of, 1), np.maximum(of, 1))
    rows = zip(right.tolist(), of.tolist(), low.tolist(), high.tolist(), strict=True)
    return [Rate(*row) if row[1] else None for row in rows]


def _interval(
    share: FloatArray | float, trials: FloatArray | IntArray | float
) -> tuple[FloatArray, FloatArray]:
    """Clopper–Pearson, also for numbers of trials that are not whole."""
    tail = (1 - CONFIDENCE) / 2
    good = np.asarray(share) * trials
    bad = trials - good
    # At the ends one parameter of the beta distribution is 0, which scipy refuses.
    low = stats.beta.ppf(tail, np.maximum(good, 1e-12), bad + 1)
    high = stats.beta.ppf(1 - tail, good + 1, np.maximum(bad, 1e-12))
    return np.where(good <= 0, 0.0, low), np.where(bad <= 0, 1.0, high)


@dataclass(frozen=True)
class Spread:
    """One number of several training runs that differ in their seeds.

    Attributes:
        values: The number of each run.
        low: Lower end of the 95 % t interval of the mean; None for a single run, and for
            runs that are all alike, which do not show how much others differ.
        high: Its upper end; both are cut to [0, 1].
    """

    values: tuple[float, ...]
    low: float | None
    high: float | None

    @property
    def mean(self) -> float:
        """The mean."""
        return float(np.mean(self.values))

    @property
    def median(self) -> float:
        """The median (thesis, Figure 3.16)."""
        return float(np.median(self.values))

    @property
    def most(self) -> float:
        """The maximum (thesis, Figure 3.15)."""
        return max(self.values)

    @property
    def least(self) -> float:
        """The minimum."""
        return min(self.values)

    @property
    def covers(self) -> float:
        """How surely the median of all runs lies between the least and the most.

        1 − 2^(1 − n) for n runs, whatever their distribution.
        """
        return float(1 - 2.0 ** (1 - len(self.values)))


def spread(values: Sequence[float]) -> Spread:
    """Accuracies, or other shares, of several runs.

    Raises:
        KrohnError: If there is no run.
    """
    count = len(values)
    if not count:
        raise KrohnError("there is no run to take a mean of")
    if min(values) == max(values):
        return Spread(tuple(values), None, None)
    error = float(np.std(values, ddof=1)) / count**0.5
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, count - 1)) * error
    mean = float(np.mean(values))
    return Spread(tuple(values), max(0.0, mean - reach), min(1.0, mean + reach))
