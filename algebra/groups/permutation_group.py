"""Groups of permutations, given by generators."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray
from krohn.algebra.budget import BudgetExceeded
from krohn.algebra.groups import permutations
from krohn.algebra.groups.permutations import (
    GroupError,
    GroupTable,
    as_permutations,
    closure,
    commutator,
    keys,
    listed_keys,
    narrowest,
    table_of,
)
from krohn.algebra.groups.stabiliser_chain import (
    Giants,
    StabiliserChain,
    find_giants,
    holds_alternating,
    random_elements,
)

SMALL_ORDER = 4_096
MOST_TABLED = 2_048
MOST_ELEMENTS = 1_000_000

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PermutationGroup:
    """All products of some permutations of ``0..n-1``.

    Small groups are listed; for larger ones a stabiliser chain answers, and groups that
    hold all even permutations are recognised before. Two groups are equal if they act
    on equally many points and have the same elements.

    Attributes:
        generators: ``(k, n)``: row t takes the point x to t[x]. Identities and repeated
            rows are dropped, so that the trivial group has none.

    Raises:
        GroupError: If a row is no permutation.
    """

    generators: IntArray

    def __post_init__(self) -> None:
        rows = as_permutations(self.generators)
        identity = np.arange(rows.shape[1])
        first = {key: i for i, key in reversed(list(enumerate(listed_keys(rows))))}
        kept = sorted(i for i in first.values() if (rows[i] != identity).any())
        rows = rows[kept]
        rows.setflags(write=False)
        object.__setattr__(self, "generators", rows)

    @classmethod
    def trivial(cls, degree: int) -> "PermutationGroup":
        """The group that moves none of ``degree`` points."""
        return cls(np.empty((0, degree), dtype=np.int64))

    @classmethod
    def symmetric(cls, degree: int) -> "PermutationGroup":
        """All permutations of ``degree`` points."""
        cycle = np.roll(np.arange(degree), -1)
        swap = np.arange(degree)
        swap[:2] = swap[:2][::-1]
        return cls(np.array([swap, cycle]))

    @classmethod
    def alternating(cls, degree: int) -> "PermutationGroup":
        """The even permutations of ``degree`` points."""
        rows = np.tile(np.arange(degree), (max(degree - 2, 0), 1))
        for i, row in enumerate(rows):
            row[[0, 1, i + 2]] = 1, i + 2, 0
        return cls(rows)

    @property
    def degree(self) -> int:
        """How many points there are, moved or not."""
        return int(self.generators.shape[1])

    @cached_property
    def order(self) -> int:
        """The number of elements, exactly."""
        if self._small_elements is not None:
            return len(self._small_elements)
        if self.giants.orbits:
            return self.giants.even_order * self.beside_giants.order
        return self._chain.order

    @property
    def is_trivial(self) -> bool:
        """Whether the identity is the only element."""
        return not len(self.generators)

    @cached_property
    def is_abelian(self) -> bool:
        """Whether all elements commute."""
        a, b = self.generators[:, None], self.generators[None]
        there, back = permutations.product(a, b), permutations.product(b, a)
        return np.array_equal(there, back)

    @cached_property
    def is_giant(self) -> bool:
        """Whether it is known to hold all even permutations of at least 8 points."""
        return holds_alternating(self.generators, self.is_transitive)

    @cached_property
    def giants(self) -> Giants:
        """Orbits of a large group on which it is all, or all but parity, by itself."""
        return find_giants(self.generators, self.orbits)

    @cached_property
    def beside_giants(self) -> "PermutationGroup":
        """The group modulo the even permutations of its giants, on few points."""
        return PermutationGroup(self.giants.reduced_rows(self.generators))

    @cached_property
    def _small_elements(self) -> IntArray | None:
        """The elements in a narrow type, if they are few."""
        try:
            return closure(self.generators, SMALL_ORDER)
        except BudgetExceeded:
            return None

    @cached_property
    def table(self) -> GroupTable:
        """The multiplication table; element i is row i of `elements`.

        Raises:
            BudgetExceeded: If there are more than 2048 elements.
        """
        if self._small_elements is None or len(self._small_elements) > MOST_TABLED:
            raise BudgetExceeded(
                f"more than {MOST_TABLED:,} elements, too many for a table", MOST_TABLED
            )
        return table_of(self._small_elements, self.generators)

    @property
    def is_small(self) -> bool:
        """Whether there are few enough elements for a multiplication table."""
        return (
            self._small_elements is not None
            and len(self._small_elements) <= MOST_TABLED
        )

    @cached_property
    def _keys(self) -> set[bytes]:
        return keys(self._small_elements) if self._small_elements is not None else set()

    @property
    def base(self) -> tuple[int, ...]:
        """Points that only the identity fixes all."""
        return self._chain.base

    @cached_property
    def _chain(self) -> StabiliserChain:
        chain = StabiliserChain(self.degree)
        chain.extend(self.generators)
        return chain

    def elements(self, limit: int = MOST_ELEMENTS) -> IntArray:
        """All elements ``(order, n)``, the identity first; the order is repeatable.

        Raises:
            BudgetExceeded: If there are more than ``limit``.
        """
        if self.order > limit:
            raise BudgetExceeded(
                f"the group has {self.order:,} elements, more than {limit:,}", limit
            )
        if self._small_elements is not None:
            return self._small_elements.astype(np.int64)
        return self._chain.elements()

    def random(self, count: int, seed: int = 0) -> IntArray:
        """``(count, n)`` elements drawn at random, the same ones for the same seed."""
        if self._small_elements is not None:
            draw = np.random.default_rng(seed)
            chosen = draw.integers(len(self._small_elements), size=count)
            return self._small_elements[chosen].astype(np.int64)
        if self.giants.orbits:
            return random_elements(self.generators, count, seed)
        return self._chain.random(count, np.random.default_rng(seed))

    def contains(self, rows: npt.ArrayLike) -> BoolArray:
        """Which rows ``(m, n)`` are elements, ``(m,)``; for one row ``(n,)``, ``()``.

        Raises:
            GroupError: If a row has another number of points.
        """
        table = np.asarray(rows, dtype=np.int64)
        if table.shape[-1] != self.degree:
            raise GroupError(
                f"the group acts on {self.degree} points, the rows on {table.shape[-1]}"
            )
        flat = np.atleast_2d(table)
        return np.asarray(self._contains(flat)).reshape(table.shape[:-1])

    def _contains(self, rows: IntArray) -> BoolArray:
        if self._small_elements is not None:
            wanted = listed_keys(rows.astype(narrowest(self.degree)))
            return np.array([key in self._keys for key in wanted], dtype=bool)
        if not self.giants.orbits:
            return self._chain.contains(rows)
        good = self.giants.keeps(rows)
        images = self.giants.reduced_rows(rows[good])
        good[good] = self.beside_giants.contains(images)
        return good

    def __le__(self, other: "PermutationGroup") -> bool:
        """Whether this is a subgroup of the other."""
        return self.degree == other.degree and bool(
            other.contains(self.generators).all()
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PermutationGroup):
            return NotImplemented
        return self.order == other.order and self <= other

    def __hash__(self) -> int:
        return hash((self.degree, self.order))

    @cached_property
    def orbits(self) -> tuple[tuple[int, ...], ...]:
        """The orbits of the points, in order of their first points."""
        return permutations.orbits(self.generators)

    @property
    def is_transitive(self) -> bool:
        """Whether every point can be reached from every other."""
        return len(self.orbits) <= 1

    def subgroup(self, rows: npt.ArrayLike) -> "PermutationGroup":
        """The subgroup that elements generate (they are not checked to be in the group)."""
        table = np.asarray(rows, dtype=np.int64).reshape(-1, self.degree)
        return PermutationGroup(table)

    def is_normal(self, subgroup: "PermutationGroup") -> bool:
        """Whether every element of this group maps the subgroup to itself."""
        return bool(subgroup.contains(self._conjugates(subgroup.generators)).all())

    def normal_closure(
        self, rows: npt.ArrayLike, known: "PermutationGroup | None" = None
    ) -> "PermutationGroup":
        """The smallest normal subgroup with these elements (and those known)."""
        closure = known or PermutationGroup.trivial(self.degree)
        pending = np.asarray(rows, dtype=np.int64).reshape(-1, self.degree)
        while True:
            outside = pending[~closure.contains(pending)]
            if not len(outside):
                pending = self._conjugates(closure.generators)
                outside = pending[~closure.contains(pending)]
            if not len(outside):
                return closure
            # One at a time: each at least doubles the group, so few are ever needed.
            closure = closure.generated_with(outside[:1])

    def generated_with(self, rows: IntArray) -> "PermutationGroup":
        """The group generated together with some more rows ``(k, n)``."""
        return PermutationGroup(np.concatenate([self.generators, rows]))

    def _conjugates(self, rows: IntArray) -> IntArray:
        images = permutations.conjugate(rows[:, None], self.generators[None])
        return images.reshape(-1, self.degree)

    @cached_property
    def _derived_subgroup(self) -> "PermutationGroup":
        if self.is_abelian:
            return PermutationGroup.trivial(self.degree)
        i, j = np.triu_indices(len(self.generators), 1)
        rows = commutator(self.generators[i], self.generators[j])
        if self._small_elements is not None or not self.giants.orbits:
            return self.normal_closure(rows)
        known = self.subgroup(self.giants.even_rows(self.degree))
        return self.normal_closure(rows, known)

    def derived_subgroup(self) -> "PermutationGroup":
        """The subgroup that the commutators generate."""
        return self._derived_subgroup

    def derived_series(self) -> tuple["PermutationGroup", ...]:
        """The group, its derived subgroup, and so on as long as they get smaller."""
        series = [self]
        while (after := series[-1].derived_subgroup()).order < series[-1].order:
            series.append(after)
        return tuple(series)

    def perfect_core(self) -> "PermutationGroup":
        """The largest subgroup that equals its own derived subgroup."""
        return self.derived_series()[-1]

    @cached_property
    def is_solvable(self) -> bool:
        """Whether the derived series ends in the trivial group.

        A group embeds into the product of its actions on the orbits, so that it is
        solvable exactly if each of these is.
        """
        if self._small_elements is None:
            parts = (self.action_on(orbit) for orbit in self.orbits)
            if any(part.is_giant for part in parts):
                return False
        return self.perfect_core().is_trivial

    @property
    def derived_length(self) -> int | None:
        """How many steps the derived series takes; None if it is not solvable."""
        return len(self.derived_series()) - 1 if self.is_solvable else None

    def action_on(self, points: npt.ArrayLike) -> "PermutationGroup":
        """The action of the group on a set of points that it keeps, numbered from 0.

        Raises:
            GroupError: If the group leads out of the set.
        """
        chosen = np.asarray(points, dtype=np.int64)
        place = np.full(self.degree, -1, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        images = place[self.generators[:, chosen]]
        if (images < 0).any():
            raise GroupError("the group leads out of these points; take whole orbits")
        return PermutationGroup(images)
