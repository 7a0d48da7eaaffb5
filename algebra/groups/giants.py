"""Recognising that a group holds all even permutations of its points."""

from math import isqrt

import numpy as np

from algebra.groups.permutations import cycle_lengths, inverse
from algebra.semiautomaton import IntArray

FEWEST_POINTS = 8
_TRIES = (8, 64, 256)
_POOL = 10


def holds_alternating(generators: IntArray, transitive: bool) -> bool:
    """Whether a proof was found that the group contains A_n, n ≥ 8.

    A transitive group with an element that has a cycle of prime length p,
    n/2 < p < n - 2, contains A_n: a power of the element is one p-cycle. It cannot move
    blocks of size b > 1, since p·b > n points would move, so a block that it moves
    inside has at least p > n/2 points, which is all of them; hence the group is
    primitive, and Jordan's theorem (Wielandt, Finite Permutation Groups, 13.9) applies.

    Returns:
        True is proved; False says only that random elements (seeded) did not show it.
    """
    degree = generators.shape[1]
    if not transitive or degree < FEWEST_POINTS or len(generators) < 2:
        return False
    good = _primes_between(degree // 2, degree - 2)
    return any(
        np.isin(cycle_lengths(random_elements(generators, tries, tries)), good).any()
        for tries in _TRIES
    )


def random_elements(generators: IntArray, count: int, seed: int = 0) -> IntArray:
    """Elements ``(count, n)`` that look random (product replacement); repeatable."""
    draw = np.random.default_rng(seed)
    size = max(_POOL, len(generators))
    pool = generators[np.arange(size) % len(generators)]
    found = np.empty((count, generators.shape[1]), dtype=np.int64)
    current = pool[0]
    for step in range(-5 * size, count):
        i, j = draw.choice(size, 2, replace=False)
        other = pool[j] if draw.random() < 0.5 else inverse(pool[j])
        pool[i] = other[pool[i]]
        current = pool[i][current]
        if step >= 0:
            found[step] = current
    return found


def _primes_between(low: int, high: int) -> list[int]:
    """The primes p with low < p < high."""
    return [
        p
        for p in range(max(low + 1, 2), high)
        if all(p % d for d in range(2, isqrt(p) + 1))
    ]
