"""Words that are given, or nearly so."""

from dataclasses import dataclass

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.semiautomaton import IntArray
from krohn.algebra.zoo.samplers import half_periodic


@dataclass(frozen=True)
class Abab:
    """The word ababab…, always or half of the time (thesis, section 3.4.5.2.1).

    Attributes:
        always: Distribution (1) of the thesis, which positions alone can solve; else
            (2), where the other half of the words is uniform.
    """

    always: bool = False

    def draw(
        self, machine: Automaton, rng: np.random.Generator, count: int, length: int
    ) -> IntArray:
        """Letter indices ``(count, length)``.

        Raises:
            KrohnError: If the machine does not have two letters.
        """
        if len(machine.letters) != 2:
            raise KrohnError(f"{machine.name} has no two letters to take turns")
        if self.always:
            return np.tile(np.arange(length) % 2, (count, 1))
        return half_periodic(machine)(rng, count, length)

    @property
    def description(self) -> str:
        """A description in a few words."""
        return "ababab…" if self.always else "ababab… or uniform"


@dataclass(frozen=True)
class Given:
    """Words of a list, drawn with replacement; words that are too long are cut.

    Attributes:
        words: The names of their letters.

    Raises:
        KrohnError: If there are none.
    """

    words: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        if not self.words:
            raise KrohnError("a list of given words must have a word")

    def draw(
        self, machine: Automaton, rng: np.random.Generator, count: int, length: int
    ) -> IntArray:
        """Letter indices ``(count, length)``.

        Raises:
            KrohnError: If a word is shorter than that, or has an unknown letter.
        """
        shortest = min(map(len, self.words))
        if shortest < length:
            raise KrohnError(
                f"a given word has {shortest} letters; draw words of no more than that"
            )
        encode = machine.semiautomaton.encode
        words = np.stack([encode(word[:length]) for word in self.words])
        return words[rng.integers(len(words), size=count)]

    @property
    def description(self) -> str:
        """A description in a few words."""
        return f"{len(self.words)} given words"
