"""Learned machines beside others: minimal, as a network shows them, state by state."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from krohn.algebra.automaton import Automaton, Output
from krohn.algebra.minimisation import minimise, reachable
from krohn.algebra.shown import Shows, moore
from krohn.learning.answers import Word
from krohn.learning.lstar import Kind


@dataclass(frozen=True)
class Beside:
    """What comes of following two machines with the same letters side by side.

    Attributes:
        word: A shortest word after which they show different things; None if none.
        pairs: The names of states where equal words lead, if there is no such word.
    """

    word: Word | None
    pairs: tuple[tuple[str, str], ...] = ()

    @property
    def states(self) -> dict[str, str] | None:
        """The state of the other for each of one, if that is a bijection.

        It keeps the start, the letters and what is shown: an isomorphism.
        """
        found = dict(self.pairs)
        one_to_one = len(found) == len(set(found.values())) == len(self.pairs)
        return found if self.word is None and one_to_one else None


def beside(
    one: Automaton, other: Automaton, same: Callable[[str, str], bool] = str.__eq__
) -> Beside:
    """Follow two machines, breadth first; letters are those of the first, by name.

    Machines that show something on states are compared after each letter, not before.

    Args:
        one: The first.
        other: The second.
        same: Whether what the two show is the same; asked in the order of words.
    """
    letters = [other.letters.index(letter) for letter in one.letters]
    words: dict[tuple[int, int], Word] = {(one.start, other.start): ()}
    queue = list(words)
    for p, q in queue:
        for a, b in enumerate(letters):
            word = (*words[p, q], a)
            if not same(_says(one, a, p), _says(other, b, q)):
                return Beside(word)
            after = int(one.transitions[a, p]), int(other.transitions[b, q])
            if after not in words:
                words[after] = word
                queue.append(after)
    return Beside(None, tuple((one.states[p], other.states[q]) for p, q in queue))


def _says(machine: Automaton, letter: int, state: int) -> str:
    output = machine.output
    assert output is not None
    if output.on == "transitions":
        return output.names[int(output.table[letter, state])]
    return output.names[int(output.table[machine.transitions[letter, state]])]


def observed(machine: Automaton, shows: Shows, kind: Kind) -> Automaton:
    """The minimal machine of what a network of a machine says.

    Args:
        machine: The machine.
        shows: Whether its states are said, or its outputs.
        kind: Whether states are to show it, or transitions.

    Raises:
        MachineError: If outputs are said, and it has none.
    """
    seen = moore(machine) if shows == "outputs" else _naming(machine)
    if kind == "moore":
        return minimise(seen)
    assert seen.output is not None
    shown = Output(
        "transitions", seen.output.table[seen.transitions], seen.output.names
    )
    return minimise(replace(seen, output=shown))


def _naming(machine: Automaton) -> Automaton:
    """A machine that shows its states."""
    every = np.arange(len(machine.states))
    return replace(machine, output=Output("states", every, machine.states))


def started(machine: Automaton, before: str) -> Automaton:
    """A machine of which nobody knows what it shows before the first letter.

    If another state goes on as the start does, the two are one, the first such state.
    Nothing that is shown after a letter changes.

    Args:
        machine: A machine that shows ``before`` at its start only.
        before: A name that stands for what is not known.
    """
    if machine.output is None or machine.output.on == "transitions":
        return machine
    if before not in machine.output.names:
        return machine
    like = (machine.transitions == machine.transitions[:, [machine.start]]).all(axis=0)
    others = np.flatnonzero(like & (np.arange(len(like)) != machine.start))
    if not len(others):
        return machine
    return _without_unsaid(reachable(replace(machine, start=int(others[0]))))


def _without_unsaid(machine: Automaton) -> Automaton:
    """The same without names of outputs that it never shows."""
    assert machine.output is not None
    used, table = np.unique(machine.output.table, return_inverse=True)
    names = tuple(machine.output.names[i] for i in used)
    shape = machine.output.table.shape
    output = Output(machine.output.on, table.reshape(shape), names)
    return replace(machine, output=output)
