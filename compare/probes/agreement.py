"""How often a network, with something exchanged, answers as a Program says it would."""

from dataclasses import dataclass

import numpy as np

from krohn.algebra.semiautomaton import IntArray
from krohn.compare.probes.pairs import UNDEFINED
from krohn.compare.tasks.task import BoolArray


@dataclass(frozen=True, eq=False)
class Cases:
    """Positions of pairs that count.

    Attributes:
        predicted: ``(pairs, length)``: the Program's answers after the exchange.
        before: The network's answers on the base without it.
        other: Its answers on the source.
        counted: Where the network is right on both words, and the Program has an answer.
    """

    predicted: IntArray
    before: IntArray
    other: IntArray
    counted: BoolArray

    @property
    def changing(self) -> BoolArray:
        """Where the Program's answer changes: without an exchange, all are missed."""
        return np.asarray(self.counted & (self.predicted != self.before))

    @property
    def decisive(self) -> BoolArray:
        """Where it is neither the base's nor the source's: no whole state says this."""
        return np.asarray(self.changing & (self.predicted != self.other))

    @property
    def staying(self) -> BoolArray:
        """Where the Program's answer does not change."""
        return np.asarray(self.counted & (self.predicted == self.before))


@dataclass(frozen=True)
class Agreement:
    """How often a network answers as the Program says.

    Attributes:
        changed: Of the cases in which the Program's answer changes.
        error: The standard error of this, from the spread over pairs.
        kept: Of those in which it stays; 1 if there are none.
        decided: Of those in which it is neither word's; None if there are none.
    """

    changed: float
    error: float
    kept: float
    decided: float | None

    @property
    def mean_share(self) -> float:
        """The mean of both kinds of cases; by it, subspaces are chosen."""
        return (self.changed + self.kept) / 2


def agreement(cases: Cases, said: IntArray) -> Agreement:
    """The agreement of answers ``(pairs, length)`` with the predictions."""
    right = said == cases.predicted
    changed, error = _ratio(right, cases.changing)
    kept = float(right[cases.staying].mean()) if cases.staying.any() else 1.0
    decisive = cases.decisive
    decided = float(right[decisive].mean()) if decisive.any() else None
    return Agreement(changed, error, kept, decided)


def cases_of(
    predicted: IntArray,
    said: tuple[IntArray, IntArray],
    right: tuple[IntArray, IntArray],
    asked: BoolArray,
) -> Cases:
    """The cases of some pairs.

    Args:
        predicted: ``(pairs, length)`` by the Program, after the exchange.
        said: By the network of base and source as they are.
        right: The labels of both.
        asked: Where the answer counts.
    """
    known = (said[0] == right[0]) & (said[1] == right[1])
    return Cases(predicted, *said, asked & known & (predicted != UNDEFINED))


def _ratio(right: BoolArray, among: BoolArray) -> tuple[float, float]:
    """A share of cases, and its standard error if pairs, not cases, are independent."""
    hits, cases = (right & among).sum(axis=1), among.sum(axis=1)
    total, count = int(cases.sum()), int((cases > 0).sum())
    if not total:
        return 0.0, 0.0
    share = hits.sum() / total
    spread = ((hits - share * cases) ** 2).sum() * count / max(count - 1, 1)
    return float(share), float(np.sqrt(spread) / total)
