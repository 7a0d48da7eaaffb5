"""Random machines whose runs go through few components, each of a kind that is known."""

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.algebra.minimisation import reachable

KINDS = ("one", "cycle", "counter", "memory", "window", "resets")


def machine(table: IntArray) -> Automaton:
    """The reachable part of a table's machine, started in state 0."""
    letters, states = table.shape
    names = tuple("abcdefgh"[:letters]), tuple(map(str, range(states)))
    return reachable(Automaton(Semiautomaton(table, *names)))


def ordered(rng: np.random.Generator, most_states: int = 8) -> Automaton:
    """A partially ordered machine: every letter keeps a state or leads to a later one."""
    states, letters = rng.integers(3, most_states + 1), rng.integers(2, 5)
    now = np.arange(states)
    later = rng.integers(now, states, size=(letters, states))
    return machine(np.where(rng.random(later.shape) < 0.5, now, later))


def chained(rng: np.random.Generator, kinds: tuple[str, ...] = KINDS) -> Automaton:
    """Components of random kinds, left by whole letters or from some states only.

    Counters with resets are left by whole letters.
    """
    letters, blocks = int(rng.integers(2, 4)), list[IntArray]()
    chosen = rng.choice(kinds, size=rng.integers(1, 4))
    sizes = [1 if kind == "one" else int(rng.integers(2, 4)) for kind in chosen]
    states, base = sum(sizes), 0
    for kind, size in zip(chosen, sizes, strict=True):
        inside = base + _component(rng, kind, letters, size)
        rest = states - base - size
        if rest:
            whole = kind == "resets" or rng.random() < 0.5
            shape = (letters, 1 if whole else size)
            leaves = np.broadcast_to(rng.random(shape) < 0.3, inside.shape)
            away = rng.integers(base + size, states, size=inside.shape)
            inside = np.where(leaves, away, inside)
        blocks.append(inside)
        base += size
    return machine(np.concatenate(blocks, axis=1))


def _component(
    rng: np.random.Generator, kind: str, letters: int, size: int
) -> IntArray:
    """``(letters, size)``: transitions within a component of a kind."""
    now, adds = np.arange(size), rng.integers(0, size, (letters, 1))
    turned = (now + (adds if kind in ("counter", "resets") else 1)) % size
    kept = rng.random((letters, 1)) < (0.5 if kind in ("memory", "resets") else 0)
    if kind == "memory":
        return np.where(kept, now, adds + 0 * now)
    if kind == "window":
        return adds + 0 * now
    if kind == "resets":
        return np.where(kept, turned, adds + 0 * now)
    return np.broadcast_to(turned, (letters, size))
