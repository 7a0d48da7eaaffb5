"""Baselines: several letters in each layer, up to all of them at once (section 3.4.1).

One layer looks back by B positions for the state there, and at the last B letters; its
table takes the state through them. After layer l positions up to l·B are right, so ⌈T/B⌉
layers are enough, with tables of |Q|·|Σ|^B rows. B = √T is the thesis' middle way, B = T
memorises every word. BOS is a letter that stays, so that shorter chunks need no care.
"""

from itertools import product
from math import isqrt

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.minimisation import reachable
from krohn.compiler.errors import CompileError
from krohn.program import Map, Operation, Program, Row, Shift, Table, Token, table

CHUNKED = "chunked"
MEMORISING = "memorising"
MOST_ROWS = 10_000


def chunked(machine: Automaton, length: int) -> Program:
    """About √T layers of about √T letters each.

    Raises:
        CompileError: If the tables would be too large.
    """
    return _in_chunks(machine, length, isqrt(length - 1) + 1)


def memorising(machine: Automaton, length: int) -> Program:
    """One layer with a table of all words.

    Raises:
        CompileError: If there are too many.
    """
    return _in_chunks(machine, length, length)


def _in_chunks(machine: Automaton, length: int, size: int) -> Program:
    """Layers that read ``size`` letters each."""
    alive = reachable(machine)
    function = _chunk(alive, size, starts=size < length)
    every = range(len(machine.letters) + 1)
    operations: dict[str, Operation] = {
        "token": Token(),
        "letter": Map(table({(a,): a for a in every}), ("token",)),
    }
    read = ["letter"]
    for k in range(1, size):
        operations[f"letter-{k}"] = Shift("letter", k)
        read.insert(0, f"letter-{k}")
    if size == length:
        operations["state1"] = Map(function, tuple(read))
    else:
        start: dict[Row, int] = {(a,): alive.start for a in every}
        operations["state0"] = Map(table(start), ("token",))
    layers = -(-length // size)
    for layer in range(1, layers + 1) if size < length else ():
        operations[f"before{layer}"] = Shift(f"state{layer - 1}", size)
        operations[f"state{layer}"] = Map(function, (f"before{layer}", *read))
    names = [machine.states.index(name) for name in alive.states]
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations=operations,
        outputs=(f"state{layers}",),
        decode={(q,): name for q, name in enumerate(names)},
    )


def _chunk(machine: Automaton, size: int, starts: bool) -> Table:
    """The state after each chunk, with the state before it or from the start state.

    Raises:
        CompileError: If it has too many rows.
    """
    states, letters = len(machine.states), len(machine.letters) + 1
    before = range(states) if starts else [machine.start]
    if len(before) * float(letters) ** size > MOST_ROWS:
        raise CompileError(
            f"tables of {size} letters would have {len(before) * letters**size:.0e} "
            "rows; choose a shorter length or the sequential construction"
        )
    moves = np.vstack([machine.transitions, np.arange(states)])
    words = np.array(list(product(range(letters), repeat=size)), dtype=np.int64)
    rows, values = [], []
    for q in before:
        state = np.full(len(words), q)
        for column in words.T:
            state = moves[column, state]
        first = np.full((len(words), int(starts)), q)
        rows.append(np.hstack([first, words]))
        values.append(state)
    return Table(np.vstack(rows), np.concatenate(values))
