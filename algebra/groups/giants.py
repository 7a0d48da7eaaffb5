"""Recognising that a group holds all even permutations of an orbit."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from math import factorial, isqrt, prod
from random import Random

import numpy as np
import numpy.typing as npt

from krohn.algebra.groups.permutations import cycle_lengths, inverse, is_even
from krohn.algebra.semiautomaton import IntArray

FEWEST_POINTS = 8
_TRIES = (8, 64, 256)
_POOL = 10


@dataclass(frozen=True, eq=False)
class Giants:
    """Orbits on which a group holds all even permutations that fix every other point.

    The group is determined by its action elsewhere and by the parities on them.

    Attributes:
        orbits: The points of each such orbit.
        rest: All other points.
    """

    orbits: tuple[IntArray, ...]
    rest: IntArray

    @property
    def even_order(self) -> int:
        """The number of elements that are even on each of these and fix the rest."""
        return prod(factorial(len(orbit)) // 2 for orbit in self.orbits)

    def reduced_rows(self, rows: IntArray) -> IntArray:
        """The action of rows on the rest, with two points more for each orbit's parity."""
        parts, points = [action_on_points(rows, self.rest)], len(self.rest)
        for orbit in self.orbits:
            odd = ~is_even(action_on_points(rows, orbit))
            parts.append(points + np.where(odd[:, None], [1, 0], [0, 1]))
            points += 2
        return np.concatenate(parts, axis=1)

    def keeps(self, rows: IntArray) -> npt.NDArray[np.bool_]:
        """Which rows ``(m, n)`` map each of these orbits to itself."""
        good = np.ones(len(rows), dtype=bool)
        for orbit in self.orbits:
            good &= np.isin(rows[:, orbit], orbit).all(axis=1)
        return good

    def even_rows(self, degree: int) -> IntArray:
        """Generators of the even permutations of each orbit, ``(k, n)``."""
        rows = []
        for orbit in self.orbits:
            # A 3-cycle and a cycle of odd length that joins it to all other points.
            first, long = np.arange(degree), np.arange(degree)
            first[orbit[:3]] = orbit[[1, 2, 0]]
            cycle = orbit[1 - len(orbit) % 2 :]
            long[cycle] = np.roll(cycle, -1)
            rows += [first, long]
        return np.array(rows, dtype=np.int64).reshape(-1, degree)

    def without_first(self, rows: IntArray) -> IntArray:
        """The rows made to fix the first orbit pointwise."""
        changed = rows.copy()
        changed[:, self.orbits[0]] = self.orbits[0]
        return changed


def find_giants(generators: IntArray, orbits: Sequence[Sequence[int]]) -> Giants:
    """The orbits of at least 8 points on which the group surely holds A_m by itself.

    The kernel of the action on all other points is normal in the A_m or S_m that acts on
    an orbit: it holds A_m unless it is trivial. Then A_m is a composition factor of the
    group on the other points, hence on some other orbit. It is none on orbits of fewer
    than m points, since m!/2 > (m-1)!, nor where the group is A_n or S_n with n > m.

    Returns:
        Proved ones only; of a few orbits of the same size none is taken.
    """
    taken: list[IntArray] = []
    large = sorted(
        (o for o in orbits if len(o) >= FEWEST_POINTS), key=len, reverse=True
    )
    sizes = Counter(map(len, large))
    for orbit in large:
        points = np.array(orbit, dtype=np.int64)
        if not holds_alternating(action_on_points(generators, points), transitive=True):
            break
        if sizes[len(orbit)] == 1:
            taken.append(points)
    covered = np.concatenate([np.empty(0, dtype=np.int64), *taken])
    return Giants(tuple(taken), np.setdiff1d(np.arange(generators.shape[1]), covered))


def action_on_points(rows: IntArray, points: IntArray) -> IntArray:
    """The action of rows ``(m, n)`` on points that they keep, numbered from 0."""
    place = np.zeros(rows.shape[1], dtype=np.int64)
    place[points] = np.arange(len(points))
    return place[rows[:, points]]


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


def random_elements(generators: IntArray, number: int, seed: int = 0) -> IntArray:
    """The first ``number`` of `random_walk`, ``(number, n)``."""
    rows = list(islice(random_walk(generators, seed), number))
    return np.array(rows, dtype=np.int64).reshape(number, generators.shape[1])


def random_walk(generators: IntArray, seed: int = 0) -> Iterator[IntArray]:
    """Elements ``(n,)`` that look random (product replacement); repeatable."""
    draw = Random(seed)
    size = max(_POOL, len(generators))
    pool = [generators[i % len(generators)] for i in range(size)]
    current = pool[0]
    for step in count():
        i, j = draw.sample(range(size), 2)
        other = pool[j] if draw.getrandbits(1) else inverse(pool[j])
        pool[i] = other[pool[i]]
        current = pool[i][current]
        if step >= 5 * size:
            yield current


def _primes_between(low: int, high: int) -> list[int]:
    """The primes p with low < p < high."""
    return [
        p
        for p in range(max(low + 1, 2), high)
        if all(p % d for d in range(2, isqrt(p) + 1))
    ]
