"""Semiautomata and automata: states, named letters, outputs (Moore, Mealy, acceptor)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from krohn.algebra.errors import MachineError
from krohn.algebra.wording import count, cut

# Semiautomata: transition tables with named letters and states.


IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Semiautomaton:
    """A finite set of states on which every letter acts (thesis, section 3.1).

    Attributes:
        transitions: ``(letters, states)`` integers; ``transitions[a, q]`` = δ(q, a).
        letters: The name of each letter.
        states: The name of each state.

    Raises:
        MachineError: If a table entry is no state, a shape does not fit, or a name
            occurs twice.
    """

    transitions: IntArray
    letters: tuple[str, ...]
    states: tuple[str, ...]

    def __post_init__(self) -> None:
        given = np.asarray(self.transitions)
        if given.size and given.dtype.kind not in "iu":
            raise MachineError("a transition table holds whole numbers")
        table = np.array(given, dtype=np.int64)
        table.setflags(write=False)
        object.__setattr__(self, "transitions", table)
        _check_names("letter", self.letters)
        _check_names("state", self.states)
        if table.shape != (len(self.letters), len(self.states)):
            raise MachineError(
                f"the transition table has shape {table.shape}, but there are "
                f"{len(self.letters)} letters and {len(self.states)} states"
            )
        if table.size and not (0 <= table.min() and table.max() < len(self.states)):
            raise MachineError(
                "the transition table names a state that does not exist: entries "
                f"must lie in 0..{len(self.states) - 1}"
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Semiautomaton):
            return NotImplemented
        return (
            self.letters == other.letters
            and self.states == other.states
            and np.array_equal(self.transitions, other.transitions)
        )

    def __hash__(self) -> int:
        return hash((self.letters, self.states, self.transitions.tobytes()))

    def encode(self, word: Sequence[str]) -> IntArray:
        """The indices ``(length,)`` of the letters of ``word``, each by its name.

        A letter that is called by a whole number may be given as that.

        Raises:
            MachineError: If a letter is not in the alphabet.
        """
        from krohn.program.user_input import find_wrong_letter, name_of

        index = {letter: i for i, letter in enumerate(self.letters)}
        names = list(map(name_of, word))
        if wrong := find_wrong_letter(names, index.__contains__, self.letters):
            raise MachineError(wrong)
        return np.array([index[letter] for letter in names], dtype=np.int64)

    def trace(self, words: npt.ArrayLike, start: npt.ArrayLike) -> IntArray:
        """The states after every letter, for many words at once.

        Args:
            words: ``(..., length)`` letter indices.
            start: A state index, or one for each word, ``(...,)``.

        Returns:
            ``(..., length)`` state indices; the start state is not among them.
        """
        letters = np.asarray(words, dtype=np.int64)
        out = np.empty(letters.shape, dtype=np.int64)
        state = np.broadcast_to(np.asarray(start, dtype=np.int64), letters.shape[:-1])
        for t in range(letters.shape[-1]):
            state = self.transitions[letters[..., t], state]
            out[..., t] = state
        return out

    def run(self, word: Sequence[str], start: int) -> tuple[str, ...]:
        """The names of the states that ``word`` visits from ``start``."""
        return tuple(self.states[q] for q in self.trace(self.encode(word), start))


def shorten(names: Sequence[str], limit: int = 12) -> str:
    """The names in one line for a message, cut after ``limit`` of them."""
    from krohn.program.quoting import listed
    from krohn.program.word_texts import write_letter

    return listed(map(write_letter, names), limit)


def _check_names(kind: str, names: Sequence[str]) -> None:
    if not names:
        raise MachineError(f"a machine needs at least one {kind}")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise MachineError(f"the {kind} {name!r} is named twice")
        seen.add(name)


# Vectors of input bits as letters: a binary decision diagram (Bryant, 1986).
#
# A circuit of 20 input bits has a million input vectors, of which most act alike. The
# letters of its machine are the classes of vectors that act alike; the diagram says which
# vector is of which class.


Node = tuple[int, int, int]
MOST_BITS = 64
MOST_PATHS = 100_000
"""Of a diagram that is written as a list of cubes."""


@dataclass(frozen=True)
class Inputs:
    """Which letter each vector of input bits is.

    Attributes:
        bits: How many bits a vector has.
        nodes: Each with a bit, where to go on if it is 0, and where if it is 1: to the
            node of that number, which comes earlier and asks for a later bit; a number
            x < 0 stands for the letter −1 − x. The last node is the root. Without nodes
            all vectors are the letter 0.

    Raises:
        MachineError: If a node leads nowhere.
    """

    bits: int
    nodes: tuple[Node, ...]

    def __post_init__(self) -> None:
        if not 1 <= self.bits <= MOST_BITS:
            raise MachineError(
                f"there are {self.bits} input bits, not 1 to {MOST_BITS}"
            )
        for number, (bit, *children) in enumerate(self.nodes):
            later = (self.nodes[c][0] for c in children if 0 <= c < number)
            if not bit < min(later, default=self.bits) or bit < 0:
                raise MachineError(f"node {number} of the inputs asks for no later bit")
            if max(children) >= number:
                raise MachineError(
                    f"node {number} of the inputs leads to no earlier one"
                )

    @property
    def letters(self) -> int:
        """One more than the largest letter."""
        leaves = (-x for node in self.nodes for x in node[1:] if x < 0)
        return max(leaves, default=1)

    def named_nodes(
        self, letters: Sequence[str]
    ) -> list[tuple[int, int | str, int | str]]:
        """The nodes, with the names of the letters to which they lead."""
        zeros, ones = (
            [letters[-1 - node[i]] if node[i] < 0 else node[i] for node in self.nodes]
            for i in (1, 2)
        )
        return list(zip((bit for bit, *_ in self.nodes), zeros, ones, strict=True))

    def takes(self, word: str) -> bool:
        """Whether a word is a vector of as many bits."""
        return len(word) == self.bits and not set(word) - {"0", "1"}

    def encode(self, vectors: Sequence[str]) -> IntArray:
        """The letter of each vector, written as zeros and ones."""
        digits = np.frombuffer("".join(vectors).encode(), dtype=np.uint8)
        return self.of(digits.reshape(len(vectors), self.bits) == ord("1"))

    def of(self, vectors: npt.NDArray[np.bool_]) -> IntArray:
        """The letter ``(count,)`` of each vector ``(count, bits)``."""
        rows = np.arange(len(vectors))
        at = np.full(len(vectors), len(self.nodes) - 1)
        nodes = np.array(self.nodes, dtype=np.int64).reshape(-1, 3)
        while (inside := at >= 0).any():
            node = nodes[at[inside]]
            chosen = vectors[rows[inside], node[:, 0]]
            at[inside] = np.where(chosen, node[:, 2], node[:, 1])
        return -1 - at

    def paths(self) -> list[tuple[str, int]]:
        """Disjoint cubes that cover all vectors, each with its letter.

        Raises:
            MachineError: If there are more than `MOST_PATHS`.
        """
        waiting, cubes = [("-" * self.bits, len(self.nodes) - 1)], []
        while waiting:
            cube, at = waiting.pop()
            if at < 0:
                cubes.append((cube, -1 - at))
                continue
            bit, zero, one = self.nodes[at]
            ends = f"{cube[:bit]}1{cube[bit + 1 :]}", f"{cube[:bit]}0{cube[bit + 1 :]}"
            waiting += zip(ends, (one, zero), strict=True)
            if len(cubes) + len(waiting) > MOST_PATHS:
                raise MachineError(
                    f"the letters have more than {MOST_PATHS:,} cubes of input bits; "
                    "write JSON, which needs none"
                )
        return cubes

    def cubes(self) -> tuple[str, ...]:
        """For each letter the largest cube that the diagram has for it.

        Two letters have different cubes. If a letter has other vectors as well, a ``+``
        follows. All nodes and letters must be reached from the root.
        """
        free = "-" * self.bits
        ways = {len(self.nodes) - 1: (free, 1)}
        for number in range(len(self.nodes) - 1, -1, -1):
            path, count = ways.pop(number, (free, 0))
            bit, *children = self.nodes[number]
            for value, child in enumerate(children):
                longer = f"{path[:bit]}{value}{path[bit + 1 :]}"
                known, others = ways.get(child, (longer, 0))
                best = max(longer, known, key=lambda cube: cube.count("-"))
                ways[child] = (best, others + count)
        largest = (ways[-1 - letter] for letter in range(self.letters))
        return tuple(cube if count == 1 else f"{cube}+" for cube, count in largest)


# Automata: semiautomata with a start state and outputs (Moore, Mealy, acceptor).


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


NO_START = "no start is marked"
"""So begins a remark on a start that was guessed."""


def _without_guess(remark: str) -> str:
    """A remark without the part that tells of a guessed start."""
    if NO_START not in remark:
        return remark
    file, colon, said = remark.partition(": ")
    parts = [part for part in said.split("; ") if not part.startswith(NO_START)]
    return f"{file}{colon}{'; '.join(parts)}" if parts else ""


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
        remark = _without_guess(self.remark)
        return replace(self, start=self.states.index(state), remark=remark)

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
