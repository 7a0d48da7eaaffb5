"""The log-depth scan: every machine in ⌈log2 T⌉ layers (Theorem 10, repaired)."""

from collections.abc import Mapping
from math import ceil, log2

import numpy as np

from algebra.automaton import Automaton
from algebra.operations import reachable
from algebra.semiautomaton import IntArray
from algebra.structure import reached_pairs
from compiler.errors import CompileError
from compiler.program import Map, Operation, Program, Row, Select, Shift, Token, table

NAME = "scan"
MOST_POINTS = 128
SUMMARY = "compose transition maps over windows that double (Theorem 10)"


def scan(machine: Automaton, length: int) -> Program:
    """The scan of a machine for words up to ``length``.

    After l levels the channels ``map{l}[0..m-1]`` hold the composition of the last 2^l
    letters' maps at every position, as a list of the images of the m points; level
    l + 1 selects among them by what stands 2^l positions earlier (Lemma 14).

    Departures from the paper: BOS carries the identity, so one network serves every start
    state and the read-out takes the coordinate of the start state (E9); a look-back that
    leaves the word ends at BOS instead of in a block of padding; values are 0-based. With
    a faithful action of fewer points, these are composed instead of the states.

    Raises:
        CompileError: If the action that the machine claims does not determine its
            state, or moves too many points.
    """
    moved = len(machine.states if machine.action is None else machine.action[0])
    if moved > MOST_POINTS:
        size = float(moved) ** 4 * max(1, (length - 1).bit_length())
        raise CompileError(
            f"a scan of {moved} points would have {size:.0e} parameters"
        )
    if machine.action is None:
        return _on_states(machine, length)
    action = np.array(machine.action, dtype=np.int64)
    points = list(range(action.shape[1]))
    decode = reached_pairs(machine, points)
    if decode is None:
        raise CompileError(
            f"the action that {machine.name} states does not determine its state; "
            "leave it out of the file"
        )
    return _doubling(machine, length, action, points, decode)


def _on_states(machine: Automaton, length: int) -> Program:
    """The points are the states that can be reached."""
    names = reachable(machine).states
    alive = np.array([machine.states.index(name) for name in names])
    place = np.zeros(len(machine.states), dtype=np.int64)
    place[alive] = np.arange(len(alive))
    action = place[machine.transitions[:, alive]]
    decode: dict[Row, int] = {(p,): int(q) for p, q in enumerate(alive)}
    return _doubling(machine, length, action, [int(place[machine.start])], decode)


def _doubling(
    machine: Automaton,
    length: int,
    action: IntArray,
    read: list[int],
    decode: Mapping[Row, int],
) -> Program:
    """The scan of ``action`` ``(letters, points)``, read out at the points ``read``."""
    points = range(action.shape[1])
    operations: dict[str, Operation] = {"token": Token()}
    for p in points:
        images: dict[Row, int] = {
            (a,): int(action[a, p]) for a in range(action.shape[0])
        }
        images[(len(machine.letters),)] = p
        operations[f"map0[{p}]"] = Map(table(images), ("token",))
    levels = ceil(log2(length)) if length > 1 else 0
    for level in range(levels):
        now = [f"map{level}[{p}]" for p in points]
        for p in points:
            operations[f"back{level + 1}[{p}]"] = Shift(now[p], 2**level)
        for p in points:
            inputs = (f"back{level + 1}[{p}]", *now)
            operations[f"map{level + 1}[{p}]"] = Map(Select(), inputs)
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations=operations,
        outputs=tuple(f"map{levels}[{p}]" for p in read),
        decode=decode,
    )
