"""The language that a machine stands for, by its minimal machine."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import Automaton
from krohn.algebra.formats.outputs import acceptance
from krohn.algebra.minimisation import minimise
from krohn.algebra.rows import firsts
from krohn.algebra.semiautomaton import Semiautomaton

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Language:
    """The words that an acceptor accepts, or the words that lead to each of its states.

    Letters that act alike are one letter here, called after the first of them. That
    changes no answer: a letter-to-letter map takes one language to the other and back
    (docs/classes.md, section 1).

    Attributes:
        machine: The minimal complete machine; every state is reached from the start.
        start: Its start state.
        accepting: ``(states,)`` which states accept; None if the machine is no
            acceptor. Then the classes speak of every set of words that leads to one
            state, and classes that are not closed under complement are not asked for.
        alike: The letters that each letter of ``machine`` stands for.
    """

    machine: Semiautomaton
    start: int
    accepting: Flags | None
    alike: tuple[tuple[str, ...], ...]

    @property
    def states(self) -> int:
        """The number of states of the minimal machine."""
        return len(self.machine.states)

    @cached_property
    def live(self) -> Flags:
        """``(states,)``: from which states an accepting state is reached."""
        assert self.accepting is not None
        live = self.accepting.copy()
        while True:
            grown = live | live[self.machine.transitions].any(axis=0)
            if (grown == live).all():
                return live
            live = grown

    @cached_property
    def neutral(self) -> Flags:
        """``(letters,)``: which letters change no state."""
        kept = self.machine.transitions == np.arange(self.states)
        return np.asarray(kept.all(axis=1))

    @property
    def tier(self) -> tuple[str, ...]:
        """The letters that change some state: the smallest tier (docs/classes.md)."""
        kept = np.flatnonzero(~self.neutral).tolist()
        return tuple(name for letter in kept for name in self.alike[letter])

    def on_tier(self) -> "Language":
        """The language of the words over the tier alone."""
        chosen = np.flatnonzero(~self.neutral)
        if not len(chosen) or not self.neutral.any():
            return self
        return replace(
            self,
            machine=Semiautomaton(
                self.machine.transitions[chosen],
                tuple(self.machine.letters[a] for a in chosen),
                self.machine.states,
            ),
            alike=tuple(self.alike[a] for a in chosen),
        )

    def word(self, source: int, targets: Flags) -> tuple[int, ...] | None:
        """A shortest word, perhaps empty, from a state to one of the targets."""
        words: dict[int, tuple[int, ...]] = {source: ()}
        queue = [source]
        for state in queue:
            if targets[state]:
                return words[state]
            for letter, after in enumerate(self.machine.transitions[:, state].tolist()):
                if after not in words:
                    words[after] = (*words[state], letter)
                    queue.append(after)
        return None

    def to(self, state: int) -> tuple[int, ...]:
        """A shortest word from the start to a state."""
        found = self.word(self.start, np.arange(self.states) == state)
        assert found is not None, "every state of a minimal machine is reached"
        return found


def language_of(machine: Automaton) -> Language:
    """The language of an acceptor, or the languages of another machine's states.

    Args:
        machine: An acceptor shows ``"accept"`` and ``"reject"`` in its states. Any other
            machine is minimised by its outputs; without outputs, by its states.
    """
    least = minimise(machine)
    accepts = acceptance(least)
    rows = least.transitions
    kept, place = firsts(rows)
    alike: list[list[str]] = [[] for _ in kept]
    for name, number in zip(least.letters, place.tolist(), strict=True):
        alike[number].append(name)
    return Language(
        Semiautomaton(rows[kept], tuple(names[0] for names in alike), least.states),
        least.start,
        None if accepts is None else np.array(accepts),
        tuple(map(tuple, alike)),
    )
