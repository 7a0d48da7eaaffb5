"""The words that a machine is trained on unless other ones are named."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.semiautomaton import IntArray
from krohn.algebra.zoo.samplers import Sampler, legal, uniform
from krohn.compare.tasks.letters import forbids


@dataclass(frozen=True)
class Default:
    """A machine's own words, as the thesis draws them (section 3.4.5.1.1).

    Machines of the zoo, with or without an observation, have a sampler. Others get
    uniform letters: the legal ones where illegal ones lead to an error, else all.
    """

    def draw(
        self, machine: Automaton, rng: np.random.Generator, count: int, length: int
    ) -> IntArray:
        """Letter indices ``(count, length)``."""
        return _sampler(machine)(rng, count, length)

    @property
    def description(self) -> str:
        """A description in a few words."""
        return "own words"


@lru_cache(maxsize=64)
def _sampler(machine: Automaton) -> Sampler:
    # An observed machine is named after its map: D8 (location).
    name = machine.name.partition(" (")[0]
    try:
        known = zoo.machine(name)
    except MachineError:
        return _own(machine)
    same = (known.semiautomaton, known.start) == (machine.semiautomaton, machine.start)
    return zoo.sampler(name) if same else _own(machine)


def _own(machine: Automaton) -> Sampler:
    return legal(machine) if forbids(machine) else uniform(machine)
