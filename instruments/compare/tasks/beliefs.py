"""Tasks of processes with beliefs: the beliefs, or the law of the next letter.

The labels of all other tasks are classes; here they are vectors (Hu et al. 2024, section
2.1): the belief b_t after each letter, or the letter that comes next. Hidden Markov models
and linear systems are such processes.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.tasks.sources import source_in_form
from krohn.instruments.compare.tasks.task import TRAINING, BoolArray
from krohn.network.precision import FloatArray
from krohn.source_kinds import find_source_to_compile

Asks = Literal["belief", "next"]


class Process(Protocol):
    """What a kind of source says of one that has beliefs.

    Attributes:
        source: The source, with a name and letters.
        probabilities: Whether beliefs are laws.
        says_letters: Whether it says letters by itself, so that the next has a law.
        approximable: Whether a network that is off by a little may be compiled.
        entries: The names of the numbers of a belief.
        question: What is asked, and the letters after which the answer counts.
        window: L, if words are prompts: demonstrations of L + 1 letters, each with a
            delimiter behind it, the last letter of all; else None.
    """

    source: Any
    probabilities: bool
    says_letters: bool
    approximable: bool
    entries: tuple[str, ...]
    question: tuple[Asks, tuple[str, ...] | None]
    window: int | None

    def draw(self, rng: np.random.Generator, count: int, length: int) -> IntArray:
        """Words ``(count, length)``."""

    def beliefs(self, words: IntArray) -> FloatArray:
        """``(count, length, entries)``: the belief after each letter."""

    def next_letter(self, beliefs: FloatArray) -> FloatArray:
        """``(…, letters)``: the law of the next letter under each belief."""


@dataclass(frozen=True)
class BeliefBatch:
    """Words with vectors for labels.

    Attributes:
        letters: Letter indices ``(count, length)``.
        labels: ``(count, length, classes)``: the labels of the loss. If the next letter is
            asked for, the unit vector of the letter that was drawn.
        truth: ``(count, length, classes)``: the true x_t, to which outputs are compared.
            If the next letter is asked for, its law.
        asked: ``(count, length)``: where outputs are compared.
    """

    letters: IntArray
    labels: FloatArray
    truth: FloatArray
    asked: BoolArray


@dataclass(frozen=True, eq=False)
class BeliefTask:
    """Beliefs, or laws of the next letter, after each letter that a model says.

    Attributes:
        source: The model, of a kind that has processes.
        asks: For the ``"belief"`` b_t, or for the ``"next"`` letter, of which training
            sees a sample and measures the law.
        after: Letters after which the answer counts in measures; None for all of them.
            (Cyclic-HARD is measured where a state is revealed next.) All are trained.

    Raises:
        KrohnError: If nothing can be trained on the model, it does not say letters by
            itself and the next one is asked for, or a letter is unknown.
    """

    source: Any
    asks: Asks = "belief"
    after: tuple[str, ...] | None = None
    objective: ClassVar[str] = f"{TRAINING}.beliefs:BeliefObjective"

    def __post_init__(self) -> None:
        unknown = set(self.after or ()) - set(self.letters)
        if unknown:
            raise KrohnError(
                f"{self.source.name} has no letter {min(unknown)!r} to ask after"
            )
        if self.asks == "next" and not self.process.says_letters:
            raise KrohnError(
                f"the letters of {self.source.name} are chosen, not said by it, so that "
                "there is no law of the next one; ask for beliefs"
            )

    @cached_property
    def process(self) -> Process:
        """What the kind of the model says of it."""
        process: Process | None = source_in_form("beliefs", self.source)
        if process is None:
            raise KrohnError(f"a {type(self.source).__name__} has no beliefs")
        return process

    @property
    def name(self) -> str:
        """The name in tables."""
        asked = ", next letter" if self.asks == "next" else ""
        after = "" if self.after is None else " after " + " ".join(self.after)
        return f"{self.source.name}{asked}{after}"

    @property
    def letters(self) -> tuple[str, ...]:
        """The names of the letters."""
        letters: tuple[str, ...] = self.source.letters
        return letters

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the numbers that are to be said."""
        return self.letters if self.asks == "next" else self.process.entries

    @property
    def probabilities(self) -> bool:
        """Whether all labels are laws, so that networks answer by softmax."""
        return self.process.probabilities

    def label(self, letters: IntArray) -> BeliefBatch:
        """The labels of given words ``(count, length)``.

        If the next letter is asked for, the last letter of each word is a label only.
        """
        truth = self.process.beliefs(letters)
        labels = truth
        if self.asks == "next":
            truth = self.process.next_letter(truth)[:, :-1]
            letters, labels = self._next_letters(letters)
        asked = np.ones(letters.shape, dtype=bool)
        if self.after is not None:
            asked = np.isin(letters, [self.letters.index(name) for name in self.after])
        return BeliefBatch(letters, labels, truth, asked)

    def _next_letters(self, words: IntArray) -> tuple[IntArray, FloatArray]:
        return words[:, :-1], np.eye(len(self.letters))[words[:, 1:]]

    def lesson(
        self, rng: np.random.Generator, count: int, length: int
    ) -> tuple[IntArray, FloatArray]:
        """Letters and labels of `batch`, which need no beliefs if letters are asked for."""
        if self.asks == "next":
            return self._next_letters(self.process.draw(rng, count, length + 1))
        batch = self.batch(rng, count, length)
        return batch.letters, batch.labels

    def of_beliefs(self, beliefs: FloatArray) -> FloatArray:
        """The answers ``(…, classes)`` that follow from beliefs."""
        return self.process.next_letter(beliefs) if self.asks == "next" else beliefs

    def batch(self, rng: np.random.Generator, count: int, length: int) -> BeliefBatch:
        """Words that are drawn, of `length` letters to read, with labels."""
        drawn = length + (self.asks == "next")
        return self.label(self.process.draw(rng, count, drawn))


def belief_task(source: object) -> BeliefTask | None:
    """The task that the paper gives a process: beliefs, or at times the next letter.

    Args:
        source: It, its name, or a file that holds it.

    Returns:
        None if it is no process with beliefs.

    Raises:
        KrohnError: If a number of a name is out of range, or no words can be drawn of it.
    """
    text = str(source) if isinstance(source, Path) else source
    # Of Cyclic-DET too, which other commands take for the machine that it is.
    process: Process | None = source_in_form("beliefs", text)
    if (
        process is None
        and isinstance(text, str)
        and (other := find_source_to_compile(text)) is not None
    ):
        process = source_in_form("beliefs", other[1])
    if process is None:
        return None
    return BeliefTask(process.source, *process.question)
