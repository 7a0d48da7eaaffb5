"""Congruences, quotients and minimal machines, and the classes that a network says."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import Automaton, IntArray, Output, Semiautomaton
from krohn.algebra.budget import Budget
from krohn.algebra.errors import MachineError
from krohn.algebra.graphs import (
    reached_from,
    renumber_classes,
    strong_components,
    weak_components,
)

# Minimal machines: the reachable part, and quotients by indistinguishable states.


UNDEFINED = -1


def reachable(a: Automaton) -> Automaton:
    """The part of ``a`` that some word reaches from the start.

    States keep their names, outputs and order; the action stays valid, because it
    only ever spoke about states reached from the start.
    """
    seen = reached_from(a.transitions, a.start)
    return a if seen.all() else _restrict(a, np.flatnonzero(seen))


def minimise(a: Automaton) -> Automaton:
    """The smallest machine that has the outputs of ``a`` on every word.

    Moore's partition refinement of the reachable part, for outputs on states and on
    transitions. Without outputs the states themselves are shown, so that no two may
    be merged. A class is named after its first state.
    """
    a = reachable(a)
    if a.output is None:
        return a
    block = _relabel(np.atleast_2d(a.output.table))
    while True:
        finer = _relabel(np.stack([block, *block[a.transitions]]))
        if finer.max() == block.max():
            return quotient(a, block)
        block = finer


def quotient(a: Automaton, block: npt.ArrayLike) -> Automaton:
    """The machine whose states are the blocks of a congruence.

    Args:
        a: The machine to divide.
        block: ``(states,)``: any label for the block of each state.

    Returns:
        Blocks ordered by and named after their first states. The output is kept if
        it is constant on blocks and dropped otherwise.

    Raises:
        MachineError: If a letter takes a block apart, or the shape does not fit.
    """
    labels = np.asarray(block)
    if labels.shape != (len(a.states),):
        raise MachineError(f"give one block for each of the {len(a.states)} states")
    index, chosen = renumber_classes(labels)
    table = index[a.transitions[:, chosen]]
    if not np.array_equal(table[:, index], index[a.transitions]):
        raise MachineError(f"these blocks are no congruence of {a.name}")
    return replace(
        a,
        semiautomaton=Semiautomaton(
            table, a.letters, tuple(a.states[q] for q in chosen)
        ),
        start=int(index[a.start]),
        output=_output_of_blocks(a.output, index, chosen),
    )


def _restrict(a: Automaton, kept: IntArray) -> Automaton:
    rank = np.full(len(a.states), UNDEFINED, dtype=np.int64)
    rank[kept] = np.arange(len(kept))
    output = a.output
    if output is not None:
        output = Output(output.on, output.table[..., kept], output.names)
    names = [a.states[q] for q in kept]
    return replace(
        a,
        semiautomaton=Semiautomaton(
            rank[a.transitions[:, kept]], a.letters, tuple(names)
        ),
        start=int(rank[a.start]),
        output=output,
    )


def _relabel(rows: IntArray) -> IntArray:
    """The class ``(states,)`` of every column of ``rows``, numbered from 0."""
    # Folding row by row sorts plain integers, which is far faster than sorting tuples.
    block = np.zeros(rows.shape[1], dtype=np.int64)
    for row in rows:
        pair = block * (int(row.max()) + 1) + row
        block = np.unique(pair, return_inverse=True)[1].reshape(-1)
    return block


def _output_of_blocks(
    output: Output | None, index: IntArray, chosen: IntArray
) -> Output | None:
    if output is None:
        return None
    table = output.table[..., chosen]
    if not np.array_equal(table[..., index], output.table):
        return None
    return Output(output.on, table, output.names)


# The output classes of a machine, which a network says; Mealy machines as Moore ones.


Shows = Literal["states", "outputs"]
SHOWS: tuple[Shows, ...] = get_args(Shows)


@dataclass(frozen=True)
class Shown:
    """The classes between which a network decides.

    Attributes:
        names: The name of each class.
        of: ``(states,)``: the class of each state.
    """

    names: tuple[str, ...]
    of: IntArray


def output_classes(machine: Automaton, shows: Shows) -> Shown:
    """The states of a machine as classes, or its outputs on states.

    Raises:
        MachineError: If outputs are wanted of a machine that has none on its states.
    """
    if shows == "states":
        return Shown(machine.states, np.arange(len(machine.states)))
    if machine.output is None or machine.output.on != "states":
        raise MachineError(f"{machine.name} shows no outputs on its states")
    return Shown(machine.output.names, machine.output.table)


def naming(machine: Automaton) -> Automaton:
    """The machine whose states show their own names."""
    every = np.arange(len(machine.states))
    return replace(machine, output=Output("states", every, machine.states))


def moore(machine: Automaton) -> Automaton:
    """The machine with its outputs on states: a state holds the last output.

    Outputs on transitions split every state into one for each output with which it is
    entered. Before the first letter nothing was shown; the start state gets the first
    output, of which nothing is claimed.

    Raises:
        MachineError: If the machine has no outputs.
    """
    if machine.output is None:
        raise MachineError(
            f"{machine.name} has no outputs of its own; choose an observation"
        )
    if machine.output.on == "states":
        return machine
    names, states = machine.output.names, len(machine.states)
    entered = machine.transitions * len(names) + machine.output.table
    table = np.repeat(entered, len(names), axis=1)
    both = tuple(f"{q}/{o}" for q in machine.states for o in names)
    return reachable(
        replace(
            machine,
            semiautomaton=Semiautomaton(table, machine.letters, both),
            start=machine.start * len(names),
            output=Output("states", np.tile(np.arange(len(names)), states), names),
            action=None,
        )
    )


# Congruences: partitions of the states that every letter respects.
#
# A partition is an array ``(states,)`` of labels; the label of a block is its first state.


PASSES = 10  # over each entry where equivalences are made
JOINING = 50  # array operations that join two of them


def principal_congruences(
    table: IntArray, budget: Budget | None = None
) -> list[IntArray]:
    """All congruences that identify two states and no more than they must, finest first.

    The congruence of p ~ q is the equivalence generated by the pairs to which words lead
    from (p, q). Pairs that lead to each other have the same congruence, and a pair's
    contains those of its successors, so pairs are settled from the last ones backwards.

    Args:
        table: ``(letters, states)`` transitions.
        budget: How many pairs of states there may be, and how much work to do.

    Raises:
        BudgetExceeded: If there are too many pairs or no step remains.
    """
    budget = budget or Budget()
    n = table.shape[1]
    first, second = np.triu_indices(n, 1)
    budget.spend(PASSES * len(table) * len(first), PASSES)
    budget.check(len(first), "pairs of states")
    if not len(first):
        return []
    number = np.zeros((n, n), dtype=np.int64)
    number[first, second] = number[second, first] = np.arange(len(first))
    follow = np.where(
        table[:, first] == table[:, second],
        -1,
        number[table[:, first], table[:, second]],
    )
    label, order = _components_last_first(follow)
    members = np.split(
        np.argsort(label, kind="stable"), np.cumsum(np.bincount(label))[:-1]
    )
    generated: dict[int, IntArray] = {}
    for component in order:
        pairs = members[component]
        budget.check(len(generated), "congruences")
        after = np.unique(label[follow[:, pairs][follow[:, pairs] >= 0]])
        parts = [generated[c] for c in after.tolist() if c != component]
        budget.spend(PASSES * (n * (len(parts) + 1) + len(pairs)), JOINING)
        generated[component] = _generated_equivalence(
            n, first[pairs], second[pairs], parts
        )
    distinct = np.unique(np.stack(list(generated.values())), axis=0)
    blocks = (distinct == np.arange(n)).sum(axis=1)
    return [distinct[i] for i in np.argsort(-blocks, kind="stable").tolist()]


def _components_last_first(follow: IntArray) -> tuple[IntArray, list[int]]:
    """Strongly connected components of the pairs, and an order in which to settle them."""
    letters, count = follow.shape
    source = np.tile(np.arange(count), letters)
    target = follow.reshape(-1)
    kept = target >= 0
    source, target = source[kept], target[kept]
    label = strong_components(count, source, target)
    order = _settling_order(label[source], label[target], int(label.max()) + 1)
    return label, order


def _settling_order(source: IntArray, target: IntArray, count: int) -> list[int]:
    """The components, each after all that follow it."""
    edges = np.unique(np.stack([source, target], axis=1)[source != target], axis=0)
    open_after = np.bincount(edges[:, 0], minlength=count)
    before: list[list[int]] = [[] for _ in range(count)]
    for s, t in edges.tolist():
        before[t].append(s)
    order = np.flatnonzero(open_after == 0).tolist()
    for component in order:
        for s in before[component]:
            open_after[s] -= 1
            if open_after[s] == 0:
                order.append(s)
    return order


def _generated_equivalence(
    n: int, first: IntArray, second: IntArray, parts: Sequence[IntArray]
) -> IntArray:
    """The equivalence generated by pairs and by other equivalences."""
    states = np.arange(n)
    sources = np.concatenate([first, *(states for _ in parts)])
    targets = np.concatenate([second, *parts])
    return canonical_labels(weak_components(n, sources, targets))


def canonical_labels(labels: IntArray) -> IntArray:
    """A partition with each block labelled by its first state."""
    _, first, index = np.unique(labels, return_index=True, return_inverse=True)
    return first[index.reshape(-1)]


def join(parts: Iterable[IntArray]) -> IntArray:
    """The finest partition that is coarser than each of some partitions.

    The join of congruences is one, without regard to letters.
    """
    parts = list(parts)
    nothing = np.zeros(0, dtype=np.int64)
    return _generated_equivalence(len(parts[0]), nothing, nothing, parts)


def meet(parts: Iterable[IntArray]) -> IntArray:
    """The coarsest partition that is finer than each of some partitions."""
    return canonical_labels(
        np.unique(np.stack(list(parts)), axis=1, return_inverse=True)[1].reshape(-1)
    )


def refines(fine: IntArray, coarse: IntArray) -> bool:
    """Whether every block of one partition lies in a block of the other."""
    return bool((coarse[fine] == coarse).all())


def blocks(partition: IntArray) -> int:
    """The number of blocks."""
    return len(np.unique(partition))


def factor_congruences(
    principal: Sequence[IntArray],
    budget: Budget | None = None,
    coarse_first: bool = False,
) -> list[IntArray] | None:
    """Congruences that meet in equality: they split a machine into parallel ones.

    They do if each smallest congruence is missing from one of them, since any other but
    equality lies above a smallest one.

    Args:
        principal: The principal congruences of a machine, finest first.
        budget: How much work to do.
        coarse_first: Whether the last smallest congruence is served first. Where there
            is a choice, the congruences that are found depend on the order.

    Returns:
        For every smallest congruence, one as coarse as can be (found greedily, coarse
        parts first) that does not contain it, without those that the others make
        superfluous; or None if there is but one smallest congruence, so that each such
        set contains equality itself.

    Raises:
        BudgetExceeded: If no step remains.
    """
    budget = budget or Budget()
    first, second = _atoms(principal)
    if len(first) < 2:
        return None
    if coarse_first:
        first, second = first[::-1], second[::-1]
    chosen: list[IntArray] = []
    left = np.arange(len(first))
    while len(left):
        pair = int(first[left[0]]), int(second[left[0]])
        congruence = _coarsest_avoiding(pair, principal, budget)
        chosen.append(congruence)
        left = left[congruence[first[left]] == congruence[second[left]]]
    return _without_redundant(chosen, first, second)


def independent(factors: Sequence[IntArray]) -> list[IntArray]:
    """Congruences that tell of each other met in one, so that those left do not.

    Two congruences tell nothing of each other if each block of one meets each block of
    the other. In a direct product the many coarse congruences of one factor thus
    become that factor again.
    """
    kept: list[IntArray] = []
    for factor in factors:
        for other in [c for c in kept if not _crossing(c, factor)]:
            kept = [c for c in kept if c is not other]
            factor = meet([factor, other])
        kept.append(factor)
    return kept


def _crossing(one: IntArray, other: IntArray) -> bool:
    return blocks(meet([one, other])) == blocks(one) * blocks(other)


def _atoms(principal: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """For every smallest congruence two states that it identifies.

    A congruence contains a smallest one if it identifies these two.
    """
    first, second = (np.empty(len(principal), dtype=np.int64) for _ in range(2))
    count = 0
    for congruence in principal:
        if not (congruence[first[:count]] == congruence[second[:count]]).any():
            first[count] = np.argmax(congruence != np.arange(len(congruence)))
            second[count] = congruence[first[count]]
            count += 1
    return first[:count], second[:count]


def _coarsest_avoiding(
    pair: tuple[int, int], principal: Sequence[IntArray], budget: Budget
) -> IntArray:
    """A largest congruence that keeps two states apart."""
    p, q = pair
    best = np.arange(len(principal[0]))
    for extra in reversed(principal):
        budget.spend(len(best))
        if extra[p] != extra[q] and not refines(extra, best):
            budget.check(len(principal), "congruences")
            budget.spend(PASSES * len(best), JOINING)
            grown = join([best, extra])
            if grown[p] != grown[q]:
                best = grown
    return best


def _without_redundant(
    chosen: Sequence[IntArray], first: IntArray, second: IntArray
) -> list[IntArray]:
    """The congruences that are needed to separate all pairs, coarse ones first."""
    kept = sorted(chosen, key=lambda c: (blocks(c), c.tolist()))
    apart = np.stack([c[first] != c[second] for c in kept])
    needed = np.ones(len(kept), dtype=bool)
    for i in range(len(kept) - 1, -1, -1):
        needed[i] = False
        needed[i] = not apart[needed].any(axis=0).all()
    return [c for c, stays in zip(kept, needed.tolist(), strict=True) if stays]
