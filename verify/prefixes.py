"""Channels that are right at the first positions, each for some positions more.

docs/soundness.md, section 2.2. A channel is right at a position if its value is a name of
the state there; which value names which state is found on the way, layer by layer. A
layer takes the state of some positions ago through the letters since.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from algebra.automaton import Automaton
from algebra.semiautomaton import IntArray
from verify.statement import Channel, Reach, Statement

MOST_WORDS = 500_000

Names = dict[int, int]
"""The state that a value names."""


@dataclass(frozen=True)
class Chunk:
    """A table of the last letters and, but for the first one, of a state before them.

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

    def row(self, value: int, word: tuple[int, ...]) -> tuple[int, ...]:
        """The arguments of the table after a word, from a value of the state before."""
        said = {place: says[word[-1 - by]] for place, by, says in self.letters}
        if self.state is not None:
            said[self.state] = value
        return tuple(said[place] for place in range(len(said)))


def by_prefixes(
    statement: Statement,
    machine: Automaton,
    reach: Mapping[str, Reach],
    shows: IntArray,
) -> dict[tuple[int, ...], int] | None:
    """What the one output means, if it is right at every position up to T.

    Args:
        statement: The Program.
        machine: Its letters are in the order of the token values.
        reach: The values of each channel.
        shows: ``(states,)``: the class that each state must be decoded to.

    Returns:
        The values that the output may have with the class of each; None if the output
        is not made of that many steps, or decodes to another class.
    """
    if len(statement.outputs) != 1:
        return None
    chunks = _chain(statement, statement.outputs[0])
    if sum(chunk.size for chunk in chunks) < statement.length:
        return None
    first = chunks[0].before or chunks[0].channel.name
    names: Names = {reach[first].bos: machine.start}
    if not all(_is_right(statement, c, machine, reach, names) for c in chunks):
        return None
    readings: dict[tuple[int, ...], int] = {
        (v,): int(shows[q]) for v, q in names.items()
    }
    right = all(statement.decode.get(v) == shown for v, shown in readings.items())
    return readings if right else None


def _chain(statement: Statement, name: str) -> list[Chunk]:
    """The chunks that lead to a channel, first one first."""
    found: list[Chunk] = []
    while name and (chunk := _chunk(statement, statement.channels[name])):
        found.append(chunk)
        name = chunk.before
    return found[::-1]


def _chunk(statement: Statement, channel: Channel) -> Chunk | None:
    """The table as one that reads letters and at most one state."""
    letters, states, known = [], [], dict[str, tuple[int, ...]]()
    for place, name in enumerate(channel.inputs if channel.op == "table" else ()):
        found = statement.behind[name]
        by = found.by if found.op == "shift" else 0
        source = statement.behind[found.inputs[0]] if by else found
        if source.name not in known:
            says = _of_the_letter(statement, source)
            known[source.name] = says if len(set(says)) > 1 else ()
        if says := known[source.name]:
            letters.append((place, by, says))
        elif by:  # what says one thing only may be the start state
            states.append((place, by, found.inputs[0]))
        else:
            return None
    if len(states) > 1 or not letters:
        return None
    reads = max(by for _, by, _ in letters) + 1
    if not states:
        return Chunk(channel, None, "", tuple(letters), reads)
    state, size, before = states[0]
    return (
        Chunk(channel, state, before, tuple(letters), size) if reads <= size else None
    )


def _of_the_letter(statement: Statement, channel: Channel) -> tuple[int, ...]:
    """What a table of the token says of each letter and of BOS; empty if it is none."""
    ops = [statement.channels[n].op for n in channel.inputs]
    if channel.op != "table" or ops != ["token"]:
        return ()
    return tuple(channel.table[(a,)] for a in range(statement.letters + 1))


def _is_right(
    statement: Statement,
    chunk: Chunk,
    machine: Automaton,
    reach: Mapping[str, Reach],
    names: Names,
) -> bool:
    """Whether the table steps as the machine does, under names that it may add to."""
    at_bos = reach[chunk.channel.name].bos
    if names.setdefault(at_bos, machine.start) != machine.start:
        return False
    first = reach[chunk.before].bos if chunk.before else 0
    starts = [(first, machine.start)]
    if chunk.before:
        known = reach[chunk.before].later | {first}
        starts = [(v, q) for v, q in names.items() if v in known]
    if chunk.size > MOST_WORDS.bit_length():
        return False
    words = len(starts) * (statement.letters + 1) ** chunk.size
    if words > MOST_WORDS:
        return False
    statement.effort.spend(words * (len(chunk.letters) + chunk.size))
    for word in _words(statement.letters, chunk.size):
        # Where the word began less than B positions ago, the state before is the start.
        begun = word[0] == statement.letters
        for value, state in [(first, machine.start)] if begun else starts:
            after = chunk.channel.table.get(chunk.row(value, word))
            target = _after(machine, state, word)
            if after is None or names.setdefault(after, target) != target:
                return False
    return True


def _words(letters: int, size: int) -> Iterator[tuple[int, ...]]:
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
