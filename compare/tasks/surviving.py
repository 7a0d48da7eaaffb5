"""Words of an acceptor of which many are nearly accepted, however few those are."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.semiautomaton import IntArray

YES = ("1", "accept")
"""The outputs of acceptors where they accept."""
NEVER = 2**40
"""More letters than any word has."""


@dataclass(frozen=True)
class Surviving:
    """Letters after which the word can still be accepted, for a while; then any letters.

    In half of the words letters are alike; each other word has its own bias, uniform
    among all (Dirichlet). Half of the words can still be accepted within the length at
    every position; the others leave that at a uniform position, with uniform letters.
    """

    def draw(
        self, machine: Automaton, rng: np.random.Generator, count: int, length: int
    ) -> IntArray:
        """Letter indices ``(count, length)``.

        Raises:
            KrohnError: If the machine is no acceptor.
        """
        left = _letters_to_acceptance(machine)
        letters = len(machine.letters)
        bias = rng.dirichlet(np.ones(letters), size=count)
        bias[rng.random(count) < 0.5] = 1 / letters
        until = rng.integers(2 * length, size=count)
        words = np.empty((count, length), dtype=np.int64)
        state = np.full(count, machine.start)
        for t in range(length):
            after = machine.transitions[:, state].T
            weights = bias * (left[after] <= length - t - 1)
            free = (t >= until) | ~weights.any(axis=1)
            weights[free] = 1
            bounds = weights.cumsum(axis=1)
            drawn = rng.random((count, 1)) * bounds[:, -1:]
            words[:, t] = (drawn >= bounds[:, :-1]).sum(axis=1)
            state = machine.transitions[words[:, t], state]
        return words

    @property
    def description(self) -> str:
        """A description in a few words."""
        return "letters after which the word can still be accepted, then any"


@lru_cache(maxsize=8)
def _letters_to_acceptance(machine: Automaton) -> IntArray:
    """``(states,)``: how many letters lead to acceptance; `NEVER` if none do."""
    output = machine.output
    names = () if output is None or output.on != "states" else output.names
    yes = [name for name in names if name in YES]
    if output is None or len(yes) != 1:
        raise KrohnError(f"{machine.name} accepts no words")
    found = np.where(output.table == names.index(yes[0]), 0, NEVER)
    while True:
        after = found[machine.transitions].min(axis=0)
        new = np.minimum(found, np.minimum(after + 1, NEVER))
        if np.array_equal(new, found):
            return found
        found = new
