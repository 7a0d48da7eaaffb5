"""Outputs on fresh words: errors, fit lengths, excess over the floor."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from krohn.algebra.semiautomaton import IntArray
from krohn.compare.measures.beliefs import (
    THRESHOLDS,
    Errors,
    by_position,
    distances,
    entropies,
    excesses,
    fit,
)
from krohn.compare.tasks.beliefs import BeliefTask
from krohn.network.precision import FloatArray

WORDS = 1024
Answers = Callable[[IntArray], FloatArray]
"""Words ``(count, length)`` to outputs ``(count, length, classes)``."""


@dataclass(frozen=True)
class BeliefScores:
    """How far outputs are off the truth, on fresh words, where they are asked for.

    Attributes:
        error: The mean distance.
        errors: el_t, by position.
        within: The share of outputs that are within 0.05.
        fits: ε-fit lengths on these words, for ε = 0.05 and 0.1.
        floor: The mean entropy of the true laws in nats; None if there are no laws.
        excess: Mean cross entropy less the floor; None likewise, or if it is infinite.
    """

    error: float
    errors: Errors
    within: float
    fits: tuple[int, int]
    floor: float | None
    excess: float | None


def scores(
    answers: Answers, task: BeliefTask, length: int, seed: int, words: int = WORDS
) -> BeliefScores:
    """Scores on fresh words of a length.

    Args:
        answers: The outputs.
        task: Of the truth.
        length: Of the words.
        seed: Of the words; equal ones give equal words.
        words: How many.
    """
    batch = task.batch(np.random.default_rng(seed), words, length)
    found, asked = answers(batch.letters), batch.asked
    off = distances(found, batch.truth, task.probabilities)
    errors = by_position(off, asked)
    low, high = (fit([errors], epsilon).length for epsilon in THRESHOLDS)
    floor = excess = None
    if task.probabilities and asked.any():
        floor = float(entropies(batch.truth)[asked].mean())
        most = float(excesses(found, batch.truth)[asked].mean())
        excess = most if np.isfinite(most) else None
    near = off[asked] < THRESHOLDS[0]
    return BeliefScores(
        float(off[asked].mean()) if near.size else 0.0,
        errors,
        float(near.mean()) if near.size else 0.0,
        (low, high),
        floor,
        excess,
    )
