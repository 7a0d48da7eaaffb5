"""Measuring networks on words of a machine, seed by seed."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from krohn.instruments.compare.comparison.result import (
    Failure,
    ModelResult,
    SeedResult,
    Size,
    TrainedProof,
    Training,
)
from krohn.instruments.compare.measures import (
    by_bias,
    by_count,
    by_length,
    countable,
)
from krohn.instruments.compare.measures.accuracy import (
    Rate,
    accuracy,
    spread,
)
from krohn.instruments.compare.measures.curves import Curve
from krohn.instruments.compare.measures.first_failures import (
    EACH,
    by_strategy,
    first_failing_words,
)
from krohn.instruments.compare.tasks.task import Task
from krohn.instruments.compare.training import provenance
from krohn.verify.testing.counterexample import Simulator
from krohn.verify.testing.examination import EXHAUSTIVE_WORDS, SAMPLES

FRACTIONS = ((1, 4), (1, 2), (3, 4), (1, 1), (3, 2), (2, 1), (3, 1), (4, 1))
"""Words that are measured, in lengths of those that are trained on.

The thesis trains on 40 letters and measures on 8 to 128 (section 3.4.5.2.4)."""


def lengths_of(trained: int) -> tuple[int, ...]:
    """The lengths of words that are measured, ascending."""
    lengths = {max(1, trained * over // under) for over, under in FRACTIONS}
    return tuple(sorted(lengths))


# One network, measured on the words of a task and on other ones.
#
# All networks are measured on the same words: what is drawn depends on the task alone.


WORDS = 2048
"""As in the thesis (section 3.4.5.1)."""
FEWER = 256
"""Words at each place of a curve: 95 % intervals of at most 6.3 % to either side, if the
answers in a word are all alike (docs/instruments/compare.md)."""

SHORTEN = 5_000
"""Words that may be run to make a failing one smaller."""


class Purpose(IntEnum):
    """The purposes that words are drawn for; the number and nothing else is their seed."""

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
    """The measurements of a network.

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
        "exhaustive_words": max(100, round(share * EXHAUSTIVE_WORDS)),
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
    counterexample = last.found
    return Failure(
        counterexample.word,
        counterexample.expected,
        counterexample.actual,
        last.length,
        searched,
        least,
    )


def _along(curve: Curve) -> AccuracyCurve:
    values = tuple(point_accuracy.tokens.value for point_accuracy in curve.found)
    return AccuracyCurve(curve.letter, curve.at, values)


def _rng(purpose: Purpose) -> np.random.Generator:
    return provenance.stream(purpose, 0, provenance.Purpose.MEASURES)


# The measurements of the networks of one kind, seed by seed.


@dataclass(frozen=True)
class MeasuredSeed:
    """A network of one seed with all that is known of it.

    Attributes:
        seed: None for what is not drawn.
        measured: What was measured.
        failure: The first failing word; None if none was searched.
        training: How it came about; None for what is not trained.
        proof: The answer of `krohn.verify`; None where it was not asked.
    """

    seed: int | None
    measured: Measurements
    failure: Failure | None = None
    training: Training | None = None
    proof: TrainedProof | None = None


@dataclass(frozen=True)
class MeasuredModel:
    """The networks of one kind.

    Attributes:
        key: One of `KEYS`.
        title: What tables call it.
        about: What it is.
        seeds: One for each seed.
        size: What it costs.
    """

    key: str
    title: str
    about: str
    seeds: tuple[MeasuredSeed, ...]
    size: Size | None = None

    def result(self) -> ModelResult:
        """The result that tables show."""
        ones = tuple(
            SeedResult(
                e.seed,
                e.measured.token,
                e.measured.sequence,
                e.failure,
                e.training,
                e.proof,
            )
            for e in self.seeds
        )
        drawn = all(one.seed is not None for one in ones)
        token = spread([one.token.value for one in ones]) if drawn else None
        sequence = spread([one.sequence.value for one in ones]) if drawn else None
        return ModelResult(
            self.key, self.title, self.about, ones, token, sequence, self.size
        )
