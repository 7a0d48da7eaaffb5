"""Normal subgroups with their quotients, and isomorphisms between small groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray
from krohn.algebra.budget import Budget
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.groups.permutations import GroupError, GroupTable, listed_keys

# Isomorphisms between small groups, found by images of generators.


MOST_CANDIDATES = 200_000


@dataclass(frozen=True)
class _Tree:
    """How a subgroup's elements come from generators, one by one."""

    elements: list[int]
    parents: list[int]
    steps: list[int]


def isomorphism(first: GroupTable, second: GroupTable) -> IntArray | None:
    """An isomorphism as the image of each element, ``(m,)``; None if there is none.

    Images of generators are chosen among elements that look alike (`fingerprints`);
    partial choices are kept if they extend to an injective homomorphism on the
    subgroup that they generate. The first image is chosen up to conjugacy.

    Raises:
        BudgetExceeded: If there are too many choices.
    """
    if not look_alike(first, second):
        return None
    isomorphisms = embeddings(first, second)
    return isomorphisms[0] if len(isomorphisms) else None


def look_alike(first: GroupTable, second: GroupTable) -> bool:
    """Whether all fingerprints occur equally often, as they do in isomorphic groups."""
    if first.order != second.order:
        return False
    a, b = (np.sort(fingerprints(group)) for group in (first, second))
    return np.array_equal(a, b)


def embeddings(first: GroupTable, second: GroupTable) -> IntArray:
    """Injective homomorphisms ``(count, m)``, at least one of each up to conjugacy.

    Raises:
        BudgetExceeded: If there are too many choices.
    """
    same = first.order == second.order
    here = fingerprints(first) if same else first.orders
    there = fingerprints(second) if same else second.orders
    generators = _rare_generators(first, here)
    allowed = [np.flatnonzero(there == here[g]) for g in generators]
    if allowed:
        chosen = [members[0] for members in second.classes]
        allowed[0] = np.intersect1d(allowed[0], chosen)
    return extensions(first, second, generators, allowed)


def extensions(
    first: GroupTable,
    second: GroupTable,
    generators: Sequence[int],
    allowed: Sequence[IntArray],
    budget: Budget | None = None,
) -> IntArray:
    """All injective homomorphisms that map generators to allowed elements.

    Args:
        first: The group that is mapped.
        second: The group that it is mapped into.
        generators: Elements that generate the first group.
        allowed: For each of them the elements that may be its image.
        budget: Its size bounds the choices that are tried at a time.

    Returns:
        ``(count, m)``: the image of each element.

    Raises:
        BudgetExceeded: If there are too many choices.
    """
    limit = budget or Budget(size=MOST_CANDIDATES)
    images = np.empty((1, 0), dtype=np.int64)
    whole = np.zeros((1, first.order), dtype=np.int64)
    for step, choices in enumerate(allowed):
        limit.check(len(images) * len(choices), "choices of images")
        repeated = np.repeat(images, len(choices), axis=0)
        added = np.tile(choices, len(images))[:, None]
        images = np.concatenate([repeated, added], axis=1)
        images, whole = _consistent(first, second, generators[: step + 1], images)
    return whole


def fingerprints(group: GroupTable) -> IntArray:
    """A number for each element that isomorphisms keep, ``(m,)``.

    It is made of the order, the size of the class, the number of square roots and of
    cube roots, and then of the same for the square and the cube.
    """
    every = np.arange(group.order)
    size = np.empty(group.order, dtype=np.int64)
    for members in group.classes:
        size[members] = len(members)
    square = group.product[every, every]
    cube = group.product[square, every]
    roots = [np.bincount(p, minlength=group.order) for p in (square, cube)]
    mark = _hash_columns([group.orders, size, *roots])
    return _hash_columns([mark, mark[square], mark[cube]])


def _hash_columns(columns: list[IntArray]) -> IntArray:
    """One number from several; equal columns give equal numbers in every group."""
    result = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        # Multiplying by an odd number modulo 2^64 mixes; a rare collision of unlike
        # elements only weakens the invariant and never makes it wrong.
        result = (result + column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        result ^= result >> np.uint64(29)
    return result.astype(np.int64)


def _rare_generators(group: GroupTable, marks: IntArray) -> list[int]:
    """Few generators, preferring elements that have few look-alikes."""
    _, place, counts = np.unique(marks, return_inverse=True, return_counts=True)
    rarity = counts[place.reshape(-1)]
    subgroup = np.zeros(1, dtype=np.int64)
    chosen: list[int] = []
    while len(subgroup) < group.order:
        outside = np.flatnonzero(~group.mask(subgroup))
        order = np.lexsort((rarity[outside], -group.orders[outside]))
        tried = outside[order][:24]
        grown = [group.generated_subgroup([int(x)], subgroup) for x in tried]
        best = max(range(len(tried)), key=lambda i: (len(grown[i]), -rarity[tried[i]]))
        chosen.append(int(tried[best]))
        subgroup = grown[best]
    return chosen


def _consistent(
    first: GroupTable, second: GroupTable, chosen: Sequence[int], images: IntArray
) -> tuple[IntArray, IntArray]:
    """The images that extend to injective homomorphisms on the generated subgroup."""
    tree = _tree(first, chosen)
    whole = np.zeros((len(images), first.order), dtype=np.int64)
    for element, parent, step in zip(
        tree.elements, tree.parents, tree.steps, strict=True
    ):
        whole[:, element] = second.product[whole[:, parent], images[:, step]]
    for step, generator in enumerate(chosen):
        for element in (0, *tree.elements):
            after = first.product[element, generator]
            image = second.product[whole[:, element], images[:, step]]
            good = image == whole[:, after]
            if not good.all():
                images, whole = images[good], whole[good]
    inside = np.array(tree.elements, dtype=np.int64)
    injective = (whole[:, inside] != 0).all(axis=1)
    return images[injective], whole[injective]


def _tree(group: GroupTable, generators: Sequence[int]) -> _Tree:
    tree, known, queue = _Tree([], [], []), {0}, [0]
    for element in queue:
        for step, generator in enumerate(generators):
            after = int(group.product[element, generator])
            if after not in known:
                known.add(after)
                queue.append(after)
                tree.elements.append(after)
                tree.parents.append(element)
                tree.steps.append(step)
    return tree


# Normal subgroups with their quotients, and how a group splits over them.
#
# Elements are numbered as in `PermutationGroup.elements`, elements of the normal
# subgroup in the same order; all is for groups with a multiplication table.


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
        places = np.full(self.table.order, -1, dtype=np.int64)
        places[self.members] = np.arange(len(self.members))
        return places


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
    sections = extensions(quotient, table, generators, allowed, budget)
    return sections, int(np.prod([len(choices) for choices in allowed], dtype=float))
