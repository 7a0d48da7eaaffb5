"""Tasks of hidden Markov models and linear systems: beliefs, or the law of the next letter.

The labels of all other tasks are classes; here they are vectors (Hu et al. 2024, section
2.1): the belief b_t after each letter, or the letter that comes next.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.tasks.task import BoolArray
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.linear_systems.source import LinearSystem
from krohn.network.precision import FloatArray

Source = LinearSystem | HiddenMarkovModel
Asks = Literal["belief", "next"]
NEAR_ONE = 1e-9
"""How far columns add up to something else than 1, for their numbers are rounded."""


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
        source: The model. Letters of a linear system are uniform and independent.
        asks: For the ``"belief"`` b_t, or for the ``"next"`` letter, of which training
            sees a sample and measures the law.
        after: Letters after which the answer counts in measures; None for all of them.
            (Cyclic-HARD is measured where a state is revealed next.) All are trained.

    Raises:
        KrohnError: If the model does not say letters by itself and the next one is asked
            for, or a letter is unknown.
    """

    source: Source
    asks: Asks = "belief"
    after: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        unknown = set(self.after or ()) - set(self.letters)
        if unknown:
            raise KrohnError(
                f"{self.source.name} has no letter {min(unknown)!r} to ask after"
            )
        if self.asks == "next" and self._letters_are_chosen:
            raise KrohnError(
                f"the letters of {self.source.name} are chosen, not said by it, so that "
                "there is no law of the next one; ask for beliefs"
            )

    @property
    def _letters_are_chosen(self) -> bool:
        return isinstance(self.source, LinearSystem) or self.source.actions is not None

    @property
    def name(self) -> str:
        """The name in tables."""
        asked = ", next letter" if self.asks == "next" else ""
        after = "" if self.after is None else " after " + " ".join(self.after)
        return f"{self.source.name}{asked}{after}"

    @property
    def letters(self) -> tuple[str, ...]:
        """The names of the letters."""
        return self.source.letters

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the numbers that are to be said."""
        if self.asks == "next":
            return self.letters
        if isinstance(self.source, HiddenMarkovModel):
            return self.source.states
        return tuple(f"b{i + 1}" for i in range(self.source.size))

    @property
    def probabilities(self) -> bool:
        """Whether all labels are laws, so that networks answer by softmax."""
        if isinstance(self.source, HiddenMarkovModel):
            return True
        columns = np.vstack(
            [*self.source.matrices.swapaxes(1, 2), self.source.start[None]]
        )
        sums = np.abs(columns.sum(axis=1) - 1) <= NEAR_ONE
        return bool((columns >= 0).all() and sums.all())

    def label(self, letters: IntArray) -> BeliefBatch:
        """The labels of given words ``(count, length)``.

        If the next letter is asked for, the last letter of each word is a label only.
        """
        truth = self._beliefs(letters)
        labels = truth
        if isinstance(self.source, HiddenMarkovModel) and self.asks == "next":
            truth = self.source.predict(truth)[:, :-1]
            labels = np.eye(len(self.letters))[letters[:, 1:]]
            letters = letters[:, :-1]
        asked = np.ones(letters.shape, dtype=bool)
        if self.after is not None:
            asked = np.isin(letters, [self.letters.index(name) for name in self.after])
        return BeliefBatch(letters, labels, truth, asked)

    def _beliefs(self, letters: IntArray) -> FloatArray:
        if isinstance(self.source, HiddenMarkovModel):
            return self.source.filter(letters)[0]
        return self.source.run(letters)

    def batch(self, rng: np.random.Generator, count: int, length: int) -> BeliefBatch:
        """Words that are drawn, of `length` letters to read, with labels."""
        drawn = length + (self.asks == "next")
        if isinstance(self.source, HiddenMarkovModel):
            return self.label(self.source.sample(count, drawn, rng)[0])
        return self.label(rng.integers(len(self.letters), size=(count, drawn)))


def task_of(source: Source) -> BeliefTask:
    """The task that the paper gives a model: beliefs, but for Cyclic-HARD the next letter.

    The answer counts after ``*``, where the state is revealed (section 3.3).
    """
    hard = source.name.startswith("Cyclic-HARD")
    return BeliefTask(source, "next", ("*",)) if hard else BeliefTask(source)
