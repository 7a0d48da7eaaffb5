"""Languages that programs with counts of prefixes decide: C-RASP."""

from dataclasses import dataclass
from math import gcd

import numpy as np
import numpy.typing as npt

from algebra.budget import Budget
from algebra.classification.digraph import components, restricted
from algebra.classification.languages.language import Language
from algebra.classification.property import Property, Witness, call
from algebra.semiautomaton import IntArray, Semiautomaton
from algebra.wording import count

# A product of integers of any size takes about as long as this many of fixed size.
EXACT = 50

Exact = npt.NDArray[np.object_]


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
class _Distinguished:
    """What counting tells of a component.

    Attributes:
        block: ``(states,)``: states with one number are not told apart.
        rounds: How often labels were refined until that stood.
        weights: The balanced weights of the letters, a basis.
    """

    block: IntArray
    rounds: int
    weights: list[list[int]]


def _told_apart(
    machine: Semiautomaton, states: IntArray, budget: Budget
) -> _Distinguished:
    """Refine labels by balanced weights."""
    target = restricted(machine, states)
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
            return _Distinguished(block, rounds, weights)
        block, rounds = finer, rounds + 1
        if block.max() + 1 == len(states):
            return _Distinguished(block, rounds, weights)


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
