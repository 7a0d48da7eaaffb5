"""The verdicts that scores allow. Which came when: docs/which-algorithm.md, section 3."""

from collections.abc import Iterable
from typing import Literal

from krohn.compare.probes.interchange import FEWEST, Interchange
from krohn.compare.probes.scores import Score

Verdict = Literal["used", "partly used", "readable", "not readable", "free"]
"""Readable: no more than that is shown. Free: as readable before training."""

READ = 0.95
"""Accuracy, or R²: at most one position in twenty is read wrongly."""

HALF = 0.5
"""At most so many errors are left of those of what comes for free."""

LEAST = 0.01
"""Above what comes for free: one position in a hundred."""

USED = 0.9
"""Of the cases in which the Program's answer changes, and of those in which it stays."""

PARTLY = 0.5
"""More often than not."""

SURE = 3.0
"""Standard errors above all controls: chance does this once in a thousand times."""


def quality(score: Score) -> float:
    """Accuracy, or R² where there are too many values to tell apart."""
    if score.accuracy is not None:
        return score.accuracy
    return score.explained if score.explained is not None else 0.0


def free(score: Score, references: Iterable[Score]) -> float:
    """The share of right answers that comes for free, at most.

    It is the share of the most frequent value, the accuracy of the probe in the control
    task, or its accuracy elsewhere without training.
    """
    chance = (score.majority or 0.0, score.control or 0.0)
    return max([*chance, *map(quality, references)])


def is_readable(score: Score, references: Iterable[Score]) -> bool:
    """Whether a layer holds a variable, so that an affine function reads it.

    Args:
        score: At a layer.
        references: Of the embedding, and of all layers before training.
    """
    found, floor = quality(score), free(score, references)
    more = found - floor >= LEAST and 1 - found <= HALF * (1 - floor)
    return found >= READ and more


def gain(score: Score, references: Iterable[Score]) -> float:
    """The share of the errors of free reading that is gone."""
    floor = free(score, references)
    return (quality(score) - floor) / (1 - floor) if floor < 1 else 0.0


def is_free(references: Iterable[Score]) -> bool:
    """Whether a variable can be read without training."""
    return max(map(quality, references), default=0.0) >= READ


def use(tested: Interchange) -> Verdict:
    """The verdict that an exchange allows.

    The subspace must hold the variable, and exchanging it must do more than random
    subspaces do, and than the answer does where that can be exchanged: many variables
    determine the answer, and a subspace of the answer would pass for each of them.
    """
    found = tested.found
    decided = found.decided if tested.decisive >= FEWEST else None
    above = all(
        found.changed - control.changed > SURE * (found.error + control.error)
        for control in (tested.random, tested.varying, tested.answer)
        if control is not None
    )
    if tested.cases < FEWEST or tested.carried < READ or not above:
        return "readable"
    if min(found.changed, found.kept, USED if decided is None else decided) >= USED:
        return "used"
    return "partly used" if min(found.changed, found.kept) >= PARTLY else "readable"
