"""Sets of states, and all that words make of the set of all states."""

import numpy as np
import numpy.typing as npt

from krohn.algebra.budget import Budget
from krohn.algebra.semiautomaton import IntArray, Semiautomaton

BoolArray = npt.NDArray[np.bool_]
BitArray = npt.NDArray[np.uint64]

PIECE_BYTES = 2**25
PASSES = 10  # over each entry, or array operations in a row, where sets are made
FOLLOWED = 2  # passes over each entry of a set that a letter moves
KEYED = 30  # entries that could be read while a set is looked up by its key


def pack(sets: BoolArray) -> BitArray:
    """Sets ``(count, states)`` as bits ``(count, words)``."""
    padded = np.zeros((len(sets), -(-sets.shape[1] // 64) * 64), dtype=bool)
    padded[:, : sets.shape[1]] = sets
    return np.packbits(padded, axis=1).view(np.uint64)


def set_keys(sets: BoolArray) -> list[bytes]:
    """One key for each of some sets ``(count, states)``, equal for equal sets."""
    packed = np.packbits(sets, axis=1)
    width = packed.shape[1]
    data = packed.tobytes()
    return [data[i : i + width] for i in range(0, len(data), width)]


def apply(letter: IntArray, sets: BoolArray) -> BoolArray:
    """The images ``(count, states)`` of sets under one letter ``(states,)``."""
    order = np.argsort(letter, kind="stable")
    targets, first = np.unique(letter[order], return_index=True)
    after = np.zeros_like(sets)
    after[:, targets] = np.logical_or.reduceat(sets[:, order], first, axis=1)
    return after


def images(
    machine: Semiautomaton, budget: Budget
) -> tuple[BoolArray, IntArray, IntArray]:
    """All images of the state set, with the singletons, and how letters act on them.

    Returns:
        ``sets``, ``step`` and ``reached`` as in ``Skeleton``.

    Raises:
        BudgetExceeded: If there are too many of them.
    """
    n, letters = len(machine.states), len(machine.letters)
    everything = np.ones((1, n), dtype=bool)
    known = {key: i for i, key in enumerate(set_keys(everything))}
    pieces, parents = [everything], [np.full((1, 2), -1)]
    steps: list[IntArray] = []
    first, singletons = 0, False
    rows = max(1, PIECE_BYTES // (letters * n))
    for piece in pieces:
        budget.spend(len(piece) * letters * (FOLLOWED * n + KEYED), PASSES * letters)
        step, fresh, parent = _advance(machine, piece, first, known)
        steps.append(step)
        first += len(piece)
        budget.check(len(known), "images of the state set")
        if first == len(known) and not singletons:
            fresh, singletons = _missing_singletons(n, known), True
            parent = np.full((len(fresh), 2), -1)
        for start in range(0, len(fresh), rows):
            pieces.append(fresh[start : start + rows])
            parents.append(parent[start : start + rows])
    return (
        np.concatenate(pieces),
        np.concatenate(steps, axis=1),
        np.concatenate(parents),
    )


def _advance(
    machine: Semiautomaton, piece: BoolArray, first: int, known: dict[bytes, int]
) -> tuple[IntArray, BoolArray, IntArray]:
    """Where letters take some sets; the new sets among those, and their origin."""
    after = np.stack([apply(letter, piece) for letter in machine.transitions])
    flat = after.reshape(-1, piece.shape[1])
    step = np.empty(len(flat), dtype=np.int64)
    fresh: list[int] = []
    for i, key in enumerate(set_keys(flat)):
        count = len(known)
        step[i] = known.setdefault(key, count)
        if len(known) > count:
            fresh.append(i)
    new = np.array(fresh, dtype=np.int64)
    letter, row = np.unravel_index(new, after.shape[:2])
    origin = np.stack([row + first, letter], axis=1)
    return step.reshape(after.shape[:2]), flat[new], origin


def _missing_singletons(n: int, known: dict[bytes, int]) -> BoolArray:
    single = np.eye(n, dtype=bool)
    missing = [i for i, key in enumerate(set_keys(single)) if key not in known]
    for key in set_keys(single[missing]):
        known[key] = len(known)
    return single[missing]
