"""Flip-flops that a machine can write for ever, and the languages without one."""

import numpy as np

from krohn.algebra.budget import Budget
from krohn.algebra.classification.digraph import components, restricted_transitions
from krohn.algebra.classification.languages.language import Language
from krohn.algebra.classification.languages.pairs import Pairs, check_size
from krohn.algebra.classification.property import Property, Witness, call, spell


def no_flip_flop(language: Language, budget: Budget) -> Property:
    """No two idempotents of the monoid are R-related: R∘G.

    Equivalently, no words x and y lead two different states p and q both to p, and both
    to q: a flip-flop that can be written for ever (docs/classes.md, theorem 6). The
    states are in one strongly connected component, so each is searched alone.
    """
    name, machine = "R∘G", language.machine
    label = components(machine)
    for number in np.flatnonzero(np.bincount(label) > 1).tolist():
        states = np.flatnonzero(label == number)
        check_size(len(machine.letters), len(states))
        rows = restricted_transitions(machine, states)
        pairs = Pairs(rows, np.ones((len(states), len(states)), dtype=bool), budget)
        pair = _flip_flop(pairs)
        if pair is not None:
            reason = "one word leads two states to the first, another to the second"
            words = [spell(machine, _reset(pairs, pair, end)) for end in pair]
            names = call(machine, states[list(pair)])
            witness: Witness = {"states": names, "resets": words}
            return Property(name, False, reason, witness)
    reason = "no two words write different states over the same two states"
    return Property(name, True, reason)


def _flip_flop(pairs: Pairs) -> tuple[int, int] | None:
    """Two states that words lead both to the first, and both to the second.

    A set of bits for each pair says at which states words make its two ends meet; sets
    grow against the letters until they stay.
    """
    n, letters = pairs.states, len(pairs.after)
    width, bit, first = -(-n // 8), np.arange(n), np.repeat(np.arange(n), n)
    meeting = np.zeros((n * n + 1, width), dtype=np.uint8)
    meeting[bit * (n + 1), bit // 8] = 1 << bit % 8
    while True:
        words = pairs.after.size * width // 8
        pairs.budget.reserve("a search through pairs of states", words, 2 * letters)
        grown = meeting.copy()
        for after in pairs.after:
            # A pair that leaves the component has −1 here: the last row, which is empty.
            grown[:-1] |= meeting[after]
        held = grown[np.arange(n * n), first // 8] >> first % 8 & 1
        writes = held.reshape(n, n).astype(bool)
        both = np.argwhere(writes & writes.T & ~np.eye(n, dtype=bool))
        if len(both):
            return int(both[0, 0]), int(both[0, 1])
        apart = pairs.nodes % (n + 1) != 0
        if np.array_equal(grown, meeting) or not grown[:-1][apart].any():
            return None
        meeting = grown


def _reset(pairs: Pairs, pair: tuple[int, int], end: int) -> list[int]:
    """A word that leads both states to one of them."""
    wanted = np.zeros((pairs.states, pairs.states), dtype=bool)
    wanted[end, end] = True
    return pairs.word_to(pair, wanted) or []


def aperiodic_without_flip_flop(
    aperiodic: Property, free: Property, rasp: Property
) -> Property:
    """Aperiodic, and no two idempotents of the monoid are R-related: R∞."""
    if rasp.holds:
        return Property("R∞", True, f"it is in C-RASP: {rasp.evidence}")
    for found in (free, aperiodic):
        if found.holds is not True:
            return Property("R∞", found.holds, found.evidence, found.witness)
    return Property("R∞", True, f"{free.evidence}, and {aperiodic.evidence}")
