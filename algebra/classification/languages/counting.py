"""Length generalisation: flip-flops inside a machine, and what counting can decide."""

from dataclasses import dataclass
from math import gcd

import numpy as np
import numpy.typing as npt

from algebra.budget import Budget
from algebra.classification.digraph import components
from algebra.classification.languages.language import Language
from algebra.classification.languages.pairs import Pairs, check_size
from algebra.classification.property import Property, Witness, call, spell
from algebra.semiautomaton import IntArray, Semiautomaton
from algebra.wording import count

# A product of integers of any size takes about as long as this many of fixed size.
EXACT = 50

Exact = npt.NDArray[np.object_]


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
        rows = _inside(machine, states)
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


def _inside(machine: Semiautomaton, states: IntArray) -> IntArray:
    """``(letters, states)``: the machine on some states, −1 where a letter leaves them."""
    place: IntArray = np.full(len(machine.states), -1, dtype=np.int64)
    place[states] = np.arange(len(states))
    return place[machine.transitions[:, states]]


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


def c_rasp(
    language: Language, free: Property, aperiodic: Property, budget: Budget
) -> Property:
    """What programs that compare counts of prefixes decide: C-RASP.

    Inside a strongly connected component, a *balanced* weight of the edges, by their
    labels, sums to 0 along every cycle; its sum along a path then depends on the ends
    of the path alone. The first labels are the letters. States with different sums get
    different labels for their edges, and again, until nothing changes. The language is
    in C-RASP exactly if that tells apart all states of every component (docs/classes.md,
    theorem 7).
    """
    name = "C-RASP"
    for found in (free, aperiodic):
        if found.holds is False:
            return Property(name, False, found.evidence, found.witness)
    label = components(language.machine)
    rounds, shown = 0, list[Witness]()
    for number in np.flatnonzero(np.bincount(label) > 1).tolist():
        states = np.flatnonzero(label == number)
        told = _told_apart(language.machine, states, budget)
        if told.block.max() + 1 < len(states):
            first, second = _same(told.block)
            witness: Witness = {
                "states": call(language.machine, states[[first, second]])
            }
            reason = "no counts of letters, nor of counts, tell two states apart"
            return Property(name, False, reason, witness)
        rounds = max(rounds, told.rounds)
        shown.append(
            {
                "states": call(language.machine, states),
                "counts": [_weights(language.machine, w) for w in told.weights],
            }
        )
    if not rounds:
        return Property(name, True, "no state is left and entered again", {"rounds": 0})
    reason = (
        f"{count(rounds, 'round')} of counting tell{'s' * (rounds == 1)} all states"
    )
    return Property(name, True, reason, {"rounds": rounds, "components": shown})


@dataclass(frozen=True)
class _Told:
    """What counting tells of a component.

    Attributes:
        block: ``(states,)``: states with one number are not told apart.
        rounds: How often labels were refined until that stood.
        weights: The balanced weights of the letters, a basis.
    """

    block: IntArray
    rounds: int
    weights: list[list[int]]


def _told_apart(machine: Semiautomaton, states: IntArray, budget: Budget) -> _Told:
    """Refine labels by balanced weights."""
    target = _inside(machine, states)
    letter, source = np.nonzero(target >= 0)
    target = target[letter, source]
    block: IntArray = np.zeros(len(states), dtype=np.int64)
    weights: list[list[int]] = []
    rounds = 0
    while True:
        most = len(machine.letters) * (int(block.max()) + 1)
        budget.reserve("the cycles of a component", 10 * len(letter) * most, 20)
        label = np.unique(letter * len(states) + block[source], return_inverse=True)[1]
        label = label.reshape(-1)
        along = _tree(source, target, label)
        steps = np.zeros((len(label), along.shape[1]), dtype=np.int64)
        steps[np.arange(len(label)), label] = 1
        cycles = np.unique(along[source] + steps - along[target], axis=0)
        entries = EXACT * cycles.size * min(cycles.shape)
        budget.reserve("the counts of a component", entries)
        reduced = _reduced(cycles)
        if not rounds:
            used = np.unique(letter)
            weights = [
                _spread(w, used, len(machine.letters))
                for w in _kernel(reduced, len(used))
            ]
        finer = _blocks(_modulo(along, reduced), block)
        if finer.max() == block.max():
            return _Told(block, rounds, weights)
        block, rounds = finer, rounds + 1
        if block.max() + 1 == len(states):
            return _Told(block, rounds, weights)


def _tree(source: IntArray, target: IntArray, label: IntArray) -> IntArray:
    """``(states, labels)``: how often each label occurs on a path from state 0."""
    leaving: dict[int, list[int]] = {}
    for edge, state in enumerate(source.tolist()):
        leaving.setdefault(state, []).append(edge)
    along = np.zeros((int(source.max()) + 1, int(label.max()) + 1), dtype=np.int64)
    seen, queue = {0}, [0]
    for state in queue:
        for edge in leaving[state]:
            after = int(target[edge])
            if after not in seen:
                seen.add(after)
                queue.append(after)
                along[after] = along[state]
                along[after, label[edge]] += 1
    return along


def _reduced(rows: IntArray) -> list[tuple[int, Exact]]:
    """The reduced row echelon form, exactly: pivot columns and integer rows."""
    left: Exact = rows.astype(object)
    done: list[tuple[int, Exact]] = []
    for column in range(rows.shape[1]):
        holding = np.flatnonzero(left[:, column] != 0)
        if not len(holding):
            continue
        pivot = _primitive(left[holding[0]])
        left = np.delete(left, holding[0], axis=0)
        left = _cleared(left, pivot, column)
        left = left[(left != 0).any(axis=1)]
        done = [
            (c, _primitive(_cleared(row[None], pivot, column)[0])) for c, row in done
        ]
        done.append((column, pivot))
    return done


def _cleared(rows: Exact, pivot: Exact, column: int) -> Exact:
    """Integer multiples of the rows plus those of the pivot, 0 in the column."""
    cleared: Exact = rows * pivot[column] - rows[:, column][:, None] * pivot
    return cleared


def _primitive(row: Exact) -> Exact:
    divisor = gcd(*row.tolist()) or 1
    divided: Exact = row // divisor
    return divided


def _modulo(rows: IntArray, reduced: list[tuple[int, Exact]]) -> Exact:
    """The rows modulo the span of the others, all scaled by one number."""
    left: Exact = rows.astype(object)
    for column, pivot in reduced:
        left = _cleared(left, pivot, column)
    return left


def _blocks(values: Exact, block: IntArray) -> IntArray:
    """Numbers of equal rows that were in one block, by their first places."""
    number: dict[tuple[object, ...], int] = {}
    keys = [(b, *row) for b, row in zip(block.tolist(), values.tolist(), strict=True)]
    return np.array([number.setdefault(key, len(number)) for key in keys])


def _kernel(reduced: list[tuple[int, Exact]], columns: int) -> list[list[int]]:
    """A basis, in integers, of the weights that are 0 on all the rows."""
    pivots = dict(reduced)
    basis = []
    for free in (c for c in range(columns) if c not in pivots):
        scale = 1
        for column, row in pivots.items():
            scale *= (
                int(row[column]) // gcd(scale, int(row[column])) if row[free] else 1
            )
        weight = [0] * columns
        weight[free] = scale
        for column, row in pivots.items():
            weight[column] = -scale * int(row[free]) // int(row[column])
        divisor = gcd(*weight)
        basis.append([w // divisor for w in weight])
    return basis


def _spread(weight: list[int], used: IntArray, letters: int) -> list[int]:
    full = [0] * letters
    for value, letter in zip(weight, used.tolist(), strict=True):
        full[letter] = value
    return full


def _weights(machine: Semiautomaton, weight: list[int]) -> dict[str, int]:
    named = zip(machine.letters, weight, strict=True)
    return {letter: value for letter, value in named if value}


def _same(block: IntArray) -> tuple[int, int]:
    """The first two places with one number."""
    _, first, index = np.unique(block, return_index=True, return_inverse=True)
    second = int(np.flatnonzero(first[index] != np.arange(len(block)))[0])
    return int(first[index[second]]), second
