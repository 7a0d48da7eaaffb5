"""Right answers: word by word, as shares with intervals, by position, of whole texts."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import stats

from krohn.algebra.automaton import IntArray
from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models.network import Network
from krohn.instruments.compare.tasks.task import (
    Batch,
    BoolArray,
    Task,
)
from krohn.instruments.compare.tasks.texts import TextTask
from krohn.network.forward_pass import evaluation_mode
from krohn.network.precision import FloatArray
from krohn.verify.testing.counterexample import CheckError, Simulator, at_once, differs
from krohn.verify.testing.examination import BlackBox

# Which answers of a network are right, word by word and position by position.


def simulator(
    reads: Callable[[Any], Any], task: Task, longest: int | None = None
) -> BlackBox:
    """A function that knows letters and classes by the numbers that a task gives them.

    Args:
        reads: A torch module, or any callable, as `BlackBox` takes them.
        task: What it was made for.
        longest: The longest word that it can read; None if there is no limit.
    """
    shows = task.shows if task.predicts == "class" else "outputs"
    return BlackBox(reads, task.letters, task.classes, shows, longest)


def right(model: Simulator, task: Task, batch: Batch) -> BoolArray:
    """Where the answers to a batch are right, ``(count, length)``, asked for or not.

    The right logit must be above every other one and all must be finite: neither a tie
    nor a NaN is an answer (`krohn.verify.testing.counterexample`). Letters and classes are
    matched by name. A torch module is put in evaluation mode meanwhile.

    Raises:
        CheckError: If the network reads other letters, or shorter words only.
    """
    length = batch.letters.shape[1]
    if set(model.letters) != set(task.letters):
        raise CheckError(f"the network does not read the letters of {task.name}")
    if model.longest is not None and length > model.longest:
        raise CheckError(
            f"the network reads words of up to {model.longest} letters, not {length}"
        )
    tokens = _order(task.letters, model.letters)[batch.letters]
    labels = _order(task.classes, model.classes)[batch.labels]
    size = at_once(batch.letters.shape[1])
    is_right = np.ones(batch.letters.shape, dtype=bool)
    with torch.inference_mode(), evaluating(model):
        for first in range(0, len(tokens), size):
            part = slice(first, first + size)
            read = torch.from_numpy(tokens[part]).to(model.device)
            wanted = torch.from_numpy(labels[part]).to(model.device)
            wrong = differs(model(read), wanted)
            if wrong is not None:
                is_right[part] = ~wrong.cpu().numpy()
    return is_right


def evaluating(model: Simulator) -> AbstractContextManager[None]:
    """A network in evaluation mode, also inside a `BlackBox`."""
    return evaluation_mode(model.reads if isinstance(model, BlackBox) else model)


def _order(names: tuple[str, ...], theirs: tuple[str, ...]) -> IntArray:
    """The index among theirs of each name; −1 where there is none."""
    index = {name: i for i, name in enumerate(theirs)}
    return np.array([index.get(name, -1) for name in names], dtype=np.int64)


@dataclass(frozen=True)
class Tally:
    """How many answers were asked for, and how many of them were right.

    Attributes:
        asked: ``(length,)``: at each position.
        right: ``(length,)``: the right ones of these.
        word_asked: ``(words,)``: in each word.
        word_right: ``(words,)``: the right ones of these.
    """

    asked: IntArray
    right: IntArray
    word_asked: IntArray
    word_right: IntArray


def tally(
    model: Simulator, task: Task, rng: np.random.Generator, words: int, length: int
) -> Tally:
    """The answers to words that are drawn, a few at a time.

    Raises:
        CheckError: If the network reads other letters, or shorter words only.
    """
    asked, good = np.zeros((2, length), dtype=np.int64)
    by_word: list[tuple[IntArray, IntArray]] = []
    size = 4 * at_once(length)
    for first in range(0, words, size):
        batch = task.batch(rng, min(size, words - first), length)
        answered = right(model, task, batch) & batch.asked
        asked += batch.asked.sum(axis=0)
        good += answered.sum(axis=0)
        by_word.append((batch.asked.sum(axis=1), answered.sum(axis=1)))
    joined = [np.concatenate(part) for part in zip(*by_word, strict=True)]
    return Tally(asked, good, joined[0], joined[1])


# Shares of right answers with intervals: over words of one network, and over seeds.


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
        return {**vars(self), "value": self.value}


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


# Token and sequence accuracy, in all and by position.


WORDS = 2048
"""How many words the thesis measures on (section 3.4.5.1)."""


@dataclass(frozen=True)
class Accuracy:
    """How often a network is right on words of one distribution and length.

    Attributes:
        inputs: The distribution, in words.
        length: Of the words.
        tokens: Answers that are right.
        words: Words in which all answers are right, among those with an answer.
        positions: For each position the answers that are right; None where none counts.
    """

    inputs: str
    length: int
    tokens: Rate
    words: Rate
    positions: tuple[Rate | None, ...]

    def to_object(self) -> dict[str, Any]:
        """Itself for JSON."""
        return {
            **vars(self),
            "tokens": self.tokens.to_object(),
            "words": self.words.to_object(),
            "positions": [p and p.to_object() for p in self.positions],
        }


def accuracy(
    model: Simulator,
    task: Task,
    rng: np.random.Generator,
    length: int,
    words: int = WORDS,
) -> Accuracy:
    """Measure a network on fresh words.

    Args:
        model: The network; see `krohn.instruments.compare.measures.accuracy.simulator`.
        task: The words, and which answers count.
        rng: The source of the words.
        length: Letters in each word.
        words: How many of them.

    Raises:
        KrohnError: If the network does not read such words, or nothing is asked in them.
    """
    result = tally(model, task, rng, words, length)
    return of_tally(result, task.inputs.description, length)


def of_tally(found: Tally, inputs: str, length: int) -> Accuracy:
    """The accuracies that a count of answers comes to."""
    some = found.word_asked > 0
    whole = (found.word_right == found.word_asked)[some]
    tokens = clustered_rate(found.word_right, found.word_asked)
    sequences = clustered_rate(
        whole.astype(np.int64), np.ones(len(whole), dtype=np.int64)
    )
    positions = tuple(independent(found.right, found.asked))
    return Accuracy(inputs, length, tokens, sequences, positions)


# How often networks write the right text, and the right answer, by greedy decoding.


BLANK = -1
"""Where the network is to write."""


@dataclass(frozen=True)
class TextScores:
    """How many of some prompts a network continued rightly.

    Attributes:
        prompts: How many there were.
        texts: How many were continued rightly, token for token.
        answers: After how many the last token before the end was right, the measure of
            Yang et al. (2024). A wrong step may be followed by the right answer.
    """

    prompts: int
    texts: int
    answers: int


def greedy(network: Network, texts: IntArray) -> IntArray:
    """Texts ``(count, length)``, each `BLANK` filled in by the token of the largest logit.

    Blanks stand at the end. The first token is none.
    """
    tokens, memory = torch.tensor(texts), None
    device = next(network.parameters()).device
    read = texts.shape[1] - int((texts == BLANK).sum(axis=1).max())
    begin = 0
    with torch.no_grad():
        for t in range(read, texts.shape[1]):
            part = tokens[:, begin:t].to(device)
            logits, memory = network.further(part, memory)
            best, begin = logits[:, -1].argmax(dim=-1).cpu(), t
            tokens[:, t] = torch.where(tokens[:, t] == BLANK, best, tokens[:, t])
    return tokens.numpy()


def text_scores(
    network: Network, task: TextTask, rng: np.random.Generator, count: int
) -> TextScores:
    """How many of so many fresh prompts are continued rightly."""
    texts = task.texts.draw(rng, count)
    asked = task.in_continuation(texts)
    # After the right end nothing counts, but an end that comes late is none.
    blank = np.cumsum(asked, axis=1) > 0
    continuations = greedy(network, np.where(blank, BLANK, texts))
    right = ((continuations == texts) | ~asked).all(axis=1)
    answers = task.answers(continuations) == task.answers(texts)
    return TextScores(count, int(right.sum()), int(answers.sum()))
