"""Accuracy away from the training distribution: by bias, by count and by length."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.brackets import as_brackets
from krohn.algebra.zoo.samplers import VALUES, letters
from krohn.instruments.compare.measures.accuracy import (
    Accuracy,
    accuracy,
)
from krohn.instruments.compare.tasks.catalogue import (
    DyckPrefixes,
    FlipFlop,
)
from krohn.instruments.compare.tasks.letters import (
    Biased,
    Counted,
    forbids,
    marked_letter,
)
from krohn.instruments.compare.tasks.task import (
    Inputs,
    Task,
)
from krohn.verify.testing.counterexample import Simulator

BIASES = tuple(k / 20 for k in range(1, 20))
"""0.05, 0.1, …, 0.95 (thesis, section 3.4.5.2.3)."""

LENGTHS = tuple(range(8, 129, 8))
"""8, 16, …, 128 (section 3.4.5.2.4)."""

COUNTS = 20
"""How many counts are measured, at most, besides 0."""

FEWER = 512
"""Words at each point of a curve."""

Over = Literal["bias", "count", "length", "opening"]


@dataclass(frozen=True)
class Curve:
    """Accuracy against one number.

    Attributes:
        over: What the number is: the probability of a letter, how often it occurs, the
            length of words, or the probability with which brackets open.
        letter: Which letter that is; None where there is none.
        at: The numbers, ascending.
        found: The accuracy at each of them.
    """

    over: Over
    letter: str | None
    at: tuple[float, ...]
    found: tuple[Accuracy, ...]

    def to_object(self) -> dict[str, Any]:
        """Itself for JSON."""
        return {**vars(self), "found": [each.to_object() for each in self.found]}


def flips(machine: Automaton) -> bool:
    """Whether it reads words of the flip-flop language."""
    values = len(machine.letters) - VALUES
    return values >= 2 and machine.letters == letters(values)


def nests(machine: Automaton) -> bool:
    """Whether it is a stack of brackets that starts empty."""
    brackets = as_brackets(machine)
    return brackets is not None and brackets.stacks[machine.start] == ()


def by_bias(
    model: Simulator,
    task: Task,
    rng: np.random.Generator,
    length: int,
    biases: Sequence[float] = BIASES,
    words: int = FEWER,
    letter: str | None = None,
) -> Curve:
    """Accuracy where a letter has another probability than in training.

    Of a flip-flop the letter is ``i``, and words come from FFL(p). Brackets open with
    another probability (`by_opening`), unless a letter is named.

    Raises:
        KrohnError: If there is no such letter, or the network does not read the words.
    """
    if letter is None and nests(task.machine):
        return by_opening(model, task, rng, length, biases, words)
    if flips(task.machine):
        chosen: list[Inputs] = [FlipFlop((p,)) for p in biases]
        letter = "i"
    else:
        letter = task.letters[marked_letter(task.machine, letter)]
        chosen = [Biased(p, letter) for p in biases]
    accuracies = _along(model, task, rng, chosen, [length] * len(biases), words)
    return Curve("bias", letter, tuple(biases), accuracies)


def by_count(
    model: Simulator,
    task: Task,
    rng: np.random.Generator,
    length: int,
    counts: Sequence[int] | None = None,
    words: int = FEWER,
) -> Curve:
    """Accuracy where ``1``, or the last letter, occurs an exact number of times.

    Its places are uniform.

    Args:
        model: The network.
        task: A task of a machine for which `countable` holds.
        rng: The source of the words.
        length: Letters in each word.
        counts: The numbers; None for up to `COUNTS` and 0, spread evenly over 0..length.
        words: At each number.

    Raises:
        KrohnError: If the machine forbids letters, or the network does not read the words.
    """
    letter = task.letters[marked_letter(task.machine, None)]
    if counts is None:
        counts = sorted({round(x) for x in np.linspace(0, length, COUNTS + 1)})
    chosen = [Counted(count, letter) for count in counts]
    accuracies = _along(model, task, rng, chosen, [length] * len(counts), words)
    return Curve("count", letter, tuple(map(float, counts)), accuracies)


def countable(machine: Automaton) -> bool:
    """Whether a letter may stand anywhere, so that its count can be chosen."""
    return len(machine.letters) > 1 and not forbids(machine) and not flips(machine)


def by_opening(
    model: Simulator,
    task: Task,
    rng: np.random.Generator,
    length: int,
    openings: Sequence[float] = BIASES,
    words: int = FEWER,
) -> Curve:
    """Accuracy on brackets that open with another probability than in training.

    Of k kinds, legal letters drawn uniformly open with probability k/(k + 1).

    Raises:
        KrohnError: If the machine is no empty stack of brackets, or the network does not
            read its words.
    """
    chosen = [DyckPrefixes(q, closed=False) for q in openings]
    accuracies = _along(model, task, rng, chosen, [length] * len(openings), words)
    return Curve("opening", None, tuple(openings), accuracies)


def by_length(
    model: Simulator,
    task: Task,
    rng: np.random.Generator,
    lengths: Sequence[int] = LENGTHS,
    words: int = FEWER,
) -> Curve:
    """Accuracy on shorter and longer words; lengths that it cannot read are left out.

    Raises:
        KrohnError: If it reads other letters.
    """
    most = model.longest
    kept = [n for n in lengths if most is None or n <= most]
    accuracies = _along(model, task, rng, [task.inputs] * len(kept), kept, words)
    return Curve("length", None, tuple(map(float, kept)), accuracies)


def _along(
    model: Simulator,
    task: Task,
    rng: np.random.Generator,
    inputs: Iterable[Inputs],
    lengths: Sequence[int],
    words: int,
) -> tuple[Accuracy, ...]:
    return tuple(
        accuracy(model, replace(task, inputs=chosen), rng, length, words)
        for chosen, length in zip(inputs, lengths, strict=True)
    )
