"""Programs that fall into parts which share nothing but the letters.

The memory of such a Program is a tuple of memories, one for each part; exploring the
parts one by one visits the sum of their sizes instead of the product
(docs/soundness.md, section 2.5).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from algebra.automaton import Automaton
from algebra.semiautomaton import IntArray
from verify.errors import Rejected
from verify.statement import Reach, Statement
from verify.transducer import Memory, Transducer

Shown = Mapping[int, Memory]
"""The output values that go with each state of the machine."""


def parts(statement: Statement) -> list[Statement]:
    """The Program cut into parts, each with some of the outputs, in their order."""
    cones: list[tuple[set[str], list[str]]] = []
    for output in dict.fromkeys(statement.outputs):
        cone, names = _cone(statement, output), [output]
        meeting = [other for other in cones if other[0] & cone]
        for other in meeting:
            cones.remove(other)
            cone |= other[0]
            names = other[1] + names
        cones.append((cone, names))
    return [_restricted(statement, cone, names) for cone, names in cones]


def _cone(statement: Statement, output: str) -> set[str]:
    """The channels that a channel depends on, itself included, the letter apart."""
    cone, todo = set(), [output]
    while todo:
        name = todo.pop()
        if name not in cone and statement.channels[name].op != "token":
            cone.add(name)
            todo.extend(statement.channels[name].inputs)
    return cone


def _restricted(statement: Statement, cone: set[str], outputs: list[str]) -> Statement:
    channels = {
        name: channel
        for name, channel in statement.channels.items()
        if name in cone or channel.op == "token"
    }
    return replace(statement, channels=channels, outputs=tuple(outputs), decode={})


def together(
    statement: Statement,
    machine: Automaton,
    reach: Mapping[str, Reach],
    shows: IntArray,
    most_pairs: int,
) -> tuple[dict[Memory, int], int] | None:
    """What the outputs show in each state, if every part shows one thing in each state.

    Args:
        statement: The Program.
        machine: The machine.
        reach: The values of each channel.
        shows: ``(states,)``: the class that each state must be decoded to.
        most_pairs: The largest part that is explored.

    Returns:
        Every tuple of output values that can occur with the class that it means, and how
        many pairs were visited; None if some part shows several things.

    Raises:
        Rejected: If a part has too many pairs.
    """
    found: list[tuple[tuple[str, ...], Shown]] = []
    visited = 0
    for part in parts(statement):
        shown: dict[int, Memory] = {}
        for state, values, new in _steps(part, machine, reach, most_pairs):
            visited += new
            if shown.setdefault(state, values) != values:
                return None
        found.append((part.outputs, shown))
    readings: dict[Memory, int] = {}
    for state in found[0][1]:
        value = {n: v for ns, s in found for n, v in zip(ns, s[state], strict=True)}
        reading = tuple(value[name] for name in statement.outputs)
        if statement.decode.get(reading) != shows[state]:
            return None
        readings[reading] = int(shows[state])
    return readings, visited


def _steps(
    part: Statement, machine: Automaton, reach: Mapping[str, Reach], most: int
) -> Iterator[tuple[int, Memory, bool]]:
    """Every step that words of up to T letters take through pairs (memory, state).

    Yields:
        The state, the output values beside it, and whether the pair is a new one.
    """
    transducer, outputs = Transducer.of(part, reach), len(part.outputs)
    first = (transducer.advance((), part.letters), machine.start)
    known, frontier = {first}, [first]
    for _ in range(part.length):
        following = []
        for memory, state in frontier:
            for letter in range(part.letters):
                after = transducer.advance(memory, letter)
                pair = (after, int(machine.transitions[letter, state]))
                new = pair not in known
                yield pair[1], after[:outputs], new
                if new:
                    known.add(pair)
                    following.append(pair)
                if len(known) > most:
                    raise Rejected(f"a part of the Program has more than {most} states")
        frontier = following
