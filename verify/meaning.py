"""First half of a proof: the Program computes the machine, for every word up to T.

Two arguments are tried in turn; docs/soundness.md proves each.

* *Prefixes* (`verify.prefixes`): a channel that is right at positions up to l makes the
  next one, which takes its value of B positions ago through B letters, right up to l + B.
* *Exploration*: a Program with bounded memory is a finite transducer; all pairs of its
  memory and the machine's state that words up to T can reach are visited. A scan's
  window of all letters (`verify.windows`) is one cell of that memory, and so is the
  latest value before a position (`verify.before`). Parts of a Program that share
  nothing but the letters are explored one by one, and memories that differ in what a
  latest match remembers are joined (`verify.joined`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from algebra.automaton import Automaton
from algebra.semiautomaton import IntArray
from verify.errors import Differs, Rejected
from verify.joined import joined
from verify.parts import parts, together
from verify.prefixes import by_prefixes
from verify.statement import Reach, Statement
from verify.transducer import Transducer

MOST_PAIRS = 500_000

Memory = tuple[int, ...]
Pair = tuple[Memory, int]


@dataclass(frozen=True)
class Meaning:
    """What was proved of a Program.

    Attributes:
        argument: ``windows``, ``prefixes``, ``exploration of parts``, ``exploration of
            joined memories`` or ``exploration``.
        pairs: How many pairs of Program memory and machine state were visited.
        readings: Every tuple of output values that can occur, with the class it means.
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
    statement: Statement,
    machine: Automaton,
    reach: Mapping[str, Reach],
    shows: IntArray,
) -> Meaning:
    """Show that the outputs decode to what the machine shows at every position.

    Args:
        statement: The Program.
        machine: Its letters must be in the order of the token values.
        reach: The values of each channel, from `verify.statement.check_domains`.
        shows: ``(states,)``: the class that each state must be decoded to.

    Raises:
        Differs: With a shortest word, if they do not.
        Rejected: If none of the arguments applies.
    """
    readings = by_prefixes(statement, machine, reach, shows)
    if readings is not None:
        return Meaning("prefixes", len(readings), readings)
    if len(parts(statement)) > 1:
        joint = together(statement, machine, reach, shows, MOST_PAIRS)
        if joint is not None:
            return Meaning("exploration of parts", joint[1], joint[0])
    transducer = Transducer.of(statement, reach)
    if any(channel.op == "latest-match" for channel in transducer.needed):
        found = joined(transducer, machine, shows, MOST_PAIRS)
        if found is not None:
            return Meaning("exploration of joined memories", found[1], found[0])
    return _follow(transducer, machine, shows)


def _follow(transducer: Transducer, machine: Automaton, shows: IntArray) -> Meaning:
    """Visit every pair of a memory and a state that a word of up to T letters reaches.

    A memory begins with the output values, which must decode to what the state shows in
    every pair but the first (nothing is claimed before the first letter).
    """
    statement, step = transducer.statement, transducer.advance
    outputs = len(statement.outputs)
    first = (step((), statement.letters), machine.start)
    parents: dict[Pair, tuple[Pair, int] | None] = {first: None}
    readings: dict[tuple[int, ...], int] = {}
    frontier = [first]
    for _ in range(statement.length):
        following = []
        for pair, letter in product(frontier, range(statement.letters)):
            reached = step(pair[0], letter), int(machine.transitions[letter, pair[1]])
            shown, right = reached[0][:outputs], int(shows[reached[1]])
            if statement.decode.get(shown) != right:
                raise Differs((*_path(parents, pair), letter))
            readings[shown] = right
            if reached not in parents:
                parents[reached] = pair, letter
                following.append(reached)
            if len(parents) > MOST_PAIRS:
                raise Rejected(
                    f"the Program has more than {MOST_PAIRS} states to visit"
                )
        if not following:
            break
        frontier = following
    argument = "windows" if transducer.windows else "exploration"
    return Meaning(argument, len(parents), readings)


def _path(
    parents: Mapping[Pair, tuple[Pair, int] | None], pair: Pair
) -> tuple[int, ...]:
    word: list[int] = []
    while (parent := parents[pair]) is not None:
        pair, letter = parent
        word.append(letter)
    return tuple(reversed(word))
