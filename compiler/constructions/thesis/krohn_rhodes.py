"""Machines with solvable groups, level by level (Lemma 21, Theorem 11, repaired).

The holonomy decomposition is a cascade of permutation-reset machines. Machines of one level
run side by side (Lemma 20). Between levels stands a wiring layer: a head looks back by one
position for the states above, and one table for each channel says what the machine below
reads. Without the look-back (printed) it would read states after the letter (E21).
BOS holds the coordinates of the start state (E26).
"""

from itertools import product
from math import prod

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import Budget
from krohn.algebra.cascade import INVALID, Cascade
from krohn.algebra.dependency import Dependency, dependency
from krohn.algebra.minimisation import reachable
from krohn.algebra.semiautomaton import IntArray
from krohn.compiler.constructions.cascade_search import find_cascade
from krohn.compiler.constructions.thesis.permutation_reset import (
    MOST_ROWS,
    PermutationReset,
    taken_apart,
)
from krohn.compiler.constructions.thesis.simulator import Wires
from krohn.compiler.errors import CompileError
from krohn.program import Map, Program, Row, Shift, table

NAME = "krohn-rhodes"
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
        raise CompileError(f"{NAME} takes machines of 2 to {MOST_STATES} states")
    found = find_cascade(alive, "holonomy", budget)
    wires, now = Wires(length), list[str]()
    same: dict[Row, int] = {(a,): a for a in range(len(machine.letters) + 1)}
    wires.add("letter", Map(table(same), ("token",)))
    start = found.lift[alive.start]
    for i, component in enumerate(found.components):
        part = taken_apart(
            component.machine.transitions, int(start[i]), f"level {i} of {machine.name}"
        )
        _wire(wires, found, i, part, now)
        now.append(part.run(wires, f"{i}."))
    names = [machine.states.index(name) for name in alive.states]
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations=wires.operations,
        outputs=(wires.add("state", Map(table(_states(found)), tuple(now))),),
        decode={(q,): name for q, name in enumerate(names)},
    )


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
        node = _anywhere(step.follow)[node, state]
    letters = reading.emit[node].tolist()
    return {tuple(r): a for r, a in zip(rows.tolist(), letters, strict=True)}


def _anywhere(follow: IntArray) -> IntArray:
    """Every row completed by a node that it leads to; such states never occur."""
    return np.where(follow == INVALID, follow.max(axis=1, keepdims=True), follow)


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
