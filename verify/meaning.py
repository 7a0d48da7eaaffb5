"""First half of a proof: the Program computes the machine, for every word up to T.

Two arguments are tried in turn; docs/soundness.md proves each.

* *Prefixes* (sequential): a channel that is right at positions up to l makes the next
  one, a step of the machine from the position before, right up to l + 1.
* *Exploration*: a Program with bounded memory is a finite transducer; all pairs of its
  memory and the machine's state that words up to T can reach are visited. A scan's
  window of all letters (`verify.windows`) is one cell of that memory, and so is the
  latest value before a position (`verify.before`). Parts of a Program that share
  nothing but the letters are explored one by one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from algebra.automaton import Automaton
from verify.errors import Differs, Rejected
from verify.parts import parts, together
from verify.statement import Channel, Reach, Statement
from verify.transducer import Transducer
from verify.windows import behind

MOST_PAIRS = 500_000

Memory = tuple[int, ...]
Pair = tuple[Memory, int]


@dataclass(frozen=True)
class Meaning:
    """What was proved of a Program.

    Attributes:
        argument: ``windows``, ``prefixes``, ``exploration of parts`` or
            ``exploration``.
        pairs: How many pairs of Program memory and machine state were visited.
        readings: Every tuple of output values that can occur, with the state it means.
    """

    argument: str
    pairs: int
    readings: Mapping[tuple[int, ...], int]

    def evidence(self) -> dict[str, Any]:
        """The facts, as they are written into a certificate."""
        return {
            "argument": self.argument,
            "pairs": self.pairs,
            "readings": len(self.readings),
        }


def prove(
    statement: Statement, machine: Automaton, reach: Mapping[str, Reach]
) -> Meaning:
    """Show that the outputs decode to the machine's state at every position.

    Args:
        statement: The Program.
        machine: Its letters must be in the order of the token values.
        reach: The values of each channel, from `verify.statement.check_domains`.

    Raises:
        Differs: With a shortest word, if they do not.
        Rejected: If none of the arguments applies.
    """
    if _is_sequential(statement, machine, reach):
        readings = dict(statement.decode)
        return Meaning("prefixes", len(readings), readings)
    if len(parts(statement)) > 1:
        joint = together(statement, machine, reach, MOST_PAIRS)
        if joint is not None:
            return Meaning("exploration of parts", joint[1], joint[0])
    transducer = Transducer.of(statement, reach)
    start = transducer.advance((), statement.letters)
    outputs = len(statement.outputs)
    argument = "windows" if transducer.windows else "exploration"
    return _follow(argument, statement, machine, start, transducer.advance, outputs)


def _follow(
    argument: str,
    statement: Statement,
    machine: Automaton,
    start: Memory,
    step: Callable[[Memory, int], Memory],
    outputs: int,
) -> Meaning:
    """Visit every pair of a memory and a state that a word of up to T letters reaches.

    The first ``outputs`` entries of a memory are the output values, which must decode to
    the state in every pair but the first (nothing is claimed before the first letter).
    """
    first = (start, machine.start)
    parents: dict[Pair, tuple[Pair, int] | None] = {first: None}
    readings: dict[tuple[int, ...], int] = {}
    frontier = [first]
    for _ in range(statement.length):
        following = []
        for pair, letter in product(frontier, range(statement.letters)):
            reached = step(pair[0], letter), int(machine.transitions[letter, pair[1]])
            shown = reached[0][:outputs]
            if statement.decode.get(shown) != reached[1]:
                raise Differs((*_path(parents, pair), letter))
            readings[shown] = reached[1]
            if reached not in parents:
                parents[reached] = pair, letter
                following.append(reached)
        if len(parents) > MOST_PAIRS:
            raise Rejected(f"the Program has more than {MOST_PAIRS} states to visit")
        if not following:
            break
        frontier = following
    return Meaning(argument, len(parents), readings)


def _path(
    parents: Mapping[Pair, tuple[Pair, int] | None], pair: Pair
) -> tuple[int, ...]:
    word: list[int] = []
    while (parent := parents[pair]) is not None:
        pair, letter = parent
        word.append(letter)
    return tuple(reversed(word))


def _is_sequential(
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
        before = _step_of(statement, channel, machine, reach)
        if before in right:
            right[channel.name] = right[before] + 1
    return right.get(statement.outputs[0], -1) >= statement.length


def _step_of(
    statement: Statement,
    channel: Channel,
    machine: Automaton,
    reach: Mapping[str, Reach],
) -> str:
    """The channel whose value one position earlier this one steps from, or ``""``."""
    if len(channel.inputs) != 2:
        return ""
    before = behind(statement, channel.inputs[0])
    letter = statement.channels[channel.inputs[1]]
    if before.op != "shift" or before.by != 1 or letter.op != "table":
        return ""
    if [statement.channels[n].op for n in letter.inputs] != ["token"]:
        return ""
    values = reach[before.name].later
    right = _steps(statement, channel, letter, machine, values)
    return before.inputs[0] if right else ""


def _steps(
    statement: Statement,
    channel: Channel,
    letter: Channel,
    machine: Automaton,
    values: frozenset[int],
) -> bool:
    """Whether the table is the transition function, under the decoding of the output.

    Only ``values`` that the stepped channel takes are of interest.
    """
    for (value,), state in statement.decode.items():
        if value not in values:
            continue
        for a in range(statement.letters):
            after = channel.table.get((value, letter.table[(a,)]))
            target = int(machine.transitions[a, state])
            if after is None or statement.decode.get((after,)) != target:
                return False
    return True
