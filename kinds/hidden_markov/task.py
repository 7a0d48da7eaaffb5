"""A hidden Markov model as networks are trained on it: they are to say its beliefs."""

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from krohn.kinds.hidden_markov.source import HiddenMarkovModel, find_by_name
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import KrohnError

HARD, REVEALED = "Cyclic-HARD", "*"
"""Of these models the next letter is asked after ``*``, where the state is revealed
(Hu et al. 2024, section 3.3)."""
_MIXED = re.compile(r"mixture:|prompts(?P<window>\d+):")


@dataclass(frozen=True, eq=False)
class Process:
    """What `krohn.instruments.compare.tasks.beliefs` asks of a model.

    Attributes:
        source: The model.
        probabilities: Whether beliefs are laws.
        approximable: Whether a network that is off by a little may be compiled.
    """

    source: HiddenMarkovModel
    probabilities: bool = True
    approximable: bool = True

    @property
    def entries(self) -> tuple[str, ...]:
        """The names of the numbers of a belief."""
        return self.source.states

    @property
    def says_letters(self) -> bool:
        """Whether the model says its letters by itself: then there is a law of the next."""
        return self.source.actions is None

    @property
    def question(self) -> tuple[Literal["belief", "next"], tuple[str, ...] | None]:
        """What the paper asks, and the letters after which the answer counts."""
        hard = self.source.name.startswith(HARD)
        mixed = _MIXED.match(self.source.name)
        after = (REVEALED,) if hard else None
        return ("next" if hard or mixed else "belief"), after

    @property
    def window(self) -> int | None:
        """L, if words are prompts of demonstrations of L + 1 letters; else None."""
        match = _MIXED.match(self.source.name)
        return int(match["window"]) if match and match["window"] else None

    def draw(self, rng: np.random.Generator, count: int, length: int) -> IntArray:
        """Words ``(count, length)`` that the model says."""
        return self.source.sample(count, length, rng)[0]

    def beliefs(self, words: IntArray) -> FloatArray:
        """``(count, length, states)``: the belief after each letter."""
        return self.source.filter(words)[0]

    def next_letter(self, beliefs: FloatArray) -> FloatArray:
        """``(…, letters)``: the law of the next letter under each belief."""
        return self.source.predict(beliefs)


def process(source: object) -> Process | None:
    """A model, or that of a name, as networks are trained on it; None of others.

    Raises:
        KrohnError: If a number of a name is out of range, or it is a weighted automaton.
    """
    model = find_by_name(source) if isinstance(source, str) else source
    if not isinstance(model, HiddenMarkovModel):
        return None
    if model.final is not None:
        raise KrohnError(
            f"{model.name} is a weighted automaton: no law says which words to train on; "
            "krohn compile makes its network"
        )
    return Process(model)
