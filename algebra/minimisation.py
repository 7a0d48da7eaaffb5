"""Minimal machines, and the output classes that a network says."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import Automaton, IntArray, Output, Semiautomaton
from krohn.algebra.errors import MachineError

# Minimal machines: the reachable part, and quotients by indistinguishable states.


UNDEFINED = -1


def reachable(a: Automaton) -> Automaton:
    """The part of ``a`` that some word reaches from the start.

    States keep their names, outputs and order; the action stays valid, because it
    only ever spoke about states reached from the start.
    """
    seen = np.zeros(len(a.states), dtype=bool)
    seen[a.start] = True
    frontier = np.array([a.start], dtype=np.int64)
    while frontier.size:
        after = np.zeros_like(seen)
        after[a.transitions[:, frontier]] = True
        frontier = np.flatnonzero(after & ~seen)
        seen[frontier] = True
    return a if seen.all() else _restrict(a, np.flatnonzero(seen))


def minimise(a: Automaton) -> Automaton:
    """The smallest machine that has the outputs of ``a`` on every word.

    Moore's partition refinement of the reachable part, for outputs on states and on
    transitions. Without outputs the states themselves are shown, so that no two may
    be merged. A class is named after its first state.
    """
    a = reachable(a)
    if a.output is None:
        return a
    block = _relabel(np.atleast_2d(a.output.table))
    while True:
        finer = _relabel(np.stack([block, *block[a.transitions]]))
        if finer.max() == block.max():
            return quotient(a, block)
        block = finer


def quotient(a: Automaton, block: npt.ArrayLike) -> Automaton:
    """The machine whose states are the blocks of a congruence.

    Args:
        a: The machine to divide.
        block: ``(states,)``: any label for the block of each state.

    Returns:
        Blocks ordered by and named after their first states. The output is kept if
        it is constant on blocks and dropped otherwise.

    Raises:
        MachineError: If a letter takes a block apart, or the shape does not fit.
    """
    labels = np.asarray(block)
    if labels.shape != (len(a.states),):
        raise MachineError(f"give one block for each of the {len(a.states)} states")
    names, first, label = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    index, chosen = rank[label], first[order]
    table = index[a.transitions[:, chosen]]
    if not np.array_equal(table[:, index], index[a.transitions]):
        raise MachineError(f"these blocks are no congruence of {a.name}")
    return replace(
        a,
        semiautomaton=Semiautomaton(
            table, a.letters, tuple(a.states[q] for q in chosen)
        ),
        start=int(index[a.start]),
        output=_output_of_blocks(a.output, index, chosen),
    )


def _restrict(a: Automaton, kept: IntArray) -> Automaton:
    rank = np.full(len(a.states), UNDEFINED, dtype=np.int64)
    rank[kept] = np.arange(len(kept))
    output = a.output
    if output is not None:
        output = Output(output.on, output.table[..., kept], output.names)
    names = [a.states[q] for q in kept]
    return replace(
        a,
        semiautomaton=Semiautomaton(
            rank[a.transitions[:, kept]], a.letters, tuple(names)
        ),
        start=int(rank[a.start]),
        output=output,
    )


def _relabel(rows: IntArray) -> IntArray:
    """The class ``(states,)`` of every column of ``rows``, numbered from 0."""
    # Folding row by row sorts plain integers, which is far faster than sorting tuples.
    block = np.zeros(rows.shape[1], dtype=np.int64)
    for row in rows:
        pair = block * (int(row.max()) + 1) + row
        block = np.unique(pair, return_inverse=True)[1].reshape(-1)
    return block


def _output_of_blocks(
    output: Output | None, index: IntArray, chosen: IntArray
) -> Output | None:
    if output is None:
        return None
    table = output.table[..., chosen]
    if not np.array_equal(table[..., index], output.table):
        return None
    return Output(output.on, table, output.names)


# The output classes of a machine, which a network says; Mealy machines as Moore ones.


Shows = Literal["states", "outputs"]
SHOWS: tuple[Shows, ...] = get_args(Shows)


@dataclass(frozen=True)
class Shown:
    """The classes between which a network decides.

    Attributes:
        names: The name of each class.
        of: ``(states,)``: the class of each state.
    """

    names: tuple[str, ...]
    of: IntArray


def output_classes(machine: Automaton, shows: Shows) -> Shown:
    """The states of a machine as classes, or its outputs on states.

    Raises:
        MachineError: If outputs are wanted of a machine that has none on its states.
    """
    if shows == "states":
        return Shown(machine.states, np.arange(len(machine.states)))
    if machine.output is None or machine.output.on != "states":
        raise MachineError(f"{machine.name} shows no outputs on its states")
    return Shown(machine.output.names, machine.output.table)


def moore(machine: Automaton) -> Automaton:
    """The machine with its outputs on states: a state holds the last output.

    Outputs on transitions split every state into one for each output with which it is
    entered. Before the first letter nothing was shown; the start state gets the first
    output, of which nothing is claimed.

    Raises:
        MachineError: If the machine has no outputs.
    """
    if machine.output is None:
        raise MachineError(
            f"{machine.name} has no outputs of its own; choose an observation"
        )
    if machine.output.on == "states":
        return machine
    names, states = machine.output.names, len(machine.states)
    entered = machine.transitions * len(names) + machine.output.table
    table = np.repeat(entered, len(names), axis=1)
    both = tuple(f"{q}/{o}" for q in machine.states for o in names)
    return reachable(
        replace(
            machine,
            semiautomaton=Semiautomaton(table, machine.letters, both),
            start=machine.start * len(names),
            output=Output("states", np.tile(np.arange(len(names)), states), names),
            action=None,
        )
    )
