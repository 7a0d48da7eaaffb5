"""All that two systems can remember together after words of up to some length."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.equivalence.systems import Relation, System
from krohn.program.domains import IntArray

MOST_PAIRS = 20_000_000
"""What may be remembered together: 160 MB of numbers, and about a minute."""
Report = Callable[[int, int], None]


@dataclass(frozen=True)
class Explored:
    """What two systems say of all words of up to some letters.

    Attributes:
        length: How long words were.
        pairs: How many different pairs of memories they lead to.
        word: The letters of a shortest word on which the systems are wrong, by their
            numbers; None if there is none.
    """

    length: int
    pairs: int
    word: tuple[int, ...] | None


def explore(
    left: System, right: System, relation: Relation, length: int, report: Report
) -> Explored:
    """Follow two systems with the same letters side by side, shortest words first.

    Two words that lead to the same memories are continued once: what follows depends on
    the memories alone, and the shorter word has more letters left. So all words of up to
    ``length`` letters are covered.

    Raises:
        KrohnError: If there are too many memories to tell them apart by numbers of 64
            bits, or more than `MOST_PAIRS`.
    """
    number = _numbering(left, right, length)
    width, letters = len(left.start), len(left.letters)
    rows = np.concatenate([left.start, right.start])[None]
    seen, levels = number(rows), list[tuple[IntArray, IntArray]]()
    for done in range(length):
        if not len(rows):
            break
        parent = np.repeat(np.arange(len(rows)), letters)
        letter = np.tile(np.arange(letters), len(rows))
        first, says = left.step(rows[parent, :width], letter)
        second, says_too = right.step(rows[parent, width:], letter)
        bad = says & ~says_too if relation == "included" else says != says_too
        if bad.any():
            at = int(bad.argmax())
            word = (*_word(levels, int(parent[at])), int(letter[at]))
            return Explored(done + 1, len(seen), word)
        rows = np.concatenate([first, second], axis=1)
        key, once = np.unique(number(rows), return_index=True)
        place = np.searchsorted(seen, key)
        old = seen[np.minimum(place, len(seen) - 1)] == key
        seen = np.insert(seen, place[~old], key[~old])
        if len(seen) > MOST_PAIRS:
            raise KrohnError(
                f"words of {done + 1} letters lead to more than {MOST_PAIRS:,} different "
                f"memories; ask for at most {done} letters (-T {done})"
            )
        once = once[~old]
        levels.append((parent[once], letter[once]))
        rows = rows[once]
        report(done + 1, length)
    return Explored(length, len(seen), None)


def _numbering(
    left: System, right: System, length: int
) -> Callable[[IntArray], IntArray]:
    """A number of its own for every pair of memories within so many letters."""
    bounds = [system.bounds(length) for system in (left, right)]
    low = np.concatenate([each[0] for each in bounds])
    spread = np.concatenate([each[1] for each in bounds]) - low + 1
    if np.prod(spread.astype(float)) >= 2.0**62:
        raise KrohnError(
            f"within {length} letters there are too many values of "
            f"{len(spread)} counts to be told apart; ask for a shorter length (-T)"
        )
    factors = np.concatenate([[1], np.cumprod(spread[:-1])])
    return lambda rows: np.asarray((rows - low) @ factors)


def _word(levels: list[tuple[IntArray, IntArray]], at: int) -> Iterator[int]:
    """The letters that lead to a row of the last level."""
    found = []
    for parent, letter in reversed(levels):
        found.append(int(letter[at]))
        at = int(parent[at])
    return reversed(found)
