"""Pairs of words for interchange interventions, with a Program's predictions."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from krohn.algebra.semiautomaton import IntArray
from krohn.compare.probes.variable import VariableLocation
from krohn.compare.tasks.task import BoolArray
from krohn.program.errors import Refused
from krohn.program.interpreter import Held, interpret, states

Positions = Literal["all", "one"]
UNDEFINED = -1


@dataclass(frozen=True, eq=False)
class Pairs:
    """Base words, source words, and where a variable of the base becomes the source's.

    Attributes:
        words: ``(words, length)`` letter indices.
        first: ``(count,)`` which word is the base.
        second: ``(count,)`` which is the source.
        where: ``(count, length)``.
    """

    words: IntArray
    first: IntArray
    second: IntArray
    where: BoolArray

    @property
    def base(self) -> IntArray:
        """``(count, length)``."""
        return np.asarray(self.words[self.first])

    @property
    def source(self) -> IntArray:
        """``(count, length)``."""
        return np.asarray(self.words[self.second])

    def __len__(self) -> int:
        return len(self.first)

    def some(self, chosen: IntArray | slice) -> "Pairs":
        """A few of them."""
        return Pairs(
            self.words, self.first[chosen], self.second[chosen], self.where[chosen]
        )


def draw_pairs(
    words: IntArray,
    among: IntArray,
    count: int,
    rng: np.random.Generator,
    positions: Positions = "all",
) -> Pairs:
    """Different words of a sample, two and two.

    Args:
        words: ``(words, length)``.
        among: Indices of the words to take, at least two.
        count: How many pairs.
        rng: Draws them.
        positions: ``"all"`` exchanges the variable all along the word, so that later
            readers read the same; ``"one"`` at one position that is drawn.
    """
    base = rng.integers(len(among), size=count)
    source = (base + rng.integers(1, len(among), size=count)) % len(among)
    where = np.ones((count, words.shape[1]), dtype=bool)
    if positions == "one":
        chosen = rng.integers(words.shape[1], size=(count, 1))
        where = np.arange(words.shape[1]) == chosen
    return Pairs(words, among[base], among[source], where)


def counterfactual(home: VariableLocation, pairs: Pairs) -> IntArray:
    """The answers of a derived network, ``(count, length)``, by running its Program.

    The channels of the variable have the values of the source where `pairs.where` says,
    and of the base elsewhere; all others are computed from the base word and these.
    `UNDEFINED` where the Program has no answer for such values.
    """
    try:
        return _answers(home, pairs)
    except Refused:  # a table without such a row, in one of the words at least
        each = (pairs.some(slice(i, i + 1)) for i in range(len(pairs)))
        return np.concatenate([_alone(home, pair) for pair in each])


def _answers(home: VariableLocation, pairs: Pairs) -> IntArray:
    base, source = (interpret(home.program, w) for w in (pairs.base, pairs.source))
    bos = np.zeros((len(pairs), 1), dtype=bool)
    where = np.concatenate([bos, pairs.where], axis=1)
    held = {
        name: Held(np.where(where, source[name], base[name])) for name in home.channels
    }
    return states(home.program, pairs.base, held)


def _alone(home: VariableLocation, pair: Pairs) -> IntArray:
    try:
        return _answers(home, pair)
    except Refused:
        return np.full_like(pair.base, UNDEFINED)
