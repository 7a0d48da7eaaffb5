"""Minimal machines: the reachable part, and quotients by indistinguishable states."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import Automaton, Output
from krohn.algebra.errors import MachineError
from krohn.algebra.semiautomaton import IntArray, Semiautomaton

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
