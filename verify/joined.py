"""Exploring a Program whose latest matches remember more than they will ever be asked.

What a latest match remembers of a key that nothing asks for before it is written again
multiplies the memories without meaning anything. So memories that agree in everything
else, beside one state of the machine, are joined: a cell then stands for all values that
it has in one of them. Only where such a cell is read are they taken apart again
(docs/soundness.md, section 2.6).
"""

from collections.abc import Iterator

from algebra.automaton import Automaton
from algebra.semiautomaton import IntArray
from verify.transducer import Ambiguous, Memory, Sets, Transducer

Key = tuple[int, Memory]
"""A state of the machine, and a memory without what latest matches remember."""

MOST_WORLDS = 4096


def joined(
    transducer: Transducer, machine: Automaton, shows: IntArray, most: int
) -> tuple[dict[Memory, int], int] | None:
    """What the outputs mean, if they are right in all joined memories up to T letters.

    Args:
        transducer: The Program.
        machine: The machine.
        shows: ``(states,)``: the class that each state must be decoded to.
        most: How many joined memories may be visited.

    Returns:
        Every tuple of output values that can occur with its class, and how many joined
        memories there are. None if some memory that was joined is not right, or there
        are too many: a memory that no word leads to can be among those that were joined.
    """
    try:
        return _explore(transducer, machine, shows, most)
    except Ambiguous:
        return None


def _explore(
    transducer: Transducer, machine: Automaton, shows: IntArray, most: int
) -> tuple[dict[Memory, int], int] | None:
    cells = _matched(transducer)
    statement, outputs = transducer.statement, len(transducer.statement.outputs)
    start = transducer.advance((), statement.letters)
    known = {_key(machine.start, start, cells): start}
    frontier, readings = list(known), dict[Memory, int]()
    for _ in range(statement.length):
        changed: dict[Key, None] = {}
        for key in frontier:
            for letter in range(statement.letters):
                state = int(machine.transitions[letter, key[0]])
                right = int(shows[state])
                for after in _steps(transducer, known[key], letter):
                    if statement.decode.get(after[:outputs]) != right:
                        return None
                    readings[after[:outputs]] = right
                    key_after = _key(state, after, cells)
                    _join(transducer.sets, known, changed, key_after, after)
                    if len(known) > most:
                        return None
        frontier = list(changed)
    return readings, len(known)


def _matched(transducer: Transducer) -> frozenset[int]:
    """The cells of latest matches."""
    slots = [
        transducer.slots[c.name] for c in transducer.needed if c.op == "latest-match"
    ]
    return frozenset(i for top, size in slots for i in range(top, top + size))


def _key(state: int, memory: Memory, cells: frozenset[int]) -> Key:
    return state, tuple(0 if i in cells else v for i, v in enumerate(memory))


def _join(
    sets: Sets,
    known: dict[Key, Memory],
    changed: dict[Key, None],
    key: Key,
    after: Memory,
) -> None:
    before = known.get(key)
    if before == after:
        return
    both = after if before is None else tuple(map(sets.both, before, after))
    if both != before:
        known[key] = both
        changed[key] = None


def _steps(transducer: Transducer, memory: Memory, letter: int) -> Iterator[Memory]:
    """The memories after a letter: one for each way to settle what is read of it.

    Raises:
        Ambiguous: If there are too many ways.
    """
    worlds, tried = [memory], 0
    while worlds:
        world, tried = worlds.pop(), tried + 1
        try:
            yield transducer.advance(world, letter)
        except Ambiguous as found:
            if tried > MOST_WORLDS:
                raise
            cell = found.cell
            worlds += (
                (*world[:cell], value, *world[cell + 1 :])
                for value in sorted(transducer.sets.values(world[cell]))
            )
