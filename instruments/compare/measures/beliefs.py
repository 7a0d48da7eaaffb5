"""Errors of beliefs on fresh words, and the best guess from the last letters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.instruments.compare.measures.baselines import (
    HELD_OUT,
    TOKENS,
    Codes,
    contexts,
    orders_until,
)
from krohn.instruments.compare.tasks.beliefs import BeliefTask
from krohn.instruments.compare.tasks.task import BoolArray
from krohn.network.precision import FloatArray

# Errors of beliefs: their size, the length up to which they fit, the entropy left.


Errors = tuple[float | None, ...]
THRESHOLDS = (0.05, 0.1)
"""The ε of fit lengths (Hu et al. 2024, section 4.1)."""
NO_NUMBER = 1e9
"""The error of an output that is no number, and the largest one."""


def distances(found: FloatArray, truth: FloatArray, probabilities: bool) -> FloatArray:
    """‖x̂ − x‖_p/(3 − p) with p = 1 for laws (total variation), else p = 2.

    Args:
        found: ``(…, n)``: the outputs.
        truth: ``(…, n)``: the true vectors.
        probabilities: Whether they are laws.

    Returns:
        ``(…,)``; `NO_NUMBER` where an output is no number.
    """
    off = np.abs(found - truth)
    size = off.sum(-1) / 2 if probabilities else np.sqrt((off * off).sum(-1))
    least: FloatArray = np.fmin(size, NO_NUMBER)  # of NaN and a number, the number
    return least


def by_position(off: FloatArray, asked: BoolArray) -> Errors:
    """el_t: the mean of distances ``(count, length)`` over words, where asked for."""
    many = asked.sum(axis=0)
    means = np.where(asked, off, 0).sum(axis=0) / np.maximum(many, 1)
    return tuple(
        x if n else None for x, n in zip(means.tolist(), many.tolist(), strict=True)
    )


@dataclass(frozen=True)
class Fit:
    """Up to which length a network fits.

    Attributes:
        length: The largest t such that the errors of the last evaluations at 1 … t are
            all below ε; 0 if there is none.
        since: The number of the evaluation from which on that is so without exception,
            counted from 0; None if the length is 0.
    """

    length: int
    since: int | None


def fit(history: Sequence[Errors], epsilon: float) -> Fit:
    """The ε-fit length of Hu et al. 2024, section 4.1, made precise.

    It is the largest t such that from some evaluation e_0 on all errors at positions 1 … t
    are below ε. The weakest e_0 is the last one, so that the length depends on the last
    evaluation only; `Fit.since` says how long it has been so. A position at which nothing
    is asked for is passed over, but is not counted as the last one.

    Args:
        history: Of each evaluation the errors by position; not empty.
        epsilon: The threshold.
    """
    length = _fits(history[-1], epsilon)
    if not length:
        return Fit(0, None)
    since = len(history) - 1
    while since and _fits(history[since - 1], epsilon) >= length:
        since -= 1
    return Fit(length, since)


def _fits(errors: Errors, epsilon: float) -> int:
    length = 0
    for t, error in enumerate(errors, 1):
        if error is None:
            continue
        if not error < epsilon:
            break
        length = t
    return length


def entropies(laws: FloatArray) -> FloatArray:
    """``(…, n)`` to ``(…,)``: in nats. No cross entropy to these laws is below."""
    safe = np.where(laws > 0, laws, 1.0)
    sums: FloatArray = -(safe * np.log(safe)).sum(-1)
    return sums


def excesses(found: FloatArray, laws: FloatArray) -> FloatArray:
    """Σ p ln(p/p̂), in nats: cross entropy less its floor, the entropy of the law p.

    Infinite where p̂ says that the possible is impossible, or is no number.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(laws > 0, laws * (np.log(laws) - np.log(found)), 0.0)
    sums: FloatArray = np.nan_to_num(each.sum(-1), nan=np.inf, posinf=np.inf)
    return np.maximum(sums, 0.0)  # but for rounding, it is no less


# Outputs on fresh words: errors, fit lengths, excess over the floor.


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
        accuracies: By position the mean probability that the likeliest letter by the
            outputs comes next; empty if the next letter is not asked for.
    """

    error: float
    errors: Errors
    within: float
    fits: tuple[int, int]
    floor: float | None
    excess: float | None
    accuracies: Errors = ()


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
    outputs, asked = answers(batch.letters), batch.asked
    off = distances(outputs, batch.truth, task.probabilities)
    errors = by_position(off, asked)
    low, high = (fit([errors], epsilon).length for epsilon in THRESHOLDS)
    floor = excess = None
    if task.probabilities and asked.any():
        floor = float(entropies(batch.truth)[asked].mean())
        most = float(excesses(outputs, batch.truth)[asked].mean())
        excess = most if np.isfinite(most) else None
    accuracies: Errors = ()
    if task.asks == "next":
        likeliest = np.nan_to_num(outputs).argmax(axis=-1)[..., None]
        hits = np.take_along_axis(batch.truth, likeliest, axis=-1)[..., 0]
        accuracies = by_position(hits, asked)
    near = off[asked] < THRESHOLDS[0]
    return BeliefScores(
        float(off[asked].mean()) if near.size else 0.0,
        errors,
        float(near.mean()) if near.size else 0.0,
        (low, high),
        floor,
        excess,
        accuracies,
    )


# The best guess of a belief from the last letters: its mean after each context.


@dataclass(frozen=True, eq=False)
class Window:
    """The mean label after the longest context that was seen (back-off).

    Attributes:
        keys: Random numbers of letters and places, by which contexts are told apart
            (`krohn.instruments.compare.measures.baselines`).
        orders: How many letters contexts have, ascending.
        codes: ``(contexts,)`` of each order, ascending.
        means: ``(contexts, classes)`` of each order.
    """

    keys: Codes
    orders: tuple[int, ...]
    codes: tuple[Codes, ...]
    means: tuple[FloatArray, ...]

    def __call__(self, letters: IntArray) -> FloatArray:
        """The belief after each letter of words: ``(count, length, classes)``."""
        return self.by_order(letters)[-1]

    def by_order(self, letters: IntArray) -> list[FloatArray]:
        """The beliefs by each order, ascending, with all shorter ones to back off to."""
        beliefs = np.zeros((*letters.shape, self.means[0].shape[1]))
        all_beliefs = []
        each = contexts(letters, self.keys, list(self.orders))
        for codes, known, means in zip(each, self.codes, self.means, strict=True):
            at = np.minimum(np.searchsorted(known, codes), len(known) - 1)
            beliefs = np.where((known[at] == codes)[..., None], means[at], beliefs)
            all_beliefs.append(beliefs)
        return all_beliefs

    def until(self, order: int) -> "Window":
        """The windows with contexts of up to so many letters."""
        many = sum(o <= order for o in self.orders)
        parts = (self.orders[:many], self.codes[:many], self.means[:many])
        return Window(self.keys, *parts)


def best_window(
    task: BeliefTask, seed: int, length: int, tokens: int = TOKENS
) -> Window:
    """The n-gram of beliefs whose n is best on words of its own, the least of several.

    Args:
        task: The words, and the question about them.
        seed: Seed of the words and the keys.
        length: Letters in each word.
        tokens: How many letters to count in.
    """
    rng = np.random.default_rng(seed)
    keys = rng.integers(2**64, size=(length, len(task.letters) + 1), dtype=np.uint64)
    batch = task.batch(rng, max(1, tokens // length), length)
    labels = batch.labels.reshape(-1, len(task.classes))
    orders, codes, means = orders_until(length), [], []
    for each in contexts(batch.letters, keys, orders):
        known, context = np.unique(each, return_inverse=True)
        sums = np.zeros((len(known), labels.shape[1]))
        np.add.at(sums, context.ravel(), labels)
        codes.append(known)
        means.append(sums / np.bincount(context.ravel())[:, None])
    whole = Window(keys, tuple(orders), tuple(codes), tuple(means))
    fresh = task.batch(rng, max(1, tokens // HELD_OUT // length), length)
    off = [
        float(distances(beliefs, fresh.truth, task.probabilities)[fresh.asked].mean())
        for beliefs in whole.by_order(fresh.letters)
    ]
    return whole.until(orders[int(np.argmin(off))])
