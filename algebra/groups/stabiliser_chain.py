"""Large permutation groups: stabiliser chains, and groups with all even permutations."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from math import factorial, prod
from random import Random

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray
from krohn.algebra.budget import BudgetExceeded
from krohn.algebra.groups.permutations import (
    cycle_lengths,
    inverse,
    is_even,
    is_prime,
    product,
)

# Recognising that a group holds all even permutations of an orbit.


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
    good = [p for p in range(degree // 2 + 1, degree - 2) if is_prime(p)]
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


# Bases and strong generating sets: large permutation groups without their elements.
#
# Schreier–Sims with deterministic checks: a level is finished only when every Schreier
# generator of it sifts to the identity below, so that orders and memberships are proved
# (Seress, Permutation Group Algorithms, chapter 4). All Schreier generators of a level
# are sifted at once.


MOST_ENTRIES = 50_000_000
_BATCH = 2_000_000
_FEW = 3
_IDLE = 8


@dataclass(frozen=True)
class Level:
    """How a stabiliser moves its base point.

    Attributes:
        point: The base point.
        generators: ``(k, n)``; they fix the base points above and generate the group.
        place: ``(n,)``: where a point stands in the orbit, -1 if it is not in it.
        transversal: ``(orbit, n)``: row i takes the base point to the i-th orbit point.
        back: The inverses of the transversal.
    """

    point: int
    generators: IntArray
    place: IntArray
    transversal: IntArray
    back: IntArray

    @property
    def orbit(self) -> IntArray:
        """The images of the base point."""
        return self.transversal[:, self.point]


class StabiliserChain:
    """A group as a chain of point stabilisers down to the identity."""

    def __init__(self, degree: int, base: Sequence[int] = ()) -> None:
        """The trivial group, whose chain will begin with the points of ``base``."""
        self.degree = degree
        nothing = np.empty((0, degree), dtype=np.int64)
        self.levels: list[Level] = [_level(point, nothing) for point in base]

    @property
    def order(self) -> int:
        """The number of elements, exactly."""
        return prod(len(level.transversal) for level in self.levels)

    @property
    def base(self) -> tuple[int, ...]:
        """Points that only the identity fixes all."""
        return tuple(level.point for level in self.levels)

    def stabiliser(self, depth: int) -> IntArray:
        """Generators ``(k, n)`` of the stabiliser of the first ``depth`` base points."""
        if depth < len(self.levels):
            return self.levels[depth].generators
        return np.empty((0, self.degree), dtype=np.int64)

    def sift(
        self, rows: IntArray, top: int = 0, bottom: int | None = None
    ) -> tuple[IntArray, IntArray]:
        """Divide rows by transversal elements as long as they stay in the orbits.

        Args:
            rows: ``(m, n)``; they must fix the base points above ``top``.
            top: The first level to divide by.
            bottom: The level to stop before; None for all.

        Returns:
            What is left ``(m, n)``, the identity just for members of the group, and
            the level at which each stopped ``(m,)``.
        """
        rows, stopped = rows.copy(), np.full(len(rows), len(self.levels))
        going = np.arange(len(rows))
        for depth in range(top, len(self.levels) if bottom is None else bottom):
            level = self.levels[depth]
            place = level.place[rows[going, level.point]]
            stopped[going[place < 0]] = depth
            going, place = going[place >= 0], place[place >= 0]
            rows[going] = product(rows[going], level.back[place])
        return rows, stopped

    def contains(self, rows: IntArray) -> npt.NDArray[np.bool_]:
        """Which rows ``(m, n)`` are elements, ``(m,)``."""
        left, _ = self.sift(rows)
        return np.asarray((left == np.arange(self.degree)).all(axis=1))

    def extend(self, rows: IntArray) -> None:
        """Let the group grow by these generators.

        Raises:
            BudgetExceeded: If the chain would not fit in memory.
        """
        while len(rows):
            for row in rows[:_FEW]:
                self._absorb(row)
            self._fill()
            self._close(len(self.levels) - 1)
            # Most of many generators lie in what the first few of them generate.
            rows = rows[_FEW:]
            rows = rows[~self.contains(rows)]

    def _fill(self) -> None:
        """Sift random elements, which make the levels nearly complete quickly."""
        idle = 0
        walk = random_walk(self.stabiliser(0)) if len(self.stabiliser(0)) else iter(())
        for row in walk:
            idle = 0 if self._absorb(row) else idle + 1
            if idle == _IDLE:
                break

    def _absorb(self, row: IntArray) -> bool:
        """Make the residue of a row a generator, unless it is 1; whether it was one."""
        left, stopped = self.sift(row[None])
        if (left[0] == np.arange(self.degree)).all():
            return False
        self._insert(left[0], 0, int(stopped[0]))
        return True

    def elements(self) -> IntArray:
        """All elements ``(order, n)``, the identity first."""
        elements = np.arange(self.degree)[None]
        for level in reversed(self.levels):
            # An element is one of the stabiliser and then one of the transversal.
            elements = level.transversal[:, elements].reshape(-1, self.degree)
        return elements

    def random(self, count: int, generator: "np.random.Generator") -> IntArray:
        """``(count, n)`` elements, uniformly and independently."""
        rows = np.tile(np.arange(self.degree), (count, 1))
        for level in reversed(self.levels):
            chosen = generator.integers(len(level.transversal), size=count)
            rows = product(rows, level.transversal[chosen])
        return rows

    def _insert(self, row: IntArray, top: int, bottom: int) -> int:
        """Make ``row`` a generator of levels ``top..bottom``; the last one changed."""
        if bottom == len(self.levels):
            moved = int(np.flatnonzero(row != np.arange(self.degree))[0])
            self.levels.append(_level(moved, row[None][:0]))
        for depth in range(top, bottom + 1):
            self.levels[depth] = _add_generator(self.levels[depth], row)
        self._check_size()
        return bottom

    def _close(self, depth: int) -> None:
        """Add generators until all Schreier generators of this and upper levels sift."""
        while depth >= 0:
            missing = self._missing_generator(depth)
            if missing is None:
                depth -= 1
            else:
                depth = self._insert(missing[0], depth + 1, missing[1])

    def _missing_generator(self, depth: int) -> tuple[IntArray, int] | None:
        """A Schreier generator that does not sift, with the level where it stops."""
        level = self.levels[depth]
        batch = max(1, _BATCH // max(level.transversal.size, 1))
        for start in range(0, len(level.generators), batch):
            rows = _schreier_generators(level, level.generators[start : start + batch])
            left, stopped = self.sift(rows, depth + 1)
            bad = np.flatnonzero((left != np.arange(self.degree)).any(axis=1))
            if bad.size:
                return left[bad[0]], int(stopped[bad[0]])
        return None

    def _check_size(self) -> None:
        entries = sum(level.transversal.size for level in self.levels)
        if entries > MOST_ENTRIES:
            raise BudgetExceeded(
                f"the group has more than {self.order:,} elements on {self.degree} "
                "points, too many for its stabiliser chain; take fewer points",
                self.order,
            )


def _add_generator(level: Level, row: IntArray) -> Level:
    generators = np.concatenate([level.generators, row[None]])
    if (level.place[row[level.orbit]] >= 0).all():
        return replace(level, generators=generators)
    return _level(level.point, generators)


def _level(point: int, generators: IntArray) -> Level:
    degree = generators.shape[1]
    place = np.full(degree, -1, dtype=np.int64)
    place[point] = 0
    rows = np.arange(degree)[None]
    frontier = rows
    while frontier.size:
        after = generators[:, frontier].reshape(-1, degree)
        points, first = np.unique(after[:, point], return_index=True)
        fresh = place[points] < 0
        frontier = after[first[fresh]]
        place[points[fresh]] = len(rows) + np.arange(len(frontier))
        rows = np.concatenate([rows, frontier])
    return Level(point, generators, place, rows, inverse(rows))


def _schreier_generators(level: Level, generators: IntArray) -> IntArray:
    after = generators[:, level.transversal]
    back = level.back[level.place[after[:, :, level.point]]]
    return product(after, back).reshape(-1, generators.shape[1])
