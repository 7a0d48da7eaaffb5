"""Machines whose letters permute all states or reset them (Lemma 20, repaired).

The group is simulated as if resets did nothing. A head fetches, from the latest reset,
the state that it wrote and the product of the group up to there; a last table applies
the group element since then: q = q_r · g_r⁻¹·g. BOS is a reset to the start state with
the identity (E16): before the first reset, the printed head fetches g itself, and the
network shows the start state for ever.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.minimisation import reachable
from krohn.algebra.semiautomaton import IntArray
from krohn.compiler.constructions.thesis import series
from krohn.compiler.constructions.thesis.simulator import (
    Simulator,
    Wires,
    numbers,
    solvable,
)
from krohn.compiler.errors import CompileError
from krohn.program import Latest, Map, Program, Row, table

NAME = "permutation-reset"
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
        said: dict[str, tuple[list[int], int]] = {}
        if self.simulator is not None:
            spelled = self.simulator.codes[self.element].T.tolist()
            said = {f"{prefix}turn{i}": (column, 0) for i, column in enumerate(spelled)}
        if self.simulator is None or self.resets.any():
            written = np.where(self.resets, self.transitions[:, 0], 0).tolist()
            said[f"{prefix}written"] = (written, self.start)
            said[f"{prefix}writes"] = (self.resets.astype(int).tolist(), 1)
        return said

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
        told = self.simulator.elements_by_code().items()
        return {code: int(self.elements[g, self.start]) for code, g in told}

    def _state_since_reset(self) -> dict[Row, int]:
        """The state q·h⁻¹·g for the codes of each g and h and each q."""
        assert self.simulator is not None
        told, states = self.simulator.elements_by_code(), range(self.elements.shape[1])
        if len(told) ** 2 * len(states) > MOST_ROWS:
            raise CompileError(
                f"its last table would have {len(told) ** 2 * len(states):,} rows; "
                "use cascade"
            )
        back = np.argsort(self.elements, axis=1)
        pairs = product(told.items(), told.items())
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
    part, wires = (
        taken_apart(alive.transitions, alive.start, machine.name),
        Wires(length),
    )
    for name, (values, at_bos) in part.letters("").items():
        rows: dict[Row, int] = {(a,): v for a, v in enumerate([*values, at_bos])}
        wires.add(name, Map(table(rows), ("token",)))
    names = [machine.states.index(name) for name in alive.states]
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations=wires.operations,
        outputs=(part.run(wires, ""),),
        decode={(q,): name for q, name in enumerate(names)},
    )


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
    simulator = None if group.is_trivial else series.simulator(group)
    element = numbers(group, moved)
    return PermutationReset(
        transitions, start, resets, element, group.elements(), simulator
    )
