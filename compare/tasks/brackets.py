"""Prefixes of words of nested brackets, by the law of the thesis's section 3.6.1."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from krohn.algebra.automaton import Automaton
from krohn.algebra.bracket_distribution import distribution
from krohn.algebra.errors import KrohnError
from krohn.algebra.semiautomaton import IntArray
from krohn.compare.tasks.letters import draw_letters


@dataclass(frozen=True)
class DyckPrefixes:
    """D_{q,k,D,N}: between the bounds of the depth a bracket opens with probability q.

    Attributes:
        opening: q.
        closed: Whether prefixes end with a closing bracket: a prefix that does not is
            drawn again (section 3.6.3 measures on such prefixes).

    Raises:
        KrohnError: If q is not strictly between 0 and 1.
    """

    opening: float = 0.5
    closed: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.opening < 1:
            raise KrohnError(
                f"brackets open with a probability between 0 and 1, not {self.opening}"
            )

    def draw(
        self, machine: Automaton, rng: np.random.Generator, count: int, length: int
    ) -> IntArray:
        """Letter indices ``(count, length)``.

        Raises:
            KrohnError: If the machine is no empty stack of brackets, or the prefixes are
                to end with a closing bracket and have no two letters.
        """
        weights, closes = _laws(machine, Fraction(self.opening))
        words = draw_letters(machine, weights, rng, (count, length))
        if not self.closed or not count:
            return words
        if length < 2:
            raise KrohnError("prefixes that end with a closing bracket have 2 letters")
        open_ended = np.flatnonzero(~closes[words[:, -1]])
        while len(open_ended):
            words[open_ended] = draw_letters(
                machine, weights, rng, (len(open_ended), length)
            )
            open_ended = open_ended[~closes[words[open_ended, -1]]]
        return words

    @property
    def description(self) -> str:
        """A description in a few words."""
        ending = " that end closed" if self.closed else ""
        return f"bracket prefixes{ending}, q = {self.opening:g}"


@lru_cache(maxsize=16)
def _laws(
    machine: Automaton, opening: Fraction
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """``(states, letters)``: the law of the next letter; ``(letters,)``: which close."""
    law = distribution(machine, opening)
    found = law.brackets
    rows = [[1] * law.letters if s is None else law.law(s) for s in found.stacks]
    closes = np.array([kind is not None for kind in found.closes])
    return np.array(rows, dtype=np.float64), closes
