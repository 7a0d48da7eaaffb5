"""Machines with solvable groups, level by level; permutation-reset machines first."""

from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.budget import Budget
from krohn.algebra.cascade import Cascade
from krohn.algebra.decomposition.diagrams import Dependency, dependency
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.minimisation import reachable
from krohn.compiler import CompileError
from krohn.compiler.constructions.cascade import complete_rows, find_cascade
from krohn.compiler.constructions.thesis import extensions
from krohn.compiler.constructions.thesis.simulator import (
    Simulator,
    Wires,
    numbers,
    solvable,
)
from krohn.compiler.machine_programs import letter_itself, machine_program, of_letter
from krohn.program import Latest, Map, Program, Row, Shift, table

# Machines whose letters permute all states or reset them (Lemma 20, repaired).
#
# The group is simulated as if resets did nothing. A head fetches, from the latest reset,
# the state that it wrote and the product of the group up to there; a last table applies
# the group element since then: q = q_r · g_r⁻¹·g. BOS is a reset to the start state with
# the identity (E16): before the first reset, the printed head fetches g itself, and the
# network shows the start state for ever.


MOST_ROWS = 50_000


@dataclass(frozen=True, eq=False)
class PermutationReset:
    """A permutation-reset machine taken apart (Definition 7).

    Attributes:
        transitions: ``(letters, states)``.
        start: The start state.
        resets: ``(letters,)``: which letters are constant and no permutations.
        element: ``(letters,)``: the group element of each letter, 0 for resets.
        elements: ``(m, states)``: the group, the identity first.
        simulator: How it is simulated; None if it is trivial.
    """

    transitions: IntArray
    start: int
    resets: IntArray
    element: IntArray
    elements: IntArray
    simulator: Simulator | None

    def letters(self, prefix: str) -> dict[str, tuple[list[int], int]]:
        """Channels that it reads: the number of each letter, and the one at BOS."""
        channels: dict[str, tuple[list[int], int]] = {}
        if self.simulator is not None:
            spelled = self.simulator.codes[self.element].T.tolist()
            channels = {
                f"{prefix}turn{i}": (column, 0) for i, column in enumerate(spelled)
            }
        if self.simulator is None or self.resets.any():
            written = np.where(self.resets, self.transitions[:, 0], 0).tolist()
            channels[f"{prefix}written"] = (written, self.start)
            channels[f"{prefix}writes"] = (self.resets.astype(int).tolist(), 1)
        return channels

    def run(self, wires: Wires, prefix: str) -> str:
        """The channel of the state, from the channels of ``letters``."""
        stored = Latest(f"{prefix}written", f"{prefix}writes")
        if self.simulator is None:
            return wires.add(f"{prefix}stored", stored)
        places = range(self.simulator.codes.shape[1])
        turns = [f"{prefix}turn{i}" for i in places]
        states = self.simulator.run(wires, prefix, turns)
        now = [states[i] for i in self.simulator.telling]
        if not self.resets.any():
            return wires.add(
                f"{prefix}state", Map(table(self._state_by_element()), tuple(now))
            )
        wires.add(f"{prefix}stored", stored)
        then = [
            wires.add(f"{prefix}since{i}", Latest(name, f"{prefix}writes"))
            for i, name in enumerate(now)
        ]
        inputs = (*now, *then, f"{prefix}stored")
        return wires.add(
            f"{prefix}state", Map(table(self._state_since_reset()), inputs)
        )

    def _state_by_element(self) -> dict[Row, int]:
        """The state after each group element from the start."""
        assert self.simulator is not None
        codes = self.simulator.elements_by_code().items()
        return {code: int(self.elements[g, self.start]) for code, g in codes}

    def _state_since_reset(self) -> dict[Row, int]:
        """The state q·h⁻¹·g for the codes of each g and h and each q."""
        assert self.simulator is not None
        codes, states = self.simulator.elements_by_code(), range(self.elements.shape[1])
        if len(codes) ** 2 * len(states) > MOST_ROWS:
            raise CompileError(
                f"its last table would have {len(codes) ** 2 * len(states):,} rows; "
                "use cascade"
            )
        back = np.argsort(self.elements, axis=1)
        pairs = product(codes.items(), codes.items())
        return {
            (*now, *then, q): int(self.elements[g, back[h, q]])
            for (now, g), (then, h) in pairs
            for q in states
        }


def permutation_reset(machine: Automaton, length: int) -> Program:
    """The group, a memory of the latest reset, and a table of both.

    Raises:
        CompileError: If a letter neither permutes the reachable states nor resets them,
            or the group is not solvable.
    """
    alive = reachable(machine)
    part = taken_apart(alive.transitions, alive.start, machine.name)
    wires = Wires(length)
    for name, (values, at_bos) in part.letters("").items():
        wires.add(name, of_letter(values, at_bos))
    return _program(machine, wires, part.run(wires, ""), alive)


def _program(machine: Automaton, wires: Wires, state: str, alive: Automaton) -> Program:
    """The Program with a channel that says which of the reachable states it is."""
    decode: dict[Row, int] = {
        (q,): machine.states.index(name) for q, name in enumerate(alive.states)
    }
    return machine_program(machine, wires.length, wires.operations, (state,), decode)


def taken_apart(transitions: IntArray, start: int, name: str) -> PermutationReset:
    """The group and the resets of a machine.

    Raises:
        CompileError: If a letter is neither, or the group is not solvable.
    """
    permutes = (np.sort(transitions) == np.arange(transitions.shape[1])).all(axis=1)
    resets = (transitions == transitions[:, :1]).all(axis=1) & ~permutes
    if not (permutes | resets).all():
        raise CompileError(
            f"{name} has a letter that neither permutes its states nor resets them; "
            "use krohn-rhodes"
        )
    moved = np.where(resets[:, None], np.arange(transitions.shape[1]), transitions)
    group = solvable(PermutationGroup(moved), name)
    simulator = None if group.is_trivial else extensions.series_simulator(group)
    element = numbers(group, moved)
    return PermutationReset(
        transitions, start, resets, element, group.elements(), simulator
    )


# Machines with solvable groups, level by level (Lemma 21, Theorem 11, repaired).
#
# The holonomy decomposition is a cascade of permutation-reset machines. Machines of one
# level run side by side (Lemma 20). Between levels stands a wiring layer: a head looks
# back by one position for the states above, and one table for each channel says what the
# machine below reads. Without the look-back (printed) it would read states after the
# letter (E21). BOS holds the coordinates of the start state (E26).


MOST_STATES = 300


def krohn_rhodes(
    machine: Automaton, length: int, budget: Budget | None = None
) -> Program:
    """A permutation-reset network and a wiring layer for each level.

    Args:
        machine: Any machine of 2 to 300 states.
        length: T.
        budget: How much work each search may do; it notes what they left out.

    Raises:
        CompileError: If a group is not solvable, a table too large, or the machine
            could not be decomposed within the budget.
    """
    alive = reachable(machine)
    if not 1 < len(alive.states) <= MOST_STATES:
        raise CompileError(f"krohn-rhodes takes machines of 2 to {MOST_STATES} states")
    levels = find_cascade(alive, "holonomy", budget)
    wires, now = Wires(length), list[str]()
    wires.add("letter", letter_itself(len(machine.letters)))
    start = levels.lift[alive.start]
    for i, component in enumerate(levels.components):
        part = taken_apart(
            component.machine.transitions, int(start[i]), f"level {i} of {machine.name}"
        )
        _wire(wires, levels, i, part, now)
        now.append(part.run(wires, f"{i}."))
    state = wires.add("state", Map(table(_states(levels)), tuple(now)))
    return _program(machine, wires, state, alive)


def _wire(
    wires: Wires, found: Cascade, i: int, part: PermutationReset, now: list[str]
) -> None:
    """The channels that component ``i`` reads, from the letter and the states above.

    Args:
        wires: Where they are added.
        found: The cascade.
        i: The component.
        part: What it is.
        now: The channels of the states of the components above, after the letter.
    """
    reading = dependency(found, i)
    above = [step.component for step in reading.steps]
    before = []
    for j in above:
        if f"before{j}" not in wires.operations:
            wires.add(f"before{j}", Shift(now[j], 1))
        before.append(f"before{j}")
    inputs = ("letter", *before) if above else ("token",)
    asked = _letters_asked(reading, [found.sizes[j] for j in above])
    bos = len(found.letters)
    for name, (values, at_bos) in part.letters(f"{i}.").items():
        rows: dict[Row, int] = {row: values[letter] for row, letter in asked.items()}
        start = product([bos], *(range(found.sizes[j]) for j in above))
        rows |= dict.fromkeys(start, at_bos)
        wires.add(name, Map(table(rows), inputs))


def _letters_asked(reading: Dependency, sizes: list[int]) -> dict[Row, int]:
    """The letter of a component for each input letter and each state of those above it."""
    if len(reading.entry) * prod(sizes) > MOST_ROWS:
        raise CompileError(
            f"a wiring would have {len(reading.entry) * prod(sizes):,} rows; use cascade"
        )
    rows = np.array(list(product(range(len(reading.entry)), *map(range, sizes))))
    node = reading.entry[rows[:, 0]]
    for step, state in zip(reading.steps, rows.T[1:], strict=True):
        node = complete_rows(step.follow)[node, state]
    letters = reading.emit[node].tolist()
    return {tuple(r): a for r, a in zip(rows.tolist(), letters, strict=True)}


def _states(found: Cascade) -> dict[Row, int]:
    """The state that each tuple of coordinates stands for, 0 where it never occurs."""
    if prod(found.sizes) > MOST_ROWS:
        raise CompileError(
            f"its {prod(found.sizes):,} coordinates are too many to read; use cascade"
        )
    coordinates = np.array(list(product(*map(range, found.sizes))))
    states = np.maximum(found.state_of(coordinates), 0).tolist()
    pairs = zip(coordinates.tolist(), states, strict=True)
    return {tuple(code): q for code, q in pairs}
