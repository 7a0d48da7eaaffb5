"""Glitches: wrong reads of a flip-flop, on sparse and on dense words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.algebra.zoo.samplers import Instructions, reads_of
from krohn.instruments.compare.measures.accuracy import (
    Rate,
    clustered_rate,
    tally,
)
from krohn.instruments.compare.tasks.catalogue import (
    DENSE,
    SPARSE,
    TRAINED,
    FlipFlop,
)
from krohn.instruments.compare.tasks.task import Task
from krohn.verify.testing.counterexample import Simulator

READ = ("r",)
READS = 20_000


@dataclass(frozen=True)
class Glitches:
    """How often a network reads what was not written last.

    Attributes:
        ignore: p of the words, FFL(p).
        length: Of the words.
        sequences: How many there were.
        reads: Their reads, and how many of them were right.
    """

    ignore: float
    length: int
    sequences: int
    reads: Rate

    @property
    def rate(self) -> float:
        """Wrong reads among all reads."""
        return self.reads.wrong / self.reads.of

    @property
    def none(self) -> bool:
        """Whether there was no glitch at all: the only success that the thesis counts."""
        return self.reads.perfect

    def to_object(self) -> dict[str, Any]:
        """Itself for JSON."""
        return {
            "ignore": self.ignore,
            "length": self.length,
            "sequences": self.sequences,
            "reads": self.reads.of,
            "wrong": self.reads.wrong,
            "rate": self.rate,
            "low": 1 - self.reads.high,
            "high": 1 - self.reads.low,
        }


def glitches(
    model: Simulator,
    task: Task,
    rng: np.random.Generator,
    length: int,
    ignore: Sequence[float] = (SPARSE, TRAINED, DENSE),
    reads: int = READS,
) -> tuple[Glitches, ...]:
    """The glitch rate on FFL(p) for each p (thesis, section 3.5.2).

    In a generative task the answer is the argmax over all letters, at reads only.

    Args:
        model: The network.
        task: A flip-flop task that asks after reads, clean or generative.
        rng: The source of the words.
        length: Letters in each word, even and at least 4.
        ignore: The p.
        reads: So many words are drawn that this many reads are expected in each.

    Raises:
        KrohnError: If the task is not of that kind, or the network does not read it.
    """
    if task.asked != READ:
        raise KrohnError(
            f"{task.name} does not ask after reads only; glitches are for flip-flop tasks"
        )
    found = []
    for p in ignore:
        words = ceil(reads / reads_of(length, Instructions.ignoring(p)))
        counted = tally(model, replace(task, inputs=FlipFlop((p,))), rng, words, length)
        rate = clustered_rate(counted.word_right, counted.word_asked)
        found.append(Glitches(p, length, words, rate))
    return tuple(found)
