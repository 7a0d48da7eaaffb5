"""Prefixes: layers that are right further and further (docs/soundness.md, section 2.2).

A channel is *right up to l* if its value decodes to the machine's state at every position
t ≤ l. A table that takes the state of B positions ago through the last B letters is right
up to l + B if what it looks back at is right up to l.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from algebra.automaton import Automaton
from verify.statement import Channel, Reach, Statement
from verify.windows import behind

MOST_WORDS = 500_000


@dataclass(frozen=True)
class Chunk:
    """A table of the last letters and perhaps of a state before them.

    Attributes:
        channel: The table.
        state: The place of the state among its inputs; None if there is none.
        before: The channel of that state; empty if there is none.
        letters: For every other input its place, how far it looks back, and what it
            says of each letter, BOS last.
        size: How many letters lie between that state and the position.
    """

    channel: Channel
    state: int | None
    before: str
    letters: tuple[tuple[int, int, tuple[int, ...]], ...]
    size: int


def is_sequential(
    statement: Statement, machine: Automaton, reach: Mapping[str, Reach]
) -> bool:
    """Whether the one output is right at every position up to T, layer by layer."""
    if len(statement.outputs) != 1:
        return False
    right: dict[str, int] = {}
    for channel in statement.channels.values():
        at_bos = statement.decode.get((reach[channel.name].bos,))
        if channel.op != "table" or at_bos != machine.start:
            continue
        right[channel.name] = 0
        chunk = _chunk(statement, channel)
        if chunk is None or (chunk.before and chunk.before not in right):
            continue
        if _steps(statement, chunk, machine, reach):
            right[channel.name] = right.get(chunk.before, 0) + chunk.size
    return right.get(statement.outputs[0], -1) >= statement.length


def _chunk(statement: Statement, channel: Channel) -> Chunk | None:
    """The table as one that reads letters and at most one state."""
    letters, states = [], []
    for place, name in enumerate(channel.inputs):
        found = behind(statement, name)
        by = found.by if found.op == "shift" else 0
        source = behind(statement, found.inputs[0]) if by else found
        if _of_the_letter(statement, source) and not _is_constant(source):
            said = tuple(source.table[(a,)] for a in range(statement.letters + 1))
            letters.append((place, by, said))
        elif by:
            states.append((place, by, found.inputs[0]))
        else:
            return None
    if len(states) > 1 or not letters:
        return None
    reads = max(by for _, by, _ in letters) + 1
    if not states:
        return Chunk(channel, None, "", tuple(letters), reads)
    place, size, before = states[0]
    if reads > size:
        return None
    return Chunk(channel, place, before, tuple(letters), size)


def _of_the_letter(statement: Statement, channel: Channel) -> bool:
    ops = [statement.channels[n].op for n in channel.inputs]
    return channel.op == "table" and ops == ["token"]


def _is_constant(channel: Channel) -> bool:
    """Whether a table says one thing only: then it may be the start state."""
    return len(set(channel.table.values())) == 1


def _steps(
    statement: Statement,
    chunk: Chunk,
    machine: Automaton,
    reach: Mapping[str, Reach],
) -> bool:
    """Whether the table takes every state through every chunk as the machine does."""
    starts: list[tuple[tuple[int, ...], int]] = [((), machine.start)]
    if chunk.before:
        known = reach[chunk.before].later | {reach[chunk.before].bos}
        starts = [(v, q) for v, q in statement.decode.items() if v[0] in known]
    words = (statement.letters + 1.0) ** chunk.size
    if words * len(starts) > MOST_WORDS:
        return False
    for word in _chunks(statement.letters, chunk.size):
        for value, state in starts:
            found = chunk.channel.table.get(_row(chunk, value, word))
            after = _after(machine, state, word)
            if found is None or statement.decode.get((found,)) != after:
                return False
    return True


def _row(
    chunk: Chunk, value: tuple[int, ...], word: tuple[int, ...]
) -> tuple[int, ...]:
    """The arguments of the table after a word, from a value of the state before."""
    said = {place: says[word[-1 - by]] for place, by, says in chunk.letters}
    if chunk.state is not None:
        said[chunk.state] = value[0]
    return tuple(said[place] for place in range(len(said)))


def _chunks(letters: int, size: int) -> Iterator[tuple[int, ...]]:
    """Every word of ``size`` letters, and shorter ones with BOS in front."""
    for missing in range(size):
        for word in product(range(letters), repeat=size - missing):
            yield (letters,) * missing + word


def _after(machine: Automaton, state: int, word: tuple[int, ...]) -> int:
    """The state after a word; BOS stays."""
    for letter in word:
        if letter < len(machine.letters):
            state = int(machine.transitions[letter, state])
    return state
