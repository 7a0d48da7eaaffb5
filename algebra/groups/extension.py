"""Normal subgroups with their quotients, and how a group splits over them.

Elements are numbered as in `PermutationGroup.elements`, elements of the normal
subgroup in the same order; all is for groups with a multiplication table.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from krohn.algebra.budget import Budget
from krohn.algebra.groups.closure import listed_keys
from krohn.algebra.groups.isomorphism import extensions
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.groups.permutations import GroupError
from krohn.algebra.groups.table import GroupTable
from krohn.algebra.semiautomaton import IntArray


@dataclass(frozen=True, eq=False)
class Extension:
    """A group over a normal subgroup N (thesis, section 3.4.4.2).

    Attributes:
        group: The group.
        members: ``(|N|,)``: the elements of the normal subgroup, ascending.

    Raises:
        GroupError: If these are no normal subgroup.
        BudgetExceeded: If the group has more than 2048 elements.
    """

    group: PermutationGroup
    members: IntArray

    def __post_init__(self) -> None:
        closed = np.array_equal(
            self.table.generated_subgroup(self.members), self.members
        )
        if not (closed and self.table.is_normal(self.members)):
            raise GroupError("take a normal subgroup to extend from")

    @property
    def table(self) -> GroupTable:
        """The multiplication table of the group."""
        return self.group.table

    @cached_property
    def normal(self) -> PermutationGroup:
        """The normal subgroup on the points of the group."""
        chosen = self.table.small_generators(self.members)
        return self.group.subgroup(self.group.elements()[chosen])

    @cached_property
    def coset(self) -> IntArray:
        """``(m,)``: the element of the quotient that each element becomes."""
        return self.table.cosets(self.members)[0]

    @cached_property
    def transversal(self) -> IntArray:
        """``(index,)``: an element of each coset, the identity of the first."""
        return self.table.cosets(self.members)[1]

    @cached_property
    def quotient_table(self) -> GroupTable:
        """The quotient, its elements numbered as the cosets."""
        return self.table.quotient(self.members)[0]

    @cached_property
    def quotient(self) -> PermutationGroup:
        """The quotient acting on itself from the right, the coset number the point."""
        table = self.quotient_table
        return PermutationGroup(table.product[:, table.generators].T)

    @cached_property
    def functions(self) -> IntArray:
        """``(m, index)``: f_x(w) = r_w·x·r_{w·x̄}⁻¹ for each element x, numbered in N.

        Here r is the transversal and x̄ the coset of x. By x ↦ (f_x, x̄) the group embeds
        into the regular wreath product N ≀ G/N with (f, k)(f', k') = (w ↦
        f(w)·f'(w·k), k·k') (Krasner and Kaloujnine, which the thesis cites in step iv of
        its proof of Theorem 16; its equation (3.1) is wrong as printed, erratum E18).
        """
        r, table = self.transversal, self.table
        after = self.quotient_table.product[:, self.coset].T
        moved = table.product[r[None], np.arange(table.order)[:, None]]
        return self.place[table.product[moved, table.inverse[r[after]]]]

    @cached_property
    def place(self) -> IntArray:
        """``(m,)``: the number of each element within N, -1 outside."""
        found = np.full(self.table.order, -1, dtype=np.int64)
        found[self.members] = np.arange(len(self.members))
        return found


@dataclass(frozen=True, eq=False)
class SemiDirect:
    """A group N ⋊ H: each element is n·h in exactly one way (thesis, Lemma 18).

    Products are (n, h)(n', h') = (n·φ_h(n'), h·h') with φ_h(n) = h·n·h⁻¹, so that φ_hh'
    is φ_h after φ_h'.

    Attributes:
        extension: N in the group.
        section: ``(index,)``: the element of the complement H in each coset of N; the
            quotient's products are products of these.
    """

    extension: Extension
    section: IntArray

    @cached_property
    def action(self) -> IntArray:
        """φ as a table ``(|H|, |N|)`` of numbers within N."""
        table, n = self.extension.table, self.extension.members
        h = self.section[:, None]
        there = table.product[h, n]
        return self.extension.place[table.product[there, table.inverse[h]]]

    def coordinates(self, elements: npt.ArrayLike) -> tuple[IntArray, IntArray]:
        """The n (numbered within N) and h (a coset number) of each element."""
        chosen, table = np.asarray(elements, dtype=np.int64), self.extension.table
        h = self.extension.coset[chosen]
        n = table.product[chosen, table.inverse[self.section[h]]]
        return self.extension.place[n], h

    def element(self, n: npt.ArrayLike, h: npt.ArrayLike) -> IntArray:
        """The element with these coordinates."""
        below = self.extension.members[np.asarray(n)]
        return np.asarray(
            self.extension.table.product[below, self.section[np.asarray(h)]]
        )


@dataclass(frozen=True, eq=False)
class Direct(SemiDirect):
    """A group N × H: the complement commutes with N, so that φ is trivial."""


@dataclass(frozen=True, eq=False)
class NonSplit:
    """A group over a normal subgroup that has no complement.

    Attributes:
        extension: N in the group.
        tried: Of how many choices of images of the quotient's generators none is a
            homomorphism back into the group; there are no others.
    """

    extension: Extension
    tried: int


def extension(group: PermutationGroup, normal: PermutationGroup) -> Extension:
    """A group over a normal subgroup.

    Raises:
        GroupError: If the subgroup is not normal or no subgroup.
        BudgetExceeded: If the group has more than 2048 elements.
    """
    if not normal <= group:
        raise GroupError("the normal subgroup must consist of elements of the group")
    place = {key: i for i, key in enumerate(listed_keys(group.elements()))}
    chosen = [place[key] for key in listed_keys(normal.elements())]
    return Extension(group, np.sort(np.array(chosen, dtype=np.int64)))


def split(
    over: Extension, budget: Budget | None = None
) -> Direct | SemiDirect | NonSplit:
    """How a group splits over a normal subgroup, with the proof.

    A complement is a homomorphism from the quotient back that chooses an element of
    each coset. Images of the quotient's generators are searched exhaustively: first
    among elements that commute with N, which is a direct product, then among all.

    Raises:
        BudgetExceeded: If there are too many choices.
    """
    commuting = over.table.mask(over.table.centraliser(over.members))
    sections, _ = _sections(over, commuting, budget)
    if len(sections):
        return Direct(over, sections[0])
    sections, tried = _sections(over, np.ones_like(commuting), budget)
    return SemiDirect(over, sections[0]) if len(sections) else NonSplit(over, tried)


def _sections(
    over: Extension, inside: npt.NDArray[np.bool_], budget: Budget | None
) -> tuple[IntArray, int]:
    """Homomorphisms back from the quotient into a set, and how many were tried."""
    quotient, table = over.quotient_table, over.table
    generators = quotient.small_generators(np.arange(quotient.order))
    allowed = [
        np.flatnonzero(
            (over.coset == g) & (table.orders == quotient.orders[g]) & inside
        )
        for g in generators
    ]
    found = extensions(quotient, table, generators, allowed, budget)
    return found, int(np.prod([len(choices) for choices in allowed], dtype=float))
