"""Recognising the kind of a machine: counter, memory, corridor, parity, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import gcd, prod

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.errors import MachineError
from krohn.algebra.minimisation import (
    blocks,
    factor_congruences,
    principal_congruences,
    quotient,
)

MOST_FACTORED_STATES = 128
MOST_LABELS = 130_000


@dataclass(frozen=True)
class Counter:
    """A machine that adds modulo ``modulus`` (thesis, Definition 4).

    Attributes:
        modulus: The number of states.
        increments: What each letter adds, in ``0..modulus-1``.
        labels: The count that each state stands for; the start stands for 0.
    """

    modulus: int
    increments: tuple[int, ...]
    labels: tuple[int, ...]


@dataclass(frozen=True)
class Memory:
    """A machine whose letters write a state or do nothing (thesis, Definition 5).

    Attributes:
        writes: The state that each letter writes, None for letters that do nothing.
    """

    writes: tuple[int | None, ...]


@dataclass(frozen=True)
class Factor:
    """One of several machines that run side by side and together are a machine.

    Attributes:
        machine: The factor; it reads the letters of the whole machine.
        block: The state of the factor for each state of the whole machine.
    """

    machine: Automaton
    block: tuple[int, ...]


def as_counter(a: Automaton) -> Counter | None:
    """The counter that ``a`` is, or None (thesis, Lemma 15).

    A machine is a counter if its letters are commuting permutations, all states are
    reachable, and the group they generate is cyclic: a commutative transitive group
    moves every state by every element but the identity, so states are group elements.
    Of all ways to number the states, one with the smallest largest increment is given
    (the width of the compiled counter grows with it).
    """
    table, n = a.transitions, len(a.states)
    if not (np.sort(table, axis=1) == np.arange(n)).all():
        return None
    labels = _labels_along(_longest_cycle(table, a.start), n)
    if labels is None:
        return None
    increments = labels[table[:, a.start]]
    # The search took for granted that letters commute; only this makes it certain.
    if not np.array_equal(labels[table], (labels + increments[:, None]) % n):
        return None
    unit = _best_unit(increments, n)
    return Counter(
        n,
        tuple((increments * unit % n).tolist()),
        tuple((labels * unit % n).tolist()),
    )


def as_memory(a: Automaton) -> Memory | None:
    """The memory that ``a`` is, or None (thesis, Lemma 16).

    A machine is a memory if every letter is the identity or a constant map.
    """
    table = a.transitions
    keeps = (table == np.arange(len(a.states))).all(axis=1)
    writes = (table == table[:, :1]).all(axis=1)
    if not (keeps | writes).all():
        return None
    pairs = zip(keeps.tolist(), table[:, 0].tolist(), strict=True)
    return Memory(tuple(None if keep else value for keep, value in pairs))


def parallel_factors(
    a: Automaton, most_states: int = MOST_FACTORED_STATES
) -> tuple[Factor, ...] | None:
    """Smaller machines that read the same letters and together determine ``a``.

    The factors are quotients by congruences whose intersection is equality, found
    greedily: for every smallest congruence, one as coarse as possible that does not
    contain it. None of the congruences is an intersection of coarser ones, so that
    no factor can be split further (C2 x C2 x C2 gives three factors of two states).

    Returns:
        The factors, smallest first, or None if every such set contains ``a`` itself,
        or if ``a`` has more than ``most_states`` states or very many congruences.
    """
    if not 2 <= len(a.states) <= most_states:
        return None
    principal = principal_congruences(a.transitions)
    if len(principal) * len(a.states) > MOST_LABELS:
        return None
    # Of congruences with equally many blocks the first one is tried first.
    principal.sort(key=lambda labels: (-blocks(labels), *-labels))
    congruences = factor_congruences(principal, coarse_first=True)
    if congruences is None:
        return None
    return tuple(_factor(a, labels, i) for i, labels in enumerate(congruences, start=1))


def reached_pairs(
    a: Automaton, coordinates: Sequence[int], limit: int = 200_000
) -> dict[tuple[int, ...], int] | None:
    """The state that each image of the chosen points stands for.

    Searches all pairs of an image of the points under the letters composed so far
    and the state reached by them, beginning with the points and the start.

    Args:
        a: A machine; its letters act on ``a.action``'s points, or on the states.
        coordinates: The points to follow.
        limit: The largest number of pairs to visit.

    Returns:
        The state for every image, or None if some image goes with several states.

    Raises:
        MachineError: If a point does not exist or there are more than ``limit`` pairs.
    """
    action = np.asarray(a.transitions if a.action is None else a.action, dtype=np.int64)
    points = np.array(coordinates, dtype=np.int64).reshape(-1)
    if points.size and not (points.min() >= 0 and points.max() < action.shape[1]):
        raise MachineError(f"the points of {a.name} are 0..{action.shape[1] - 1}")
    state_of = {tuple(points.tolist()): a.start}
    frontier = np.append(points, a.start)[None]
    while frontier.size:
        after = _successors(frontier, action, a.transitions)
        fresh = _record(after, state_of)
        if fresh is None:
            return None
        if len(state_of) > limit:
            raise MachineError(
                f"the letters of {a.name} move its points to more than {limit} "
                "places; follow fewer points or raise the limit"
            )
        frontier = after[fresh]
    return state_of


def _successors(frontier: IntArray, action: IntArray, table: IntArray) -> IntArray:
    """The distinct rows (image, state) one letter after the rows of ``frontier``."""
    states = table[:, frontier[:, -1]].reshape(-1, 1)
    images = action[:, frontier[:, :-1]].reshape(len(states), -1)
    return np.unique(np.concatenate([images, states], axis=1), axis=0)


def _record(rows: IntArray, state_of: dict[tuple[int, ...], int]) -> list[int] | None:
    """Enter the rows; which of them are new, or None if one contradicts another."""
    fresh = []
    for i, (*image, state) in enumerate(rows.tolist()):
        known = state_of.get(tuple(image))
        if known is None:
            state_of[tuple(image)] = state
            fresh.append(i)
        elif known != state:
            return None
    return fresh


def _longest_cycle(table: IntArray, start: int) -> list[int]:
    """The cycle through the start of a product of commuting letters, in order."""
    generator = np.arange(table.shape[1])
    for letter in table:
        generator = _merge_cycles(generator, letter, start)
        if len(_cycle(generator, start)) == table.shape[1]:
            break
    return _cycle(generator, start)


def _labels_along(cycle: list[int], states: int) -> IntArray | None:
    """The place of each state in a cycle through all of them."""
    if len(cycle) < states:
        return None
    labels = np.empty(states, dtype=np.int64)
    labels[cycle] = np.arange(states)
    return labels


def _cycle(permutation: IntArray, start: int) -> list[int]:
    follow = permutation.tolist()
    cycle = [start]
    while (after := follow[cycle[-1]]) != start:
        cycle.append(after)
    return cycle


def _merge_cycles(p: IntArray, q: IntArray, start: int) -> IntArray:
    """A product of powers of commuting ``p`` and ``q`` whose order is their lcm."""
    from krohn.algebra.groups.permutations import factorise, power

    # All cycles of an element of a regular group are equally long, so that the cycle
    # through the start shows the order.
    m, n = len(_cycle(p, start)), len(_cycle(q, start))
    # The prime powers of m that are no less than those in n.
    part = prod(p**k for p, k in factorise(m).items() if n % p ** (k + 1))
    rest = n
    while (common := gcd(rest, part)) > 1:
        rest //= common
    return power(p, m // part)[power(q, n // rest)]


def _best_unit(increments: IntArray, modulus: int) -> int:
    """The unit whose multiples of the increments have the smallest maximum."""
    units = [u for u in range(1, modulus + 1) if gcd(u, modulus) == 1]
    return min(units, key=lambda u: _by_maximum(increments * u % modulus))


def _by_maximum(increments: IntArray) -> tuple[int, list[int]]:
    return int(increments.max()), increments.tolist()


def _factor(a: Automaton, labels: IntArray, number: int) -> Factor:
    # Only all factors together know the state, so none of them can show a's outputs.
    machine = quotient(replace(a, output=None), labels)
    named = replace(machine, name=f"factor {number} of {a.name}", action=None)
    # Each block is labelled by its first state.
    return Factor(named, tuple(np.unique(labels, return_inverse=True)[1].tolist()))


# Recognising gridworlds: machines whose states are cells between two walls.


@dataclass(frozen=True)
class Corridor:
    """A machine that walks along a line of cells and stops at walls (thesis, Example 3).

    Attributes:
        cell: The place of each state on the line, 0 at one wall.
        moves: How far each letter moves, negative towards cell 0; a move
            through a wall ends there.
    """

    cell: tuple[int, ...]
    moves: tuple[int, ...]

    @property
    def last(self) -> int:
        """The cell at the other wall."""
        return len(self.cell) - 1


def as_corridor(a: Automaton) -> Corridor | None:
    """The corridor that ``a`` is, or None.

    A machine is a corridor if its states can be put in a line such that every letter
    adds its move and clamps at both ends. Some letter must move by exactly 1; its path
    is the line.
    """
    for letter in a.transitions:
        line = _path(letter)
        if line is not None:
            return _along(line, a.transitions)
    return None


def _path(letter: IntArray) -> list[int] | None:
    """All states in the order in which one letter visits them, if it is a single path.

    The path starts where no arrow ends, and ends at the state that the letter keeps.
    """
    missed = np.setdiff1d(np.arange(len(letter)), letter)
    if len(missed) != 1:
        return None
    line = [int(missed[0])]
    while (after := int(letter[line[-1]])) != line[-1] and len(line) <= len(letter):
        line.append(after)
    return line if len(line) == len(letter) else None


def _along(line: list[int], table: IntArray) -> Corridor | None:
    """The corridor with its cells in this order, if all letters fit it."""
    cells = len(line)
    cell = np.empty(cells, dtype=np.int64)
    cell[line] = np.arange(cells)
    walks = cell[table[:, line]]
    # Where there is room for a move, an end shows how far it goes.
    moves = np.where(walks[:, 0] > 0, walks[:, 0], walks[:, -1] - (cells - 1))
    clamped = np.clip(np.arange(cells) + moves[:, None], 0, cells - 1)
    if not np.array_equal(walks, clamped):
        return None
    return Corridor(tuple(cell.tolist()), tuple(moves.tolist()))


# Machines that are a parity at every position, whatever they are in the long run.


@dataclass(frozen=True)
class LayeredParity:
    """A machine of which words of one length reach at most two states.

    Attributes:
        increments: For each position 1..T and letter 0 or 1: what is added to the label.
        states: For each position 0..T the states of the labels; the start has label 0.
    """

    increments: tuple[tuple[int, ...], ...]
    states: tuple[dict[int, int], ...]


def as_layered_parity(a: Automaton, length: int) -> LayeredParity | None:
    """The parity that ``a`` is for words up to ``length``, or None.

    Letters must be one-to-one between the states of one length and of the next. The
    first letter keeps the label; the others keep or flip it, for both states alike.
    """
    parity = _run(a.transitions.tolist(), a.start, length)
    return parity if len(parity.increments) == length else None


@dataclass(frozen=True)
class ParityNode:
    """A parity of the letters from a position on, where words so far have led to one state.

    Attributes:
        first: How many letters were read before.
        parity: The parity that letters from then on are, as long as they are one.
        children: The node that goes on from each label; empty at the end of words.
    """

    first: int
    parity: LayeredParity
    children: tuple[int, ...]

    @property
    def last(self) -> int:
        """How many letters were read when it ends."""
        return self.first + len(self.parity.increments)


def as_parity_tree(a: Automaton, length: int, most: int) -> list[ParityNode] | None:
    """The tree of parities that ``a`` is for words up to ``length``, or None.

    From the start, letters are a parity for as long as they can be. Where they no longer
    are, each of the two states is the start of another parity. The tree must end for
    words of every length: cut off at some length, every machine would be one.

    Args:
        a: The machine.
        length: T.
        most: Trees of more nodes are given up.
    """
    table = a.transitions.tolist()
    if not _ends(table, a.start):
        return None
    todo, tree = [(a.start, 0)], list[ParityNode]()
    for start, first in todo:  # grows on the way
        parity = _run(table, start, length - first)
        last = first + len(parity.increments)
        if last == first < length or len(todo) > most:
            return None
        children: tuple[int, ...] = ()
        if last < length:
            ends = parity.states[-1]
            children = tuple(len(todo) + i for i in range(len(ends)))
            todo += [(ends[label], last) for label in sorted(ends)]
        tree.append(ParityNode(first, parity, children))
    return tree


def _ends(table: list[list[int]], start: int) -> bool:
    """Whether no parity that begins at a state leads back to its own beginning."""
    todo, after = [start], dict[int, set[int]]()
    for state in todo:  # grows on the way
        if state not in after:
            after[state] = _begins(table, state)
            todo += sorted(after[state])
    while after:
        last = [state for state, others in after.items() if not others & after.keys()]
        if not last:
            return False
        for state in last:
            del after[state]
    return True


def _begins(table: list[list[int]], start: int) -> set[int]:
    """The states at which the parity of words from a state ends; none if it goes on."""
    labels, seen = {start: 0}, set[frozenset[tuple[int, int]]]()
    while frozenset(labels.items()) not in seen:
        seen.add(frozenset(labels.items()))
        step = _step(table, labels)
        if step is None:
            return set(labels)
        labels = step[0]
    return set()


def _run(table: list[list[int]], start: int, length: int) -> LayeredParity:
    """The parity that words from a state are, up to the length at which that ends."""
    labels, states = {start: 0}, [{0: start}]
    increments: list[tuple[int, ...]] = []
    # Labels return, and with them all that follows.
    known: dict[frozenset[tuple[int, int]], _Step | None] = {}
    while len(increments) < length:
        here = frozenset(labels.items())
        if here not in known:
            known[here] = _step(table, labels)
        step = known[here]
        if step is None:
            break
        labels, added, named = step
        increments.append(added)
        states.append(named)
    return LayeredParity(tuple(increments), tuple(states))


def clock(a: Automaton) -> int:
    """How many letters a state counts: words of up to so many reach states of their own.

    The greatest n such that no two words of different lengths up to n reach one state.
    """
    layer = np.array([a.start])
    seen = np.zeros(len(a.states), dtype=bool)
    letters = -1
    while not seen[layer].any():
        seen[layer] = True
        layer = np.unique(a.transitions[:, layer])
        letters += 1
    return letters


_Step = tuple[dict[int, int], tuple[int, ...], dict[int, int]]
"""The labels after a letter, what each letter adds, and the states by their labels."""


def _step(table: list[list[int]], labels: dict[int, int]) -> _Step | None:
    after = {table[0][q]: label for q, label in labels.items()}
    if len(after) < len(labels):
        return None
    added = []
    for row in table:
        for q in labels:
            if row[q] not in after and len(after) == 2:
                return None
            after.setdefault(row[q], 1 - next(iter(after.values())))
        flips = {after[row[q]] ^ label for q, label in labels.items()}
        if len(flips) > 1:
            return None
        added.append(flips.pop())
    return after, tuple(added), {label: q for q, label in after.items()}
