"""A task: words drawn for a machine, and the answer after each letter."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import Shows, output_classes

TRAINING = "krohn.instruments.compare.training"
BoolArray = NDArray[np.bool_]
Predicts = Literal["class", "next"]


class Inputs(Protocol):
    """A distribution of words: a frozen dataclass of plain values, so that it travels."""

    def draw(
        self, machine: Automaton, rng: np.random.Generator, count: int, length: int
    ) -> IntArray:
        """Letter indices ``(count, length)``."""

    @property
    def description(self) -> str:
        """A description in a few words, for tables and file names."""


@dataclass(frozen=True)
class Batch:
    """Words with labels; all arrays have the shape ``(count, length)``.

    Attributes:
        letters: Letter indices, int64.
        labels: Class indices, int64; a class everywhere, also where it is not asked for.
        asked: Where the answer counts in measures.
        trained: Where the label enters the loss: the part of `asked` that is revealed, or
            more (a generative task trains on every letter, and is measured on few).
    """

    letters: IntArray
    labels: IntArray
    asked: BoolArray
    trained: BoolArray


class TrainingTask(Protocol):
    """What networks can be trained on.

    Attributes:
        objective: The class of the loss that training makes small, as ``module:class``.
    """

    objective: ClassVar[str]

    @property
    def name(self) -> str:
        """The name in tables."""

    @property
    def letters(self) -> tuple[str, ...]:
        """The names of what is read."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of what is said."""


@dataclass(frozen=True)
class Task:
    """A machine, the words that are drawn for it, and the answers that count.

    Attributes:
        name: Its name in tables.
        machine: The machine that computes the labels.
        inputs: The distribution of words.
        shows: Whether classes are the states or the machine's outputs on states (an
            observation map, thesis section 3.4.3.1, is a machine with such outputs).
        asked: Letters after which the answer counts; None for all of them (the
            flip-flop language asks after a read only).
        reveal: The probability with which a label enters the loss, for each position by
            itself; 1 trains on all of them (thesis, section 3.4.3.1).
        predicts: ``"class"`` of the state, or the ``"next"`` letter (generative mode);
            the last position has no next letter and is neither trained nor asked.
        before: Letters that are to be predicted, if ``predicts`` is ``"next"``: the
            answer counts where one of them comes next; None for all of them (brackets
            are asked for where one closes, section 3.6.3).

    Raises:
        KrohnError: If the probability is none, or a letter is unknown.
    """

    name: str
    machine: Automaton
    inputs: Inputs
    shows: Shows = "states"
    asked: tuple[str, ...] | None = None
    reveal: float = 1.0
    predicts: Predicts = "class"
    before: tuple[str, ...] | None = None
    objective: ClassVar[str] = f"{TRAINING}.objective:Objective"

    def __post_init__(self) -> None:
        if not 0 < self.reveal <= 1:
            raise KrohnError(
                f"labels are revealed with a probability in (0, 1], not {self.reveal}"
            )
        named = {*(self.asked or ()), *(self.before or ())}
        unknown = named - set(self.machine.letters)
        if unknown:
            raise KrohnError(
                f"{self.machine.name} has no letter {min(unknown)!r} to ask after"
            )

    @property
    def letters(self) -> tuple[str, ...]:
        """The names of the letters."""
        return self.machine.letters

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes: states, outputs, or letters."""
        if self.predicts == "next":
            return self.machine.letters
        return output_classes(self.machine, self.shows).names

    def states(self, letters: IntArray) -> IntArray:
        """The state after each letter, ``(count, length)``."""
        state = np.full(len(letters), self.machine.start)
        states = np.empty_like(letters)
        for t in range(letters.shape[1]):
            state = self.machine.transitions[letters[:, t], state]
            states[:, t] = state
        return states

    def label(self, letters: IntArray) -> Batch:
        """The labels of given words ``(count, length)``, all of them revealed."""
        asked = self._among(letters, self.asked)
        if self.predicts == "class":
            labels = output_classes(self.machine, self.shows).of[self.states(letters)]
            return Batch(letters, labels, asked, asked)
        followed = np.ones(letters.shape, dtype=bool)
        followed[:, -1:] = False
        following = np.roll(letters, -1, 1)
        asked &= followed & self._among(following, self.before)
        return Batch(letters, following, asked, followed)

    def _among(self, letters: IntArray, names: tuple[str, ...] | None) -> BoolArray:
        """Where the letters are of these names; everywhere if there are none."""
        if names is None:
            return np.ones(letters.shape, dtype=bool)
        return np.isin(letters, [self.letters.index(name) for name in names])

    def batch(self, rng: np.random.Generator, count: int, length: int) -> Batch:
        """Words that are drawn, with labels."""
        drawn = self.label(self.inputs.draw(self.machine, rng, count, length))
        if self.reveal == 1:
            return drawn
        kept = rng.random(drawn.letters.shape) < self.reveal
        return replace(drawn, trained=drawn.trained & kept)
