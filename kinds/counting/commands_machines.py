"""Counting programs on words of up to some length, where each is a finite machine."""

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray, Output, Semiautomaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import reachable
from krohn.kinds.counting.source import (
    Comparison,
    CountingProgram,
    Junction,
    Negation,
)
from krohn.kinds.counting.source_systems import NONE, Counting
from krohn.program.domains import BoolArray

MOST_MEMORIES = 2_000_000
"""The memories that a program may have in all, at most; some seconds and 100 MB."""
DEAD = -1
"""The key of all memories from which no yes is possible any more."""
CLASSES = ("0", "1")
"""The classes that the network of a counting program says: whether its formula holds."""


def unroll_program(program: CountingProgram, length: int) -> Automaton:
    """A machine that says what a program says of every word of up to so many letters.

    A state is what the program remembers, its sums of counts. All memories of which no
    word that is short enough leads to a yes are one state.

    Args:
        program: The program.
        length: Of the longest words.

    Raises:
        KrohnError: If the program remembers too much within so many letters.
    """
    moves, says, depth = _memories(program, length)
    # A memory of depth n is met after n letters or more, so at most length − n follow.
    alive = says | (distances(moves, says) <= length - depth)
    # What is beyond the length, or dead, is one more state at the end.
    place = np.full(len(says) + 1, int(alive.sum()))
    place[np.flatnonzero(alive)] = np.arange(int(alive.sum()))
    sink = np.full((len(moves), 1), place[-1])
    table = np.hstack([place[moves[:, alive]], sink])
    states = Semiautomaton(
        table, program.letters, tuple(str(q) for q in range(table.shape[1]))
    )
    shown = np.append(says[alive].astype(np.int64), 0)
    output = Output("states", shown, CLASSES)
    return reachable(
        Automaton(states, int(place[0]), output, f"{program.name} up to {length}")
    )


def distances(moves: IntArray, says: BoolArray) -> IntArray:
    """How many letters, one or more, lead from each state to a yes at least.

    Args:
        moves: ``(letters, states)``: where each letter leads; one more state, without an
            own column, is left by none.
        says: ``(states,)``: where the answer is yes.

    Returns:
        ``(states,)``: `NONE`, which is above all lengths, where none do.
    """
    lengths = np.full(len(says) + 1, NONE)
    yes = np.append(says, np.zeros(1, dtype=bool))
    while True:
        after = np.where(yes, 0, lengths)[moves].min(axis=0)
        new = np.append(np.minimum(after + 1, NONE), NONE)
        if np.array_equal(new, lengths):
            return lengths[:-1]
        lengths = new


def _memories(
    program: CountingProgram, length: int
) -> tuple[IntArray, BoolArray, IntArray]:
    """All that is remembered, breadth first: moves, answers, the shortest word to each.

    A move to a memory of more than ``length`` letters leads to a number after the last.
    """
    system = Counting(program)
    low, high = system.bounds(length)
    factors = np.cumprod(np.append(1, high - low + 1))[:-1]
    rows, letters = system.start[None], len(program.letters)
    # An answer may be about the letter that was read, and is remembered, too.
    known = (rows - low) @ factors * 2
    moves, depth = [], [np.zeros(1, dtype=np.int64)]
    order = known
    for done in range(length):
        if not len(rows):
            break
        before = np.repeat(np.arange(len(rows)), letters)
        after, says = system.step(rows[before], np.tile(np.arange(letters), len(rows)))
        key = (after - low) @ factors * 2 + says
        key[~_hopeful(program, after) & ~says] = DEAD
        moves.append(key.reshape(len(rows), letters))
        new, once = np.unique(key[key != DEAD], return_index=True)
        once = np.flatnonzero(key != DEAD)[once]
        place = np.searchsorted(known, new)
        fresh = known[np.minimum(place, len(known) - 1)] != new
        known = np.insert(known, place[fresh], new[fresh])
        order = np.append(order, new[fresh])
        depth.append(np.full(int(fresh.sum()), done + 1))
        rows = after[once[fresh]]
        if len(order) > MOST_MEMORIES:
            raise KrohnError(
                f"{program.name} needs more than {MOST_MEMORIES:,} memories for words "
                f"of {done + 1} letters; choose shorter words"
            )
    keys, sorting = np.sort(order), np.append(np.argsort(order), len(order))
    table = np.full((len(order), letters), len(order))
    seen = np.concatenate(moves)
    at = np.where(seen == DEAD, len(order), np.searchsorted(keys, seen))
    table[: len(seen)] = sorting[at]
    return table.T, (order % 2).astype(bool), np.concatenate(depth)


def _hopeful(program: CountingProgram, sums: IntArray) -> BoolArray:
    """``(rows,)``: False only if no letters that follow make the program say yes.

    A comparison of a sum that never falls can become true while the sum is not above it,
    and false while it is not settled. What letters and other sums will be is not asked.

    Args:
        program: The program.
        sums: ``(rows, sums)``: what was counted so far.
    """
    places = {counts: i for i, counts in enumerate(program.sums)}
    any_row = np.ones(len(sums), dtype=bool)
    can = list[tuple[BoolArray, BoolArray]]()
    for formula in program.formulas:
        match formula:
            case Comparison(counts, least, most) if all(k > 0 for _, k in counts):
                now = sums[:, places[counts]]
                holds = any_row if most is None else now <= most
                settled = ~any_row if least is None else now >= least
                can.append((holds, any_row if most is not None else ~settled))
            case Negation(part):
                can.append(can[part][::-1])
            case Junction(every, read):
                yes, no = (np.array([can[i][k] for i in read]) for k in (0, 1))
                joint, single = (yes, no) if every else (no, yes)
                both = np.asarray(joint.all(axis=0)), np.asarray(single.any(axis=0))
                can.append(both if every else both[::-1])
            case _:
                can.append((any_row, any_row))
    return can[program.output][0]
