"""The classes by their definitions: what words have in common, class by class.

A *table* is the smallest machine that follows what a class may look at, as the set of
factors of a word: two words end in one state exactly if they have it in common. A
language is in the class if no state of the table meets words of both kinds. This is the
definition, decided completely: no algebra, and no bound on the length of words.
"""

import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from types import ModuleType

import numpy as np
import pytest

from krohn.algebra.automaton import Automaton, IntArray, Output, Semiautomaton
from krohn.algebra.minimisation import minimise

Word = tuple[int, ...]


@dataclass(frozen=True)
class Table:
    """The facts that decide a class: states, and the parts of the words of each."""

    transitions: IntArray
    parts: list[frozenset]


def table(letters: int, of: Callable[[Word], tuple[Hashable, frozenset]]) -> Table:
    """The states of all words, for a congruence ``of`` that is given by short words."""
    words, number, rows = [()], {of(())[0]: 0}, []
    for word in words:
        row = []
        for a in range(letters):
            key = of((*word, a))[0]
            if key not in number:
                number[key] = len(words)
                words.append((*word, a))
            row.append(number[key])
        rows.append(row)
    return Table(np.array(rows).T, [of(word)[1] for word in words])


def factors(word: Word, k: int) -> frozenset:
    """The factors of k letters of a word with marked ends; of a short word, itself."""
    marked = (-1, *word, -2)
    if len(marked) < k:
        return frozenset([marked])
    return frozenset(marked[i : i + k] for i in range(len(marked) - k + 1))


def subsequences(word: tuple, k: int) -> frozenset:
    return frozenset(s for i in range(k + 1) for s in combinations(word, i))


def windows(word: Word, k: int) -> tuple:
    return tuple(word[i : i + k] for i in range(len(word) - k + 1))


@cache
def local(letters: int, k: int) -> Table:
    """Words with the same factors of k letters, ends marked."""
    return table(letters, lambda w: (factors(w, k), factors(w, k)))


@cache
def piecewise(letters: int, k: int) -> Table:
    return table(letters, lambda w: (subsequences(w, k), subsequences(w, k)))


@cache
def counted(letters: int, k: int, t: int) -> Table:
    """Words with the same counts of factors of k letters up to t, and the same ends."""

    def of(word: Word) -> tuple[Hashable, frozenset]:
        found = windows(word, k)
        counts = frozenset((x, min(t, found.count(x))) for x in found)
        ends = (word[: k - 1], word[len(word) - min(k - 1, len(word)) :])
        return (counts, ends), frozenset()

    return table(letters, of)


@cache
def mixed(letters: int, k: int, m: int) -> Table:
    """Words with the same sequences of m factors of k letters, and the same ends."""

    def of(word: Word) -> tuple[Hashable, frozenset]:
        ends = (word[: k - 1], word[len(word) - min(k - 1, len(word)) :])
        return (subsequences(windows(word, k), m), ends), frozenset()

    return table(letters, of)


def meets(acceptors: list[Automaton], given: Table) -> np.ndarray:
    """``(machines, states of the table, 2)``: whether it meets rejected, accepted words.

    All machines have the same numbers of letters and states.
    """
    rows = np.array([a.transitions for a in acceptors])
    machines, letters, n = rows.shape
    reached = np.zeros((machines, given.transitions.shape[1], n), dtype=bool)
    reached[np.arange(machines), 0, [a.start for a in acceptors]] = True
    moves = np.eye(n, dtype=bool)[rows]
    while True:
        grown = reached.copy()
        for a in range(letters):
            order = np.argsort(given.transitions[a], kind="stable")
            targets, first = np.unique(given.transitions[a][order], return_index=True)
            after = np.matmul(reached, moves[:, a])[:, order]
            grown[:, targets] |= np.logical_or.reduceat(after, first, axis=1)
        if (grown == reached).all():
            break
        reached = grown
    accepting = np.array([accepts(a) for a in acceptors])[:, None]
    return np.stack(
        [(reached & ~accepting).any(axis=2), (reached & accepting).any(axis=2)], axis=2
    )


def decides(acceptors: list[Automaton], given: Table) -> np.ndarray:
    """``(machines,)``: whether what the table shows decides."""
    return ~meets(acceptors, given).all(axis=2).any(axis=1)


def strictly(acceptors: list[Automaton], given: Table) -> np.ndarray:
    """``(machines,)``: whether a word is accepted if all its parts occur in such words."""
    found = meets(acceptors, given)
    good = []
    for met in found:
        allowed = frozenset().union(
            *(given.parts[i] for i in np.flatnonzero(met[:, 1]))
        )
        good.append(
            all(
                not parts <= allowed or not rejected
                for parts, rejected in zip(given.parts, met[:, 0], strict=True)
            )
        )
    return np.array(good)


def accepts(a: Automaton) -> np.ndarray:
    assert a.output is not None
    return np.array(a.output.names)[a.output.table] == "accept"


def acceptor(rows: object, accepting: object, start: int = 0) -> Automaton:
    table = np.array(rows)
    letters = tuple("abcdef"[: table.shape[0]])
    states = tuple(f"q{i}" for i in range(table.shape[1]))
    output = Output("states", 1 - np.array(accepting, dtype=int), ("accept", "reject"))
    return minimise(Automaton(Semiautomaton(table, letters, states), start, output))


def random_acceptor(rng: np.random.Generator, letters: int) -> Automaton:
    """Any machine, or one that never leads back, or one that only keeps or resets."""
    n = int(rng.integers(2, 6))
    rows = rng.integers(n, size=(letters, n))
    kind = rng.integers(4)
    if kind == 1:
        rows = np.array([[rng.integers(q, n) for q in range(n)] for _ in rows])
    if kind == 2:
        rows = np.where(rng.random((letters, n)) < 0.4, np.arange(n), rows)
    if kind == 3:
        rows = np.where(rng.random((letters, 1)) < 0.5, rows, rows[:, :1])
    return acceptor(rows, rng.integers(2, size=n), int(rng.integers(n)))


def made_of(given: Table, rng: np.random.Generator, most: int = 9) -> Automaton | None:
    """A language that a table decides: few words of it in, or few parts forbidden."""
    size = given.transitions.shape[1]
    every = sorted(frozenset().union(*given.parts), key=repr)
    if every and rng.random() < 0.6:
        chosen = [every[i] for i in rng.integers(len(every), size=rng.integers(1, 4))]
        kind = rng.integers(3)
        held = np.array([[x in parts for x in chosen] for parts in given.parts])
        accepting = [~held.any(axis=1), held.all(axis=1), held.sum(axis=1) == 1][kind]
    else:
        accepting = np.isin(np.arange(size), rng.integers(size, size=2))
    found = acceptor(given.transitions, accepting)
    return found if len(found.states) <= most else None


def by_shape(acceptors: list[Automaton]) -> list[list[Automaton]]:
    """The machines in groups with the same numbers of letters and states."""
    groups: dict[tuple[int, ...], dict] = {}
    for a in acceptors:
        group = groups.setdefault(a.transitions.shape, {})
        group[a.transitions.tobytes(), accepts(a).tobytes(), a.start] = a
    return [list(group.values()) for group in groups.values()]


def languages(seed: int, count: int) -> list[Automaton]:
    """Small acceptors of all kinds, over two or three letters."""
    rng = np.random.default_rng(seed)
    found = [random_acceptor(rng, int(rng.integers(2, 4))) for _ in range(count)]
    tables = (
        *(local(2, 2), local(2, 3), local(3, 2)),
        *(piecewise(2, 2), piecewise(2, 3), piecewise(2, 4), piecewise(3, 2)),
        *(counted(2, 1, 2), counted(2, 2, 2), counted(3, 1, 2)),
        *(mixed(2, 2, 2), mixed(3, 1, 2)),
    )
    made = (made_of(given, rng) for given in tables for _ in range(count // 6))
    return found + [a for a in made if a is not None]


@pytest.fixture(scope="session")
def definitions() -> ModuleType:
    """The functions of this file."""
    return sys.modules[__name__]
