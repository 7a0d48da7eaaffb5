"""Words that lead from the start to each state, of one length where that is possible."""

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.semiautomaton import IntArray


def approaches(machine: Automaton, longest: int) -> list[tuple[int, ...] | None]:
    """For every state a word that leads to it from the start.

    Of all lengths up to ``longest`` the one is chosen at which the most states can be, and
    of those the least. States that can be there get a word of this length, and the others
    a shortest one.

    Returns:
        Letter indices; None for a state that cannot be reached.
    """
    layers = _layers(machine, longest)
    common = max(range(len(layers)), key=lambda n: (int((layers[n] >= 0).sum()), -n))
    words = _shortest(machine)
    for state in np.flatnonzero(layers[common] >= 0).tolist():
        words[state] = _word(machine, layers[: common + 1], state)
    return words


def _shortest(machine: Automaton) -> list[tuple[int, ...] | None]:
    """The least of the shortest words to each state."""
    words: list[tuple[int, ...] | None] = [None] * len(machine.states)
    words[machine.start] = ()
    queue = [machine.start]
    for state in queue:
        for letter, after in enumerate(machine.transitions[:, state].tolist()):
            if words[after] is None:
                words[after] = (*(words[state] or ()), letter)
                queue.append(after)
    return words


def _layers(machine: Automaton, longest: int) -> list[IntArray]:
    """For each length, a predecessor of each state, ``(states,)``; −1 for none.

    They end where the same states can be reached as for a shorter length.
    """
    states = len(machine.states)
    layers: list[IntArray] = []
    known: set[bytes] = set()
    now = np.full(states, -1, dtype=np.int64)
    now[machine.start] = machine.start
    while len(layers) <= longest and (now >= 0).tobytes() not in known:
        known.add((now >= 0).tobytes())
        layers.append(now)
        here = np.flatnonzero(now >= 0)
        now = np.full(states, -1, dtype=np.int64)
        now[machine.transitions[:, here]] = here
    return layers


def _word(machine: Automaton, layers: list[IntArray], state: int) -> tuple[int, ...]:
    """A word with as many letters as there are layers after the first."""
    letters = []
    for layer in layers[:0:-1]:
        before = int(layer[state])
        letters.append(int((machine.transitions[:, before] == state).argmax()))
        state = before
    return tuple(reversed(letters))
