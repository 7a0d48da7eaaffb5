"""Words of the flip-flop language, of one distribution or of several."""

from dataclasses import dataclass

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.semiautomaton import IntArray
from krohn.algebra.zoo.flipflop import VALUES, Instructions, letters
from krohn.algebra.zoo.samplers import flip_flop

DENSE, TRAINED, SPARSE = 0.1, 0.8, 0.98
"""The thesis trains on FFL(0.8) and tests there and on the others (section 3.5.2)."""

MIXTURE = (0.9, 0.98, 0.1)
"""The probabilities of ignoring in training that removes glitches (section 3.5.3)."""


@dataclass(frozen=True)
class FlipFlop:
    """FFL(p), where p is the probability of ``i``; ``w`` and ``r`` share the rest.

    Attributes:
        ignore: p; of several of them each word has one, all equally likely.

    Raises:
        KrohnError: If there is none, or one that is no probability.
    """

    ignore: tuple[float, ...] = (TRAINED,)

    def __post_init__(self) -> None:
        if not self.ignore or not all(0 <= p <= 1 for p in self.ignore):
            raise KrohnError(
                f"a flip-flop ignores with probabilities in [0, 1], not {self.ignore}"
            )

    def draw(
        self, machine: Automaton, rng: np.random.Generator, count: int, length: int
    ) -> IntArray:
        """Letter indices ``(count, length)``.

        Raises:
            KrohnError: If the letters are not the flip-flop language's.
        """
        if machine.letters != letters(max(0, len(machine.letters) - VALUES)):
            raise KrohnError(
                f"{machine.name} does not read words of the flip-flop language; take "
                "FFLTracker2 or FFL2"
            )
        which = rng.integers(len(self.ignore), size=count)
        words = np.empty((count, length), dtype=np.int64)
        for i, p in enumerate(self.ignore):
            sample = flip_flop(machine, Instructions.ignoring(p))
            words[which == i] = sample(rng, int((which == i).sum()), length)
        return words

    @property
    def description(self) -> str:
        """A description in a few words."""
        return f"FFL({', '.join(f'{p:g}' for p in self.ignore)})"
