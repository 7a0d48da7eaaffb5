"""A linear system as networks are trained on it: they are to say its vectors."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from krohn.kinds.linear_systems.source import LinearSystem, find_by_name
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import KrohnError

NEAR_ONE = 1e-9
"""How far columns add up to something else than 1, for their numbers are rounded."""


@dataclass(frozen=True, eq=False)
class Process:
    """What `krohn.instruments.compare.tasks.beliefs` asks of a system.

    Attributes:
        source: The system. Its letters are uniform and independent.
        says_letters: Letters are chosen, so that there is no law of the next one.
        approximable: Whether a network that is off by a little may be compiled.
        question: All vectors are asked for.
        window: Words are no prompts.
    """

    source: LinearSystem
    says_letters: bool = False
    approximable: bool = False
    question: tuple[str, None] = ("belief", None)
    window: None = None

    @property
    def entries(self) -> tuple[str, ...]:
        """The names of the numbers of a vector."""
        return tuple(f"b{i + 1}" for i in range(self.source.size))

    @cached_property
    def probabilities(self) -> bool:
        """Whether all vectors are laws: columns of matrices and the start add up to 1."""
        matrices = self.source.matrices.swapaxes(1, 2)
        columns = np.vstack([*matrices, self.source.start[None]])
        sums = np.abs(columns.sum(axis=1) - 1) <= NEAR_ONE
        return bool((columns >= 0).all() and sums.all())

    def draw(self, rng: np.random.Generator, count: int, length: int) -> IntArray:
        """Words ``(count, length)``."""
        return rng.integers(len(self.source.letters), size=(count, length))

    def beliefs(self, words: IntArray) -> FloatArray:
        """``(count, length, size)``: the vector after each letter."""
        return self.source.run(words)

    def next_letter(self, beliefs: FloatArray) -> FloatArray:
        """There is no such law.

        Raises:
            KrohnError: Always.
        """
        raise KrohnError(
            f"the letters of {self.source.name} are chosen, not said by it"
        )


def process(source: object) -> Process | None:
    """A system, or that of a name, as networks are trained on it; None of others.

    Raises:
        Refused: If a number of a name is out of range.
    """
    system = find_by_name(source) if isinstance(source, str) else source
    return Process(system) if isinstance(system, LinearSystem) else None
