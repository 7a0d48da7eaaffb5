"""Languages that programs with counts of prefixes decide: C-RASP."""

from dataclasses import dataclass
from functools import cached_property
from math import gcd

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray, Semiautomaton
from krohn.algebra.budget import Budget
from krohn.algebra.classification.digraph import components, restricted_transitions
from krohn.algebra.classification.languages.language import Language
from krohn.algebra.classification.properties import Property, Witness, call, first_pair
from krohn.algebra.wording import count

# A product of integers of any size takes about as long as this many of fixed size.
EXACT = 50

Exact = npt.NDArray[np.object_]


def c_rasp(
    language: Language, free: Property, aperiodic: Property, budget: Budget
) -> Property:
    """Whether programs that compare counts of prefixes decide the language: C-RASP.

    Inside a strongly connected component, a *balanced* weight of the edges, by their
    labels, sums to 0 along every cycle; its sum along a path then depends on the ends
    of the path alone. The first labels are the letters. States with different sums get
    different labels for their edges, and again, until nothing changes. The language is
    in C-RASP exactly if that tells apart all states of every component
    (docs/proofs/classes.md, 7).
    """
    name = "C-RASP"
    for obstacle in (free, aperiodic):
        if obstacle.holds is False:
            return Property(name, False, obstacle.evidence, obstacle.witness)
    label = components(language.machine)
    rounds, shown = 0, list[Witness]()
    for number in np.flatnonzero(np.bincount(label) > 1).tolist():
        states = np.flatnonzero(label == number)
        partition = told_apart(language.machine, states, budget)
        if pair := first_pair(partition.block):
            witness: Witness = {"states": call(language.machine, states[list(pair)])}
            reason = "no counts of letters, nor of counts, tell two states apart"
            return Property(name, False, reason, witness)
        rounds = max(rounds, len(partition.rounds))
        shown.append(
            {
                "states": call(language.machine, states),
                "counts": _counts(language.machine, partition.rounds[0]),
            }
        )
    if not rounds:
        return Property(name, True, "no state is left and entered again", {"rounds": 0})
    reason = (
        f"{count(rounds, 'round')} of counting tell{'s' * (rounds == 1)} all states"
    )
    return Property(name, True, reason, {"rounds": rounds, "components": shown})


@dataclass(frozen=True)
class Round:
    """One round of counting in a component: the weights, and the states they tell apart.

    Attributes:
        labels: ``(labels, 2)``: the letter of each label, and the block of the state
            where its edges begin.
        along: ``(states, labels)``: how often each label occurs on a path from the first
            state.
        cycles: The span of the cycles, reduced: pivot columns and integer rows.
        block: ``(states,)``: states with one number are not told apart then.
    """

    labels: IntArray
    along: IntArray
    cycles: list[tuple[int, Exact]]
    block: IntArray

    @cached_property
    def weights(self) -> list[list[int]]:
        """A basis of the balanced weights: of each the weight of every label."""
        return _kernel(self.cycles, len(self.labels))

    @cached_property
    def sums(self) -> list[list[int]]:
        """For each state the sums of the weights along any path from the first one."""
        return [
            [
                sum(w * n for w, n in zip(weight, row, strict=True))
                for weight in self.weights
            ]
            for row in self.along.tolist()
        ]


@dataclass(frozen=True)
class Distinguished:
    """The states of a component that counting tells apart.

    Attributes:
        block: ``(states,)``: states with one number are not told apart.
        rounds: The rounds that told further states apart.
    """

    block: IntArray
    rounds: tuple[Round, ...]


def told_apart(
    machine: Semiautomaton, states: IntArray, budget: Budget
) -> Distinguished:
    """Refine the labels of a component by balanced weights, until nothing changes.

    Args:
        machine: The whole machine.
        states: The states of one strongly connected component.
        budget: What that may take.

    Raises:
        BudgetExceeded: If it takes more.
    """
    target = restricted_transitions(machine, states)
    letter, source = np.nonzero(target >= 0)
    target = target[letter, source]
    block: IntArray = np.zeros(len(states), dtype=np.int64)
    rounds: tuple[Round, ...] = ()
    while True:
        most = len(machine.letters) * (int(block.max()) + 1)
        budget.reserve("the cycles of a component", 10 * len(letter) * most, 20)
        keys, label = np.unique(
            letter * len(states) + block[source], return_inverse=True
        )
        label = label.reshape(-1)
        along = _tree(source, target, label)
        steps = np.zeros((len(label), along.shape[1]), dtype=np.int64)
        steps[np.arange(len(label)), label] = 1
        cycles = np.unique(along[source] + steps - along[target], axis=0)
        entries = EXACT * cycles.size * min(cycles.shape)
        budget.reserve("the counts of a component", entries)
        reduced = _row_echelon_form(cycles)
        finer = _blocks(_modulo(along, reduced), block)
        if finer.max() == block.max():
            return Distinguished(block, rounds)
        labels = np.stack(np.divmod(keys, len(states)), axis=1)
        block, rounds = finer, (*rounds, Round(labels, along, reduced, finer))
        if block.max() + 1 == len(states):
            return Distinguished(block, rounds)


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


def _row_echelon_form(rows: IntArray) -> list[tuple[int, Exact]]:
    """The reduced row echelon form, exactly: pivot columns and integer rows."""
    left: Exact = rows.astype(object)
    done: list[tuple[int, Exact]] = []
    for column in range(rows.shape[1]):
        holding = np.flatnonzero(left[:, column] != 0)
        if not len(holding):
            continue
        pivot = _primitive(left[holding[0]])
        left = np.delete(left, holding[0], axis=0)
        left = _eliminate(left, pivot, column)
        left = left[(left != 0).any(axis=1)]
        done = [
            (c, _primitive(_eliminate(row[None], pivot, column)[0])) for c, row in done
        ]
        done.append((column, pivot))
    return done


def _eliminate(rows: Exact, pivot: Exact, column: int) -> Exact:
    """Integer multiples of the rows plus multiples of the pivot row, 0 in the column."""
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
        left = _eliminate(left, pivot, column)
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


def _counts(machine: Semiautomaton, first: Round) -> list[dict[str, int]]:
    """The balanced weights of the letters, by name; letters of weight 0 are left out."""
    letters = [machine.letters[a] for a in first.labels[:, 0]]
    named = (zip(letters, weight, strict=True) for weight in first.weights)
    return [{letter: value for letter, value in pairs if value} for pairs in named]
