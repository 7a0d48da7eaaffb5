"""One network, measured on the words of a task and on other ones.

All networks are measured on the same words: what is drawn depends on the task alone.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from krohn.compare.measures import by_bias, by_count, by_length, countable
from krohn.compare.measures.accuracy import accuracy
from krohn.compare.measures.curves import Curve
from krohn.compare.measures.first_failures import EACH, by_strategy, first_failing_words
from krohn.compare.measures.rates import Rate
from krohn.compare.tasks.task import Task
from krohn.compare.training import random_streams
from krohn.comparison.model_results import Failure
from krohn.comparison.settings import lengths_of
from krohn.verify.testing.examination import PREFIXES, SAMPLES
from krohn.verify.testing.simulator import Simulator

WORDS = 2048
"""As in the thesis (section 3.4.5.1)."""
FEWER = 256
"""Words at each place of a curve: 95 % intervals of at most 6.3 % to either side, if the
answers in a word are all alike (docs/compare.md)."""

SHORTEN = 5_000
"""Words that may be run to make a failing one smaller."""


class Purpose(IntEnum):
    """What words are drawn for; together with nothing else, this is their seed."""

    TOKENS = 1
    BIAS = 2
    COUNT = 3
    LENGTH = 4
    STRATEGY = 5


@dataclass(frozen=True)
class AccuracyCurve:
    """Token accuracy along something that is varied.

    Attributes:
        letter: Which letter is preferred or counted; None for lengths.
        at: The places, ascending.
        values: The accuracy at each of them.
    """

    letter: str | None
    at: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Measurements:
    """What was measured of a network.

    Attributes:
        token: Right answers.
        sequence: Words with right answers only.
        positions: Token accuracy after each letter; None where nothing is asked.
        curves: By ``"length"``, ``"bias"`` or ``"opening"`` (of brackets), and
            ``"count"``; those that make sense.
        strategies: Right answers on words that are made to break networks.
    """

    token: Rate
    sequence: Rate
    positions: tuple[float | None, ...]
    curves: dict[str, AccuracyCurve]
    strategies: dict[str, Rate]


def measure(
    model: Simulator, task: Task, length: int, share: float = 1.0
) -> Measurements:
    """Measure a network.

    Args:
        model: The network.
        task: What is asked of it.
        length: Of the words that it was trained on.
        share: Of the usual number of words, where the network is large.

    Raises:
        KrohnError: If it does not read such words.
    """
    words, fewer, each = (max(8, round(share * n)) for n in (WORDS, FEWER, EACH))
    usual = accuracy(model, task, _rng(Purpose.TOKENS), length, words)
    positions = tuple(None if p is None else p.value for p in usual.positions)
    curves: dict[str, Curve] = {
        "length": by_length(
            model, task, _rng(Purpose.LENGTH), lengths_of(length), fewer
        )
    }
    if len(task.letters) > 1:
        rng = _rng(Purpose.BIAS)
        biased = by_bias(model, task, rng, length, words=fewer)
        curves[biased.over] = biased
    if countable(task.machine):
        rng = _rng(Purpose.COUNT)
        curves["count"] = by_count(model, task, rng, length, words=fewer)
    struck = by_strategy(model, task, _rng(Purpose.STRATEGY), length, each)
    return Measurements(
        usual.tokens,
        usual.words,
        positions,
        {name: _along(curve) for name, curve in curves.items()},
        {kind.strategy: kind.tokens for kind in struck},
    )


def first_failure(
    model: Simulator, task: Task, length: int, share: float = 1.0
) -> Failure:
    """Search for a word that a network gets wrong, of ever more letters.

    Args:
        model: The network.
        task: What is asked of it.
        length: Of the words that it was trained on.
        share: Of the usual number of words, where the network is large.

    Raises:
        KrohnError: If it does not read such words.
    """
    lengths = (length, 2 * length, 4 * length)
    few = {
        "prefixes": max(100, round(share * PREFIXES)),
        "samples": max(16, round(share * SAMPLES)),
    }
    tried = first_failing_words(model, task, lengths, budget=SHORTEN, **few)
    last = tried[-1]
    searched = f"{sum(f.words for f in tried):,} words of up to {last.length} letters"
    if last.right:
        searched += f", all of up to {last.right} among them"
    if last.found is None:
        return Failure(None, (), (), last.length, searched)
    known = last.least or last.right >= len(last.found.word) - 1
    least = "No shorter word fails" if known else "A shorter one may fail"
    found = last.found
    return Failure(
        found.word, found.expected, found.actual, last.length, searched, least
    )


def _along(curve: Curve) -> AccuracyCurve:
    values = tuple(found.tokens.value for found in curve.found)
    return AccuracyCurve(curve.letter, curve.at, values)


def _rng(purpose: Purpose) -> np.random.Generator:
    return random_streams.stream(purpose, 0, random_streams.Purpose.MEASURES)
