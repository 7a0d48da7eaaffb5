"""Every word up to a length by plain passes, for networks known from outside only.

Nothing is assumed of the network, not even that it is causal: a word of n letters is run
by itself, and so are all that begin like it.
"""

from collections.abc import Iterator

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.semiautomaton import IntArray
from krohn.network.model import Model
from krohn.verify.testing.counterexample import pair
from krohn.verify.testing.exhaustive import exhaustive, words_below
from krohn.verify.testing.sampling import first_failure
from krohn.verify.testing.simulation_result import Progress, Simulation
from krohn.verify.testing.simulator import Simulator

SCORES = 2**22
"""The most scores of a head in a pass, 16 MiB in float32."""


def run_all(
    model: Simulator,
    machine: Automaton,
    length: int,
    progress: Progress | None = None,
) -> Simulation:
    """Every word of 1 to ``length`` letters; by shared prefixes if the network is ours.

    Returns:
        Its counterexample is the shortest there is, and of those the first in the order
        of the machine's letters.

    Raises:
        CheckError: If the letters differ, or the network cannot read the words.
    """
    if isinstance(model, Model):
        return exhaustive(model, machine, length, progress)
    judge = pair(model, machine, length)
    total, done = words_below(len(machine.letters), length), 0
    for words in _blocks(len(machine.letters), length):
        found = first_failure(judge, words, judge.margins(words))
        done += len(words)
        if progress is not None:
            progress(done, total)
        if found is not None:
            return Simulation(done, length, found, every=True)
    return Simulation(done, length, None, every=True)


def _blocks(letters: int, length: int) -> Iterator[IntArray]:
    """All words, the shorter ones first, each length in lexicographic order."""
    for size in range(1, length + 1):
        place = letters ** np.arange(size - 1, -1, -1)
        step = max(1, SCORES // size**2)
        for first in range(0, letters**size, step):
            number = np.arange(first, min(first + step, letters**size))
            yield number[:, None] // place % letters
