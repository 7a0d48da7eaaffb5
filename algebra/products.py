"""Products of machines, and completion."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import Automaton, IntArray, Output, Semiautomaton
from krohn.algebra.errors import MachineError

UNDEFINED = -1
MOST_ENTRIES = 20_000_000
_SEPARATORS = (",", ";", "|", "/", " × ")


def parallel(*machines: Automaton, name: str | None = None) -> Automaton:
    """The machines side by side, all reading the same letter.

    States are tuples, the last coordinate running fastest; a tuple is named by its
    names in a row where all are one character long, and with commas otherwise.

    Raises:
        MachineError: If the alphabets differ, or the product is too large.
    """
    first = _at_least_one(machines)
    for machine in machines[1:]:
        if machine.letters != first.letters:
            raise MachineError(
                f"{first.name} and {machine.name} read different letters; use "
                "direct_product, or rename the letters of one of them"
            )
    same = np.arange(len(first.letters))[:, None]
    made = _assemble(machines, first.letters, [same] * len(machines), name)
    return replace(made, action=_joint_action(machines, [same[:, 0]] * len(machines)))


def direct_product(*machines: Automaton, name: str | None = None) -> Automaton:
    """The machines side by side, each reading its own letter (thesis, Lemma 17).

    Letters and states are tuples, the last coordinate running fastest; a tuple is
    named by its names in a row where all are one character long (``"01"``), and
    with commas otherwise.

    Raises:
        MachineError: If the product is too large.
    """
    _at_least_one(machines)
    shape = [len(machine.letters) for machine in machines]
    _check_size(prod(shape), [len(machine.states) for machine in machines])
    coordinates = _coordinates(shape)
    letters = join_names([machine.letters for machine in machines])
    made = _assemble(machines, letters, [c[:, None] for c in coordinates], name)
    return replace(made, action=_joint_action(machines, coordinates))


def cascade_product(
    upper: Automaton,
    lower: Automaton,
    dependency: npt.ArrayLike,
    name: str | None = None,
) -> Automaton:
    """Two machines in a cascade: the upper one chooses the lower one's letters.

    The dependency looks at the upper state *before* the letter (thesis, Definition 6;
    Lemma 21 reads it after the letter, erratum E21).

    Args:
        upper: The machine that reads the input.
        lower: The machine that reads the letters of the dependency.
        dependency: ``(letters of upper, states of upper)`` indices of lower letters.
        name: What to call the product.

    Raises:
        MachineError: If the dependency has another shape or names no letter of
            ``lower``, or the product is too large.
    """
    table = np.asarray(dependency, dtype=np.int64)
    if table.shape != upper.transitions.shape:
        raise MachineError(
            f"the dependency has shape {table.shape}; it must give a letter of "
            f"{lower.name} for each letter and state of {upper.name}, "
            f"shape {upper.transitions.shape}"
        )
    if not (table.min() >= 0 and table.max() < len(lower.letters)):
        raise MachineError(f"the dependency gives a letter that {lower.name} lacks")
    above = np.repeat(np.arange(len(upper.states)), len(lower.states))
    read = [np.arange(len(upper.letters))[:, None], table[:, above]]
    return _assemble((upper, lower), upper.letters, read, name)


def complete(
    partial: npt.ArrayLike,
    letters: Sequence[str],
    states: Sequence[str],
    sink: str = "error",
) -> Semiautomaton:
    """A total machine from a partial transition table.

    The thesis leaves illegal letters undefined (Dyck languages, erratum E37). Here they
    lead to a new absorbing state, if there are any: to stay instead could create groups
    that the legal words never see.

    Args:
        partial: ``(letters, states)`` state indices, -1 where nothing is defined.
        letters: The name of each letter.
        states: The name of each state.
        sink: The name of the new state.

    Raises:
        MachineError: If the shape does not fit, or the sink's name is taken.
    """
    table = np.array(partial, dtype=np.int64)
    if table.shape != (len(letters), len(states)):
        raise MachineError(
            f"the partial table has shape {table.shape}, but there are "
            f"{len(letters)} letters and {len(states)} states"
        )
    holes = table == UNDEFINED
    if not holes.any():
        return Semiautomaton(table, tuple(letters), tuple(states))
    if sink in states:
        raise MachineError(
            f"there is a state named {sink!r} already; choose another name for the sink"
        )
    widened = np.full((len(letters), len(states) + 1), len(states), dtype=np.int64)
    widened[:, :-1] = np.where(holes, len(states), table)
    return Semiautomaton(widened, tuple(letters), (*states, sink))


def join_names(factors: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Names for all tuples of names, the last coordinate running fastest.

    Single characters stand in a row; longer names are separated by the first of a
    few separators that none of them contains, so that no two tuples look alike.
    """
    everything = [name for factor in factors for name in factor]
    if all(len(name) == 1 for name in everything):
        separator = ""
    else:
        text = "".join(everything)
        free = (s for s in _SEPARATORS if s not in text)
        separator = next(free, _SEPARATORS[-1])
    return tuple(separator.join(names) for names in product(*factors))


def _at_least_one(machines: Sequence[Automaton]) -> Automaton:
    if not machines:
        raise MachineError("a product needs at least one machine")
    return machines[0]


def _check_size(letters: int, states: Sequence[int]) -> None:
    if letters * prod(states) > MOST_ENTRIES:
        raise MachineError(
            f"the product would have {prod(states)} states and {letters} letters, "
            "which is too large to write down; take smaller factors"
        )


def _coordinates(shape: Sequence[int]) -> list[IntArray]:
    grid = np.unravel_index(np.arange(prod(shape)), tuple(shape))
    return [np.asarray(axis, dtype=np.int64) for axis in grid]


def _assemble(
    machines: Sequence[Automaton],
    letters: Sequence[str],
    read: Sequence[IntArray],
    name: str | None,
) -> Automaton:
    """The product whose machine ``i`` reads ``read[i]``, ``(letters, 1 or states)``."""
    shape = tuple(len(machine.states) for machine in machines)
    _check_size(len(letters), shape)
    at = _coordinates(shape)
    moved = [m.transitions[r, q] for m, r, q in zip(machines, read, at, strict=True)]
    table = np.asarray(np.ravel_multi_index(tuple(moved), shape), dtype=np.int64)
    start = np.ravel_multi_index(tuple(m.start for m in machines), shape)
    return Automaton(
        Semiautomaton(table, tuple(letters), join_names([m.states for m in machines])),
        start=int(start),
        output=_joint_output(machines, read, at),
        name=name or " × ".join(m.name for m in machines),
    )


def _joint_output(
    machines: Sequence[Automaton], read: Sequence[IntArray], at: Sequence[IntArray]
) -> Output | None:
    if all(machine.output is None for machine in machines):
        return None
    shown = [_output_of(machine) for machine in machines]
    mealy = any(output.on == "transitions" for output in shown)
    if mealy:
        shown = [_on_transitions(m, o) for m, o in zip(machines, shown, strict=True)]
        tables = [o.table[r, q] for o, r, q in zip(shown, read, at, strict=True)]
    else:
        tables = [o.table[q] for o, q in zip(shown, at, strict=True)]
    joint = np.ravel_multi_index(tuple(tables), tuple(len(o.names) for o in shown))
    return Output(
        "transitions" if mealy else "states",
        np.asarray(joint, dtype=np.int64),
        join_names([output.names for output in shown]),
    )


def _output_of(machine: Automaton) -> Output:
    if machine.output is not None:
        return machine.output
    return Output("states", np.arange(len(machine.states)), machine.states)


def _on_transitions(machine: Automaton, output: Output) -> Output:
    if output.on == "transitions":
        return output
    return Output("transitions", output.table[machine.transitions], output.names)


def _joint_action(
    machines: Sequence[Automaton], read: Sequence[IntArray]
) -> tuple[tuple[int, ...], ...] | None:
    """All letters on the disjoint union of the factors' points."""
    if all(machine.action is None for machine in machines):
        return None
    columns, offset = [], 0
    for machine, letters in zip(machines, read, strict=True):
        # A machine without an action acts on its own states, which always suffices.
        own = machine.transitions if machine.action is None else machine.action
        maps = np.asarray(own, dtype=np.int64)
        columns.append(maps[letters] + offset)
        offset += maps.shape[1]
    return tuple(tuple(row) for row in np.concatenate(columns, axis=1).tolist())
