"""Words that go where random ones rarely are, and stay there."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from krohn.algebra.automaton import Automaton, IntArray
from krohn.verify.testing.strategies.shapes import lingering
from krohn.verify.testing.strategies.strategy import (
    BoolArray,
    choose,
    coordinates,
    distances,
    monoid,
    none,
    pack,
    scales,
)

MOST_GOALS = 64
LONGEST_WAY_BACK = 4
MOST_WAYS_BACK = 1000


def walls(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: shortest ways to a wall, pushes against it, and to the next.

    A wall is a state with a letter that keeps it and moves others, as the ends of a
    corridor have them. How often a word pushes is geometric, with a mean of 1, 2, 4, ….
    """
    table = machine.transitions
    keeps = table == np.arange(len(machine.states))
    letter, state = np.nonzero(keeps & ~keeps.all(axis=1, keepdims=True))
    if not len(letter):
        return none(length)
    if len(letter) > MOST_GOALS:
        some = rng.choice(len(letter), MOST_GOALS, replace=False)
        letter, state = letter[some], state[some]
    tour = _Tour(table, state, letter, _ways(table, state))
    return tour.words(rng, np.full(count, machine.start), length)


@dataclass(frozen=True)
class _Tour:
    """Goals of a walk.

    Attributes:
        graph: ``(letters, nodes)``: where each letter leads.
        goal: ``(goals,)``: the node to go to.
        push: ``(goals,)``: the letter to read there.
        way: ``(goals, nodes)``: the letter to read on the way, −1 where there is none.
    """

    graph: IntArray
    goal: IntArray
    push: IntArray
    way: IntArray

    def words(self, rng: np.random.Generator, node: IntArray, length: int) -> IntArray:
        """Walks ``(count, length)`` from each start ``(count,)``."""
        count, letters = len(node), len(self.graph)
        tired = 2.0 ** -rng.integers(scales(length), size=count)
        heading = rng.integers(len(self.goal), size=count)
        words = np.empty((count, length), dtype=np.int64)
        for t in range(length):
            there = node == self.goal[heading]
            way = self.way[heading, node]
            lost = ~there & (way < 0)
            step = np.where(there, self.push[heading], way)
            words[:, t] = np.where(lost, rng.integers(letters, size=count), step)
            node = self.graph[words[:, t], node]
            again = lost | (there & (rng.random(count) < tired))
            other = rng.integers(len(self.goal), size=count)
            heading = np.where(again, other, heading)
        return words


def _ways(graph: IntArray, goals: IntArray) -> IntArray:
    """``(goals, nodes)``: the first letter of a shortest word to each goal."""
    letters, nodes = graph.shape
    edges = np.ones(graph.size)
    backwards = csr_array(
        (edges, (graph.ravel(), np.tile(np.arange(nodes), letters))), (nodes, nodes)
    )
    following = dijkstra(
        backwards, indices=goals, unweighted=True, return_predecessors=True
    )[1]
    leads = graph.T[None] == following[:, :, None]
    return np.where(following < 0, -1, leads.argmax(axis=2))


def returns(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: the shortest way to a state, and a way back to it for long.

    The way back is a short word over and over; other states it need not keep, and
    illegal letters there do no harm. At the end there may be a few letters by chance.
    """
    table, states = machine.transitions, np.arange(len(machine.states))
    goals = rng.choice(states, min(len(states), MOST_GOALS), replace=False)
    way = _ways(table, goals)
    goals, way = _reachable_goals(goals, way, machine.start)
    cycles, lengths, leads = _ways_back(table)
    heading = rng.integers(len(goals), size=count)
    goal = goals[heading]
    wanted = lengths == rng.integers(1, LONGEST_WAY_BACK + 1, size=(count, 1))
    cycle = choose(rng, (leads.T[goal] == goal[:, None]) * (1 + wanted))
    end = length - rng.choice([0, 1, 2, 4, 8], size=count)
    words = rng.integers(len(table), size=(count, length))
    node, turns = np.full(count, machine.start), np.zeros(count, dtype=np.int64)
    for t in range(length):
        there = (turns > 0) | (node == goal)
        back = cycles[cycle, turns % lengths[cycle]]
        step = np.where(there, back, way[heading, node])
        words[:, t] = np.where(t < end, step, words[:, t])
        node, turns = table[words[:, t], node], turns + there
    return words


def _reachable_goals(
    goals: IntArray, way: IntArray, start: int
) -> tuple[IntArray, IntArray]:
    """Goals that can be reached, with the ways to them; else the start."""
    kept = (way[:, start] >= 0) | (goals == start)
    if not kept.any():
        return np.array([start]), np.zeros((1, way.shape[1]), dtype=np.int64)
    return goals[kept], way[kept]


def _ways_back(table: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Short words as a table, their lengths, and where they lead, ``(words, states)``."""
    letters = len(table)
    longest = LONGEST_WAY_BACK
    while longest > 1 and letters**longest > MOST_WAYS_BACK:
        longest -= 1
    words = [
        w for n in range(1, longest + 1) for w in product(range(letters), repeat=n)
    ]
    cycles, lengths = pack(words)
    leads = np.tile(np.arange(table.shape[1]), (len(words), 1))
    for at in range(cycles.shape[1]):
        inside = (at < lengths)[:, None]
        leads = np.where(inside, table[cycles[:, [at]], leads], leads)
    return cycles, lengths, leads


def rare(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: to an element of the monoid, by its least word, to stay there.

    Random words fall to the elements of least rank and stay there; others are as likely
    as these here. Then come letters that stay in the same R-class, where an element can
    still be taken back, and at times one that leaves it.
    """
    elements = monoid(machine.semiautomaton)
    if elements is None:
        return none(length)
    graph = elements.right.T.astype(np.int64)
    some = rng.choice(elements.size, min(elements.size, MOST_GOALS), replace=False)
    words, lengths = pack([elements.word(int(i)) for i in some])
    fits = np.flatnonzero(lengths < length)
    chosen = rng.choice(fits, size=count) if len(fits) else np.zeros(count, dtype=int)
    stay = lingering(rng, graph, _recurrent(graph), some[chosen], length)
    # Each row is its least word, and what lingers behind it.
    at = np.arange(length) - lengths[chosen][:, None]
    least = words[chosen][:, np.minimum(np.arange(length), words.shape[1] - 1)]
    behind = np.take_along_axis(stay, np.maximum(at, 0), axis=1)
    return np.where(at < 0, least, behind)


def _recurrent(graph: IntArray) -> BoolArray:
    """``(nodes, letters)``: which letters can be undone by further ones."""
    letters, nodes = graph.shape
    edges = np.ones(graph.size)
    step = csr_array(
        (edges, (np.tile(np.arange(nodes), letters), graph.ravel())), (nodes, nodes)
    )
    part = connected_components(step, connection="strong")[1]
    undone: BoolArray = part[graph] == part
    return undone.T


def levels(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: one level of a cascade switched far back, and kept since.

    The cascade follows derived series. Before the switch there is anything; the switch
    changes the other levels as little as can be; after it come letters that keep the
    level's state while others change.
    """
    cascade = coordinates(machine.semiautomaton, machine.start)
    if cascade is None or not cascade.values.shape[1]:
        return none(length)
    level = rng.integers(cascade.values.shape[1], size=count)
    switch = length - 1 - distances(rng, count, length)[:, 0]
    changed = cascade.state_changes
    others = changed.sum(axis=0) - changed
    words = np.empty((count, length), dtype=np.int64)
    node = np.full(count, cascade.start)
    for t in range(length):
        words[:, t] = choose(rng, _rank(changed, others, level, node, switch - t))
        node = cascade.after[words[:, t], node]
    return words


def _rank(
    changed: BoolArray,
    others: IntArray,
    level: IntArray,
    node: IntArray,
    left: IntArray,
) -> IntArray:
    """How welcome each letter is ``(count, letters)``, so long before the switch."""
    moves, rest = changed[level, node], others[level, node]
    switching = np.where(moves, 1 + len(changed) - rest, 0)
    after = np.where(moves, 0, 1 + (rest > 0))
    left = left[:, None]
    return np.where(left > 0, 0, np.where(left == 0, switching, after))
