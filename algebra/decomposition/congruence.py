"""Decompositions by congruences, and the search among them and holonomy."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from krohn.algebra.automaton import IntArray, Semiautomaton
from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.cascade import (
    INVALID,
    Cascade,
    Projection,
    Wiring,
    component_of,
    trivial,
)
from krohn.algebra.decomposition.diagrams import (
    letters_of,
    next_layer,
    number_names,
    refine,
)
from krohn.algebra.decomposition.holonomy import holonomy
from krohn.algebra.decomposition.simplify import cost, simplify
from krohn.algebra.minimisation import (
    blocks,
    factor_congruences,
    independent,
    principal_congruences,
)

# Decompositions by congruences: which block first, then where in the block.


def by_congruence(machine: Semiautomaton, partition: IntArray) -> Cascade:
    """The machine of the blocks, and below it one that knows the place in the block.

    Places are numbered so that letters which take a block into a fresh one move no
    place, as far as that goes. Where a block is smaller than the largest one, the
    action of a letter on the other places is free: it is chosen as a permutation, the
    identity if possible, where the letter takes no two states of the block together.

    Args:
        machine: Any semiautomaton.
        partition: ``(states,)`` block labels of a congruence, neither equality nor
            everything in one block.
    """
    block, size = _number_blocks(partition)
    table = machine.transitions
    place = _places(table, block, size)
    states = np.full((size, int(place.max()) + 1), INVALID, dtype=np.int64)
    states[block, place] = np.arange(len(block))
    rows, emit = letters_of(block[table[:, states[:, 0]]])
    nodes = np.arange(len(machine.letters))[:, None, None]
    moves, follow = next_layer(
        _moves(table, states, place).reshape(len(nodes), size, -1)
    )
    below, lower_emit = letters_of(moves)
    upper = component_of(rows, _block_names(machine, states))
    lower = component_of(below, number_names(states.shape[1]))
    zeros = np.zeros((len(moves), lower.size), dtype=np.int64)
    return Cascade(
        machine.letters,
        machine.states,
        (upper, lower),
        Wiring(np.arange(len(nodes)), (emit, lower_emit), (follow, zeros)),
        Projection((np.arange(size)[None], states)),
        np.stack([block, place], axis=1),
    )


def side_by_side(machine: Semiautomaton, partitions: Sequence[IntArray]) -> Cascade:
    """The machines of the blocks of several congruences, none reading another.

    Args:
        machine: Any semiautomaton.
        partitions: Congruences that meet in equality.
    """
    letters = len(machine.letters)
    numbered = [_number_blocks(partition) for partition in partitions]
    lift = np.stack([block for block, _ in numbered], axis=1)
    components, emits, follows, down = [], [], [], []
    above = np.zeros((1, 0), dtype=np.int64)
    for j, (block, size) in enumerate(numbered):
        _, first = np.unique(block, return_index=True)
        rows, emit = letters_of(block[machine.transitions[:, first]])
        components.append(component_of(rows, number_names(size)))
        emits.append(emit)
        nodes = np.zeros(letters, int) if j == len(numbered) - 1 else np.arange(letters)
        follows.append(np.repeat(nodes[:, None], size, axis=1))
        above, led = _prefixes(above, lift[:, : j + 1], size)
        down.append(led)
    down[-1] = _leaves(down[-1], above, lift)
    return Cascade(
        machine.letters,
        machine.states,
        tuple(components),
        Wiring(np.arange(letters), tuple(emits), tuple(follows)),
        Projection(tuple(down)),
        lift,
    )


def _prefixes(above: IntArray, known: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """The coordinates so far that stand for some state, and how they are reached."""
    index = {tuple(row): i for i, row in enumerate(np.unique(known, axis=0).tolist())}
    led = np.full((len(above), size), INVALID, dtype=np.int64)
    for i, row in enumerate(above.tolist()):
        for value in range(size):
            led[i, value] = index.get((*row, value), INVALID)
    return np.array(list(index), dtype=np.int64), led


def _leaves(led: IntArray, rows: IntArray, lift: IntArray) -> IntArray:
    state = {tuple(row): q for q, row in enumerate(lift.tolist())}
    states = np.array([state[tuple(row)] for row in rows.tolist()])
    return np.where(led == INVALID, INVALID, states[led])


def _number_blocks(partition: IntArray) -> tuple[IntArray, int]:
    """Blocks numbered from 0 in the order of their first states."""
    names, block = np.unique(partition, return_inverse=True)
    return block.reshape(-1).astype(np.int64), len(names)


def _block_names(machine: Semiautomaton, states: IntArray) -> tuple[str, ...]:
    """Every block by its first state, and how many more there are."""
    more = (states != INVALID).sum(axis=1) - 1
    firsts = [machine.states[q] for q in states[:, 0].tolist()]
    pairs = zip(firsts, more.tolist(), strict=True)
    return tuple(name if not k else f"{name}+{k}" for name, k in pairs)


def _places(table: IntArray, block: IntArray, size: int) -> IntArray:
    """``(states,)``: the place of each state in its block."""
    members = [np.flatnonzero(block == b) for b in range(size)]
    place = np.full(len(block), -1, dtype=np.int64)
    for root in sorted(range(size), key=lambda b: -len(members[b])):
        if place[members[root][0]] < 0:
            place[members[root]] = np.arange(len(members[root]))
            _carry_places(table, block, members, place, root)
    return place


def _carry_places(
    table: IntArray,
    block: IntArray,
    members: Sequence[IntArray],
    place: IntArray,
    root: int,
) -> None:
    """Number the blocks that lie ahead so that letters keep places."""
    queue = deque([root])
    while queue:
        here = members[queue.popleft()]
        for letter in table:
            there = members[block[letter[here[0]]]]
            if len(there) > len(here) or place[there[0]] >= 0:
                continue
            targets, first = np.unique(letter[here], return_index=True)
            if len(targets) == len(there) and place[here[first]].max() < len(there):
                place[targets] = place[here[first]]
                queue.append(int(block[there[0]]))


def _moves(table: IntArray, states: IntArray, place: IntArray) -> IntArray:
    """The action of letters on the places of blocks: ``(letters · blocks, places)``."""
    occurs = states != INVALID
    moved = np.where(occurs, place[table[:, states]], INVALID)
    rows = moved.reshape(-1, states.shape[1])
    return np.stack([_complete_map(row) for row in rows])


def _complete_map(row: IntArray) -> IntArray:
    """A partial map made total: a permutation, or constant, where it can be."""
    here = np.flatnonzero(row != INVALID)
    images = row[here]
    if np.array_equal(here, images):
        return np.arange(len(row))
    full = np.full(len(row), images[0], dtype=np.int64)
    full[here] = images
    if len(np.unique(images)) == len(images) > 1:
        sources = np.setdiff1d(np.arange(len(row)), here)
        targets = np.setdiff1d(np.arange(len(row)), images)
        fixed = np.intersect1d(sources, targets)
        full[fixed] = fixed
        full[np.setdiff1d(sources, fixed)] = np.setdiff1d(targets, fixed)
    return full


# A search among decompositions by congruences and by holonomy, one inside the other.


MOST_STATES = 200
MOST_MOVES = 4_000_000
TRIED = 6
SHARE = 0.5
LEFT_OUT = "not all quotients of the machine were tried"


@dataclass
class Search:
    """The cheapest cascade found for a machine and for each machine inside it.

    A machine that permutes and resets is a candidate as it is, and the only one if its
    group is solvable. Others come from holonomy, from factors side by side, and from some
    congruences, with the parts decomposed in turn. Where there is a candidate already, no
    congruences are tried any more after half of the work.

    Attributes:
        budget: How much work to do and how many images to keep.
    """

    budget: Budget
    _known: dict[tuple[int, bytes], Cascade] = field(default_factory=dict, init=False)

    def best(self, machine: Semiautomaton) -> Cascade:
        """The cheapest decomposition found; components permute and reset.

        Raises:
            BudgetExceeded: If not even one was found.
        """
        key = (len(machine.states), machine.transitions.tobytes())
        if key not in self._known:
            self._known[key] = self._decompose(machine)
        return replace(self._known[key], letters=machine.letters, states=machine.states)

    def _decompose(self, machine: Semiautomaton) -> Cascade:
        whole = trivial(machine)
        permutes_or_resets = whole.components[0].is_permutation_reset
        if permutes_or_resets and whole.components[0].group.is_solvable:
            return whole
        candidates, failure = [whole] if permutes_or_resets else [], None
        try:
            if not candidates:
                candidates.append(self._by_holonomy(machine))
        except BudgetExceeded as reason:
            failure = reason
        share = SHARE if candidates else 1.0
        candidates.extend(self._by_congruences(machine, share * self.budget.steps))
        if not candidates:
            raise failure or BudgetExceeded("no decomposition was found", 0)
        return min(candidates, key=partial(cost, budget=self.budget))

    def _by_holonomy(self, machine: Semiautomaton) -> Cascade:
        limit = self.budget.part(self.budget.left / 2)
        return simplify(holonomy(machine, limit), limit)

    def _by_congruences(
        self, machine: Semiautomaton, until: float
    ) -> Iterator[Cascade]:
        letters, n = machine.transitions.shape
        moves = letters * n * (n - 1) // 2
        if n > MOST_STATES or moves > MOST_MOVES:
            return
        if self.budget.spent > until:
            self.budget.leave_out(LEFT_OUT)
            return
        try:
            principal = principal_congruences(machine.transitions, self.budget)
            for factors in self._factors(principal, until):
                yield self._decompose_components(side_by_side(machine, factors))
            for partition in _promising(principal):
                if self.budget.spent > until:
                    self.budget.leave_out(LEFT_OUT)
                    return
                yield self._decompose_components(by_congruence(machine, partition))
        except BudgetExceeded:
            self.budget.leave_out(LEFT_OUT)
            return

    def _factors(
        self, principal: Sequence[IntArray], until: float
    ) -> list[list[IntArray]]:
        """Ways to split the machine into some that run side by side."""
        limit = self.budget.part((until - self.budget.spent) / 2)
        try:
            congruences = factor_congruences(principal, limit)
        except BudgetExceeded:
            self.budget.leave_out("not all parallel parts were looked for")
            return []
        if congruences is None:
            return []
        whole = independent(congruences)
        return (
            [congruences]
            if len(whole) in (1, len(congruences))
            else [whole, congruences]
        )

    def _decompose_components(self, cascade: Cascade) -> Cascade:
        for at in range(len(cascade.components) - 1, -1, -1):
            component = cascade.components[at]
            if not component.is_permutation_reset:
                cascade = refine(cascade, at, self.best(component.machine), self.budget)
        return simplify(cascade, self.budget)


def _promising(principal: Sequence[IntArray]) -> list[IntArray]:
    """Some proper congruences: the most even ones, with the coarsest and the finest."""
    proper = [c for c in principal if blocks(c) > 1]
    if len(proper) <= TRIED:
        return proper
    uneven = [max(blocks(c), int(np.bincount(c).max())) for c in proper]
    even = sorted(range(len(proper)), key=lambda i: uneven[i])[: TRIED - 2]
    chosen = sorted({0, len(proper) - 1, *even})
    return [proper[i] for i in chosen]
