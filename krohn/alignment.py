"""A machine with letters, states and outputs in the order of a model file."""

from dataclasses import replace

import numpy as np

from krohn.algebra.automaton import Automaton, Output
from krohn.algebra.errors import KrohnError


def aligned(machine: Automaton, own: Automaton) -> Automaton:
    """The machine with letters, states and outputs in the order of the file.

    States and outputs that the file does not know come last; a state that it does not
    know is a difference if the file says states, such an output if it says outputs.

    Raises:
        KrohnError: If the alphabets differ.
    """
    if set(machine.letters) != set(own.letters):
        odd = sorted(set(machine.letters) ^ set(own.letters))
        raise KrohnError(
            f"{machine.name} and the model have different letters: {odd[0]!r} occurs in "
            "only one of them"
        )
    if machine.inputs is not None and own.inputs is not None:
        ours, theirs = (
            m.inputs.named_nodes(m.letters) for m in (machine, own) if m.inputs
        )
        if (machine.inputs.bits, ours) != (own.inputs.bits, theirs):
            raise KrohnError(
                f"{machine.name} and the model take some vectors of input bits for "
                "different letters"
            )
    known = set(own.states)
    states = (*own.states, *(s for s in machine.states if s not in known))
    found = _reordered(machine, own, states)
    return replace(found, output=_aligned_output(machine, own, states))


def _aligned_output(
    machine: Automaton, own: Automaton, states: tuple[str, ...]
) -> Output | None:
    """The outputs on states in the order of the file, those that it lacks last."""
    ours, theirs = machine.output, own.output
    if ours is None or theirs is None or ours.on != "states":
        return None
    names = (*theirs.names, *(n for n in ours.names if n not in theirs.names))
    place = np.array([names.index(n) for n in ours.names])
    table = np.zeros(len(states), dtype=np.int64)
    at = {q: i for i, q in enumerate(states)}
    table[[at[q] for q in machine.states]] = place[ours.table]
    return Output("states", table, names)


def _reordered(
    machine: Automaton, own: Automaton, states: tuple[str, ...]
) -> Automaton:
    """States that the machine lacks become loops that nothing reaches."""
    place = {s: i for i, s in enumerate(states)}
    table = np.tile(np.arange(len(states)), (len(own.letters), 1))
    to = np.array([place[s] for s in machine.states])
    row = {a: i for i, a in enumerate(machine.letters)}
    table[:, to] = to[machine.transitions[[row[a] for a in own.letters]]]
    structure = type(machine.semiautomaton)(table, own.letters, states)
    start = int(to[machine.start])
    return Automaton(structure, start, name=machine.name, inputs=own.inputs)
