"""Token and sequence accuracy, in all and by position."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.compare.measures.answers import Tally, tally
from krohn.compare.measures.rates import Rate, clustered_rate, independent
from krohn.compare.tasks.task import Task
from krohn.verify.testing.simulator import Simulator

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
            "inputs": self.inputs,
            "length": self.length,
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
        model: The network; see `krohn.compare.measures.answers.simulator`.
        task: The words, and which answers count.
        rng: The source of the words.
        length: Letters in each word.
        words: How many of them.

    Raises:
        KrohnError: If the network does not read such words, or nothing is asked in them.
    """
    found = tally(model, task, rng, words, length)
    return of_tally(found, task.inputs.description, length)


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
