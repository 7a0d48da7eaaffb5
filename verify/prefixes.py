"""Channels that are right at the first positions, each for one position more.

docs/soundness.md, section 2.2. A channel is right at a position if its value is a name of
the state there; which value names which state is found on the way, layer by layer.
"""

from collections.abc import Mapping

from algebra.automaton import Automaton
from algebra.semiautomaton import IntArray
from verify.statement import Channel, Reach, Statement
from verify.windows import behind

Names = dict[int, int]
"""The state that a value names."""


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
    steps = _steps(statement, statement.channels[statement.outputs[0]])
    first = steps[0][0] if steps else statement.outputs[0]
    names: Names = {reach[first].bos: machine.start}
    if len(steps) < statement.length or not all(
        _is_step(statement, channel, machine, reach, names) for _, channel in steps
    ):
        return None
    readings: dict[tuple[int, ...], int] = {
        (v,): int(shows[q]) for v, q in names.items()
    }
    right = all(statement.decode.get(v) == shown for v, shown in readings.items())
    return readings if right else None


def _steps(statement: Statement, last: Channel) -> list[tuple[str, Channel]]:
    """The tables of a channel one position before and of a letter, first one first."""
    found: list[tuple[str, Channel]] = []
    while source := _stepped(statement, last):
        found.append((source, last))
        last = statement.channels[source]
    return found[::-1]


def _stepped(statement: Statement, channel: Channel) -> str:
    """The channel whose value one position earlier this one steps from, or ``""``."""
    if channel.op != "table" or len(channel.inputs) != 2:
        return ""
    before = behind(statement, channel.inputs[0])
    letter = statement.channels[channel.inputs[1]]
    if before.op != "shift" or before.by != 1 or letter.op != "table":
        return ""
    by_letter = [statement.channels[n].op for n in letter.inputs] == ["token"]
    return before.inputs[0] if by_letter else ""


def _is_step(
    statement: Statement,
    channel: Channel,
    machine: Automaton,
    reach: Mapping[str, Reach],
    names: Names,
) -> bool:
    """Whether the table is the transition function, under names that it may add to."""
    if names.setdefault(reach[channel.name].bos, machine.start) != machine.start:
        return False
    letter = statement.channels[channel.inputs[1]]
    values = reach[channel.inputs[0]].later
    for value, state in list(names.items()):
        for a in range(statement.letters if value in values else 0):
            after = channel.table[value, letter.table[(a,)]]
            target = int(machine.transitions[a, state])
            if names.setdefault(after, target) != target:
                return False
    return True
