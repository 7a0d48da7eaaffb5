"""Automata: semiautomata with a start state and outputs (Moore, Mealy, acceptor)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from krohn.algebra.errors import MachineError
from krohn.algebra.input_decision_diagram import Inputs
from krohn.algebra.semiautomaton import IntArray, Semiautomaton, shorten
from krohn.algebra.wording import count, cut


@dataclass(frozen=True, eq=False)
class Output:
    """The outputs of a machine.

    Attributes:
        on: ``"states"`` (Moore machines, acceptors) or ``"transitions"`` (Mealy).
        table: Indices into ``names``: ``(states,)``, or ``(letters, states)`` where
            the state is the one *before* the letter.
        names: The output alphabet.
    """

    on: Literal["states", "transitions"]
    table: IntArray
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        table = np.array(self.table, dtype=np.int64)
        table.setflags(write=False)
        object.__setattr__(self, "table", table)
        if self.on not in ("states", "transitions"):
            raise MachineError(f"outputs lie on states or transitions, not {self.on!r}")
        if table.size and not (0 <= table.min() and table.max() < len(self.names)):
            raise MachineError("the output table names an output that does not exist")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Output):
            return NotImplemented
        return (
            self.on == other.on
            and self.names == other.names
            and np.array_equal(self.table, other.table)
        )

    def __hash__(self) -> int:
        return hash((self.on, self.names, self.table.tobytes()))


@dataclass(frozen=True)
class Automaton:
    """A semiautomaton with a start state and outputs.

    Attributes:
        semiautomaton: The transition structure.
        start: Index of the start state.
        output: The outputs; None when the states themselves are shown.
        name: What to call the machine in messages.
        action: ``(letters, points)``: how the letters act on a smaller set, such that
            the composed map on the points determines the state reached from the
            start (S5 has 120 states and acts faithfully on 5 points). None if unknown.
        inputs: Which letter each vector of input bits is, if the letters are classes of
            such vectors; words may be vectors then.
        remark: How its file was read, if the file could mean another machine.

    Raises:
        MachineError: If the start is no state or a table does not fit.
    """

    semiautomaton: Semiautomaton
    start: int = 0
    output: Output | None = None
    name: str = "machine"
    action: tuple[tuple[int, ...], ...] | None = None
    inputs: Inputs | None = None
    remark: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        letters, states = self.semiautomaton.transitions.shape
        if not 0 <= self.start < states:
            raise MachineError(
                f"the start state {self.start} is not one of 0..{states - 1}"
            )
        if self.output is not None:
            shape = (states,) if self.output.on == "states" else (letters, states)
            if self.output.table.shape != shape:
                raise MachineError(
                    f"the output table has shape {self.output.table.shape}, "
                    f"but outputs on {self.output.on} need {shape}"
                )
        if self.action is not None and len(self.action) != letters:
            raise MachineError("the action must give a map for every letter")
        if self.inputs is not None and self.inputs.letters != letters:
            raise MachineError("the inputs must mean the letters, all of them")

    def __repr__(self) -> str:
        letters, states = self.transitions.shape
        sizes = f"{count(states, 'state')}, {count(letters, 'letter')}"
        return f"<Automaton {cut(self.name, 40)}: {sizes}>"

    @property
    def letters(self) -> tuple[str, ...]:
        """The names of the letters."""
        return self.semiautomaton.letters

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the states."""
        return self.semiautomaton.states

    @cached_property
    def _letter_set(self) -> frozenset[str]:
        return frozenset(self.letters)

    @property
    def transitions(self) -> IntArray:
        """``(letters, states)``: the state after each letter in each state."""
        return self.semiautomaton.transitions

    def with_start(self, state: str) -> "Automaton":
        """This machine, started in the state of this name.

        Raises:
            MachineError: If there is no such state.
        """
        if state not in self.states:
            raise MachineError(
                f"{state!r} is not a state of {self.name}; "
                f"its states are {shorten(self.states)}"
            )
        return replace(self, start=self.states.index(state))

    def encode(self, word: Sequence[str]) -> IntArray:
        """The indices ``(length,)`` of letters, given by name or as vectors of input bits.

        Raises:
            MachineError: If something is no letter.
        """
        if self.inputs is None:
            return self.semiautomaton.encode(word)
        known = {a: self.letter(a) or a for a in set(word)}
        return self.semiautomaton.encode([known[a] for a in word])

    def letter(self, name: str) -> str | None:
        """The letter of a name or of a vector of input bits; None if it is no letter."""
        if name in self._letter_set:
            return name
        if self.inputs is None or not self.inputs.takes(name):
            return None
        return self.letters[int(self.inputs.encode([name])[0])]

    def run(self, word: Sequence[str]) -> tuple[str, ...]:
        """The output of the machine after each letter of ``word``.

        Raises:
            MachineError: If something is no letter.
        """
        letters = self.encode(word)
        trace = self.semiautomaton.trace(letters, self.start)
        return tuple(self.show(letters, trace))

    def show(self, letters: IntArray, trace: IntArray) -> list[str]:
        """The outputs along one word, from its letters and the states that it visits."""
        if self.output is None:
            return [self.states[q] for q in trace]
        if self.output.on == "states":
            return [self.output.names[i] for i in self.output.table[trace]]
        before = np.concatenate([[self.start], trace[:-1]]).astype(np.int64)
        return [self.output.names[i] for i in self.output.table[letters, before]]
