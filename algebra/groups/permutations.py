"""Permutations as rows of numbers, small groups as tables, and prime factors.

Everything acts on the right.

A permutation of ``0..n-1`` is a row ``t`` with ``t[x] = x·t``, so that the product
"s then t" is ``t[s]``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray
from krohn.algebra.budget import BudgetExceeded
from krohn.algebra.errors import KrohnError


class GroupError(KrohnError):
    """Something that should be a permutation group or lie in one does not."""


def as_permutations(rows: npt.ArrayLike) -> IntArray:
    """The rows as a read-only array ``(k, n)`` of permutations.

    Raises:
        GroupError: If the shape is not ``(k, n)`` or a row is no permutation.
    """
    table = np.array(rows, dtype=np.int64)
    if table.ndim != 2:
        raise GroupError(
            f"permutations must come as rows of an array (k, n), not {table.shape}"
        )
    if not (np.sort(table, axis=1) == np.arange(table.shape[1])).all():
        raise GroupError(f"each row must permute the points 0..{table.shape[1] - 1}")
    table.setflags(write=False)
    return table


def product(first: IntArray, then: IntArray) -> IntArray:
    """Row by row "first then then", for arrays ``(..., n)`` that broadcast."""
    first, then = np.broadcast_arrays(first, then)
    return np.take_along_axis(then, first, axis=-1)


def inverse(rows: IntArray) -> IntArray:
    """The inverse of each row, ``(..., n)``."""
    return np.argsort(rows, axis=-1)


def conjugate(rows: IntArray, by: IntArray) -> IntArray:
    """``by⁻¹ · row · by`` for each row, ``(..., n)``."""
    return product(product(inverse(by), rows), by)


def commutator(first: IntArray, second: IntArray) -> IntArray:
    """``first⁻¹ · second⁻¹ · first · second``, row by row."""
    there = product(inverse(first), inverse(second))
    return product(product(there, first), second)


def power(row: IntArray, exponent: int) -> IntArray:
    """The power of one permutation ``(n,)``; negative exponents are allowed."""
    return np.asarray(powers(row[None], exponent)[0])


def powers(rows: IntArray, exponent: int) -> IntArray:
    """The power of each row ``(m, n)``; negative exponents are allowed."""
    base = rows if exponent >= 0 else inverse(rows)
    result = np.broadcast_to(np.arange(rows.shape[1]), rows.shape)
    left = abs(exponent)
    while left:
        if left & 1:
            result = product(result, base)
        base = product(base, base)
        left >>= 1
    return result


def cycle_lengths(rows: IntArray) -> IntArray:
    """The length of the cycle through each point, ``(m, n)`` like ``rows``."""
    count, degree = rows.shape
    offset = degree * np.arange(count)[:, None]
    # Each point takes the least point of its cycle, over windows that double.
    step, least = (rows + offset).ravel(), np.arange(rows.size)
    for _ in range(degree.bit_length()):
        least = np.minimum(least, least[step])
        step = step[step]
    return np.bincount(least, minlength=rows.size)[least].reshape(rows.shape)


def orders(rows: IntArray) -> IntArray:
    """The order of each row, ``(m,)``; it must fit in 64 bits."""
    if not rows.shape[1]:
        return np.ones(len(rows), dtype=np.int64)
    return np.asarray(np.lcm.reduce(cycle_lengths(rows), axis=1))


def is_even(rows: IntArray) -> npt.NDArray[np.bool_]:
    """Which rows are even permutations, ``(m,)``."""
    lengths = cycle_lengths(rows)
    # A cycle of length c has c points and counts 1 in the sum of the 1/c.
    cycles = np.rint((1 / lengths).sum(axis=1)).astype(np.int64)
    return np.asarray((rows.shape[1] - cycles) % 2 == 0)


def orbits(rows: IntArray) -> tuple[tuple[int, ...], ...]:
    """The orbits of the points under the rows, in order of their first points."""
    n = rows.shape[1]
    label = np.arange(n)
    while True:
        # Every point takes the least label on its cycle step; that spreads quickly,
        # because labels themselves are followed as pointers.
        least = label
        for row in rows:
            least = np.minimum(least, least[row])
            np.minimum.at(least, row, least.copy())
        least = least[least]
        if np.array_equal(least, label):
            break
        label = least
    return classes(label)


def classes(label: IntArray) -> tuple[tuple[int, ...], ...]:
    """The points of each label, in order of their first points."""
    members: dict[int, list[int]] = {}
    for point, name in enumerate(label.tolist()):
        members.setdefault(name, []).append(point)
    return tuple(tuple(points) for points in members.values())


# All elements of a small permutation group, coset by coset (Dimino's algorithm).


def closure(generators: IntArray, limit: float) -> IntArray:
    """All products of the rows ``(k, n)``, the identity first.

    The subgroup generated so far is enlarged by one generator at a time: a union of
    its right cosets is a group once no generator leads out of it.

    Returns:
        ``(order, n)`` in the narrowest unsigned type.

    Raises:
        BudgetExceeded: If there are more than ``limit``.
    """
    rows = generators.astype(narrowest(generators.shape[1]))
    elements = np.arange(rows.shape[1], dtype=rows.dtype)[None]
    known = keys(elements)
    used: list[IntArray] = []
    for row in rows:
        if row.tobytes() not in known:
            used.append(row)
            elements = _enlarge(elements, used, known, limit)
    return elements


def keys(rows: IntArray) -> set[bytes]:
    """A key of each row, to be looked up in a set."""
    return set(listed_keys(rows))


def listed_keys(rows: IntArray) -> list[bytes]:
    """A key of each row, in order: equal rows have equal keys."""
    if not rows.shape[1]:
        return [b""] * len(rows)
    data, width = rows.tobytes(), rows.shape[1] * rows.itemsize
    return [data[i : i + width] for i in range(0, len(data), width)]


def narrowest(degree: int) -> np.dtype[np.unsignedinteger]:
    """The narrowest unsigned type that holds ``0..degree-1``."""
    return np.dtype(np.min_scalar_type(max(degree - 1, 0)))


def _enlarge(
    subgroup: IntArray, generators: Iterable[IntArray], known: set[bytes], limit: float
) -> IntArray:
    cosets = [subgroup]
    representatives = [subgroup[0]]
    for representative in representatives:
        for generator in generators:
            candidate = generator[representative]
            if candidate.tobytes() in known:
                continue
            coset = candidate[subgroup]
            known |= keys(coset)
            if len(known) > limit:
                raise BudgetExceeded(f"more than {limit:,} elements", len(known))
            cosets.append(coset)
            representatives.append(candidate)
    return np.concatenate(cosets)


# Multiplication tables of small groups, and subgroups as sets of their rows.


BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class GroupTable:
    """A group whose elements are 0..m-1, the identity 0.

    Subgroups are sorted arrays of elements.

    Attributes:
        product: ``(m, m)``: ``product[i, j]`` is "i then j".
        generators: ``(k,)`` elements that generate the group.
    """

    product: IntArray
    generators: IntArray

    @property
    def order(self) -> int:
        """The number of elements."""
        return len(self.product)

    @cached_property
    def inverse(self) -> IntArray:
        """The inverse of each element, ``(m,)``."""
        return np.asarray(self.product.argmin(axis=1))

    @cached_property
    def orders(self) -> IntArray:
        """The order of each element, ``(m,)``."""
        orders = np.zeros(self.order, dtype=np.int64)
        power, exponent = np.arange(self.order), 1
        while not orders.all():
            orders[(power == 0) & (orders == 0)] = exponent
            power = self.product[power, np.arange(self.order)]
            exponent += 1
        return orders

    @cached_property
    def conjugations(self) -> IntArray:
        """``(k, m)``: x ↦ g⁻¹·x·g for each generator g."""
        g = self.generators
        return self.product[self.product[self.inverse[g]], g[:, None]]

    @cached_property
    def classes(self) -> tuple[IntArray, ...]:
        """The conjugacy classes, the identity's first."""
        conjugacy = orbits(self.conjugations.reshape(-1, self.order))
        return tuple(np.array(members) for members in conjugacy)

    @cached_property
    def centre(self) -> IntArray:
        """The elements that commute with all others."""
        fixed = (self.conjugations == np.arange(self.order)).all(axis=0)
        return np.flatnonzero(fixed)

    @property
    def is_abelian(self) -> bool:
        """Whether all elements commute."""
        return len(self.centre) == self.order

    def generated_subgroup(
        self, elements: Iterable[int], start: IntArray | None = None
    ) -> IntArray:
        """The subgroup that some elements (and a subgroup) generate."""
        subgroup = np.zeros(1, dtype=np.int64) if start is None else start
        inside = self.mask(subgroup)
        used = [] if start is None else self.small_generators(start)
        for element in elements:
            if not inside[element]:
                used.append(element)
                subgroup = self._enlarge(subgroup, used, inside)
        return np.sort(subgroup)

    def small_generators(self, subgroup: IntArray) -> list[int]:
        """At most log₂ of the order many elements that generate a subgroup."""
        generated = np.zeros(1, dtype=np.int64)
        inside, used = self.mask(generated), list[int]()
        # Elements of large order first: they leave less to do.
        for element in subgroup[np.argsort(-self.orders[subgroup], kind="stable")]:
            if not inside[element]:
                used.append(int(element))
                generated = self._enlarge(generated, used, inside)
            if len(generated) == len(subgroup):
                break
        return used

    def _enlarge(
        self, subgroup: IntArray, generators: list[int], inside: BoolArray
    ) -> IntArray:
        cosets, representatives = [subgroup], [0]
        for representative in representatives:
            for candidate in self.product[representative, generators].tolist():
                if not inside[candidate]:
                    coset = self.product[subgroup, candidate]
                    inside[coset] = True
                    cosets.append(coset)
                    representatives.append(candidate)
        return np.concatenate(cosets)

    def normal_closure(
        self, elements: Iterable[int], start: IntArray | None = None
    ) -> IntArray:
        """The smallest normal subgroup with these elements (and a normal subgroup)."""
        closure = self.generated_subgroup(elements, start)
        while True:
            gens = self.small_generators(closure)
            outside = self.conjugations[:, gens][
                ~self.mask(closure)[self.conjugations[:, gens]]
            ]
            if not len(outside):
                return closure
            closure = self.generated_subgroup(outside.tolist(), closure)

    def maximal_normal(self) -> IntArray:
        """A proper normal subgroup that lies in no other one."""
        normal = np.zeros(1, dtype=np.int64)
        for members in self.classes[1:]:
            grown = self.normal_closure([int(members[0])], normal)
            if len(grown) < self.order:
                normal = grown
        return normal

    def is_normal(self, subgroup: IntArray) -> bool:
        """Whether all conjugates of a subgroup are the subgroup."""
        return bool(self.mask(subgroup)[self.conjugations[:, subgroup]].all())

    def derived_subgroup(self) -> IntArray:
        """The subgroup that the commutators generate."""
        g = self.generators
        there = self.product[np.ix_(self.inverse[g], self.inverse[g])]
        return self.normal_closure(
            self.product[there, self.product[np.ix_(g, g)]].ravel().tolist()
        )

    def centraliser(self, subgroup: IntArray) -> IntArray:
        """The elements that commute with all of a subgroup."""
        gens = self.small_generators(subgroup)
        same = self.product[gens] == self.product[:, gens].T
        return np.flatnonzero(same.all(axis=0))

    def mask(self, elements: IntArray) -> BoolArray:
        """The elements as a mask ``(m,)``."""
        mask = np.zeros(self.order, dtype=bool)
        mask[elements] = True
        return mask

    def subgroup_table(self, subgroup: IntArray) -> "GroupTable":
        """A subgroup as a group of its own, its elements renumbered in order."""
        place = np.zeros(self.order, dtype=np.int64)
        place[subgroup] = np.arange(len(subgroup))
        table = place[self.product[np.ix_(subgroup, subgroup)]]
        gens = place[np.array(self.small_generators(subgroup), dtype=np.int64)]
        return GroupTable(table, gens)

    def cosets(self, subgroup: IntArray) -> tuple[IntArray, IntArray]:
        """The right cosets Hx: one label for each element, and first elements.

        Returns:
            ``(m,)`` labels, 0 for the subgroup itself, and ``(index,)``.
        """
        first = self.product[subgroup].min(axis=0)
        representatives, label = np.unique(first, return_inverse=True)
        return label.reshape(-1), representatives

    def quotient(self, normal: IntArray) -> tuple["GroupTable", IntArray]:
        """The quotient by a normal subgroup, and the element that each becomes."""
        label, chosen = self.cosets(normal)
        table = label[self.product[np.ix_(chosen, chosen)]]
        gens = np.unique(label[self.generators])
        return GroupTable(table, gens[gens > 0]), label

    def action(self, subgroup: IntArray, elements: IntArray) -> IntArray:
        """How elements permute the right cosets of a subgroup, ``(len, index)``."""
        label, chosen = self.cosets(subgroup)
        return label[self.product[np.ix_(chosen, elements)]].T


def table_of(elements: IntArray, generators: IntArray) -> GroupTable:
    """The table of a listed group.

    Args:
        elements: ``(m, n)`` permutations, the identity first.
        generators: ``(k, n)`` of them.
    """
    place = {key: i for i, key in enumerate(listed_keys(elements))}
    rows = generators.astype(elements.dtype)
    right = np.array(
        [[place[key] for key in listed_keys(row[elements])] for row in rows],
        dtype=np.int64,
    ).reshape(len(rows), len(elements))
    table = np.empty((len(elements), len(elements)), dtype=np.int64)
    table[:, 0] = np.arange(len(elements))
    known, queue = {0}, [0]
    for element in queue:
        for step in right:
            after = int(step[element])
            if after not in known:
                known.add(after)
                queue.append(after)
                table[:, after] = step[table[:, element]]
    return GroupTable(table, right[:, 0].copy())


# Prime factors, by trial division.
#
# The order of a permutation group has no prime factor above its degree, and the numbers
# that are factorised here are such orders and their divisors: however large they are,
# division ends early.


def factorise(number: int) -> dict[int, int]:
    """The prime factors of a number in ascending order, with their exponents.

    The work is as much as the second largest prime factor, or the square root of the
    largest, whichever is more.

    Raises:
        ValueError: If the number is not positive.
    """
    if number < 1:
        raise ValueError(f"{number} has no prime factors: it is not positive")
    exponents: dict[int, int] = {}
    rest, divisor = number, 2
    while divisor * divisor <= rest:
        while rest % divisor == 0:
            exponents[divisor] = exponents.get(divisor, 0) + 1
            rest //= divisor
        divisor += 1 if divisor == 2 else 2
    if rest > 1:
        exponents[rest] = exponents.get(rest, 0) + 1
    return exponents


def is_prime(number: int) -> bool:
    """Whether a number is prime; as quick as its smallest prime factor is small."""
    if number < 4:
        return number > 1
    divisor = 2
    while divisor * divisor <= number:
        if number % divisor == 0:
            return False
        divisor += 1 if divisor == 2 else 2
    return True
