"""Prime factors, abelian groups by their invariants, and direct products."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.groups.permutations import powers
from krohn.algebra.groups.table import GroupTable

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
    found: dict[int, int] = {}
    rest, divisor = number, 2
    while divisor * divisor <= rest:
        while rest % divisor == 0:
            found[divisor] = found.get(divisor, 0) + 1
            rest //= divisor
        divisor += 1 if divisor == 2 else 2
    if rest > 1:
        found[rest] = found.get(rest, 0) + 1
    return found


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


# Abelian groups by their invariants.


Parts = tuple[int, ...]


def primary_parts(group: PermutationGroup) -> Parts:
    """The prime powers of the cyclic factors of an abelian group of any order.

    The p-part has as many factors of order at least p^k as the power map x ↦ x^p
    divides the group of p^(k-1)-th powers by p; powers of generators generate these.
    """
    found: list[int] = []
    for prime in factorise(group.order):
        sizes, current = list[int](), group
        while not sizes or sizes[-1] > 1:
            after = group.subgroup(powers(current.generators, prime))
            sizes.append(current.order // after.order)
            current = after
        found += _parts(prime, sizes)
    return tuple(sorted(found))


def primary_parts_of_table(table: GroupTable) -> Parts:
    """The prime powers of the cyclic factors of an abelian group given by a table."""
    found: list[int] = []
    for prime in factorise(table.order):
        counts = [1]
        while len(counts) < 2 or counts[-1] > counts[-2]:
            exponent = prime ** len(counts)
            counts.append(int((exponent % table.orders == 0).sum()))
        sizes = [b // a for a, b in pairwise(counts)]
        found += _parts(prime, sizes)
    return tuple(sorted(found))


def _parts(prime: int, sizes: list[int]) -> list[int]:
    """Cyclic factors, where the k-th size is p to the number of those from p^k on."""
    ranks = [next(iter(factorise(size).values()), 0) for size in sizes] + [0]
    return [
        prime ** (k + 1)
        for k, (rank, after) in enumerate(pairwise(ranks))
        for _ in range(rank - after)
    ]


def invariant_factors(parts: Iterable[int]) -> Parts:
    """The invariant factors of a product of cyclic groups: each divides the next."""
    columns: dict[int, list[int]] = {}
    for part in sorted(parts, reverse=True):
        columns.setdefault(min(factorise(part)), []).append(part)
    rank = max(map(len, columns.values()), default=0)
    factors = [1] * rank
    for column in columns.values():
        for i, part in enumerate(column):
            factors[i] *= part
    return tuple(sorted(factors))


def abelian_name(parts: Iterable[int]) -> str:
    """``"1"``, ``"C6"``, ``"C2^2"`` or ``"C2 × C4"``, by invariant factors."""
    counted = sorted(Counter(invariant_factors(parts)).items())
    names = (f"C{n}^{times}" if times > 1 else f"C{n}" for n, times in counted)
    return " × ".join(names) or "1"


# Direct products: writing a small group with indecomposable factors.


MOST_NORMAL = 400


@dataclass(frozen=True)
class DirectFactors:
    """A group as a direct product; unique up to isomorphism (Krull–Schmidt).

    Attributes:
        cyclic: The orders of the cyclic factors, prime powers.
        others: Factors that have no cyclic direct factor.
        complete: Whether the others are proved to be no direct products themselves.
    """

    cyclic: Parts
    others: tuple[GroupTable, ...]
    complete: bool


def direct_factors(table: GroupTable) -> DirectFactors:
    """The indecomposable direct factors of a small group."""
    cyclic: list[int] = []
    while not table.is_abelian:
        split = cyclic_factor(table)
        if split is None:
            break
        cyclic.append(len(split[0]))
        table = table.subgroup_table(split[1])
    if table.is_abelian:
        parts = primary_parts_of_table(table)
        return DirectFactors(tuple(sorted([*cyclic, *parts])), (), True)
    try:
        others, complete = _indecomposable_factors(table), True
    except BudgetExceeded:
        others, complete = (table,), False
    return DirectFactors(tuple(sorted(cyclic)), others, complete)


def normal_subgroups(
    table: GroupTable, budget: Budget | None = None
) -> tuple[IntArray, ...]:
    """All normal subgroups, by order: every one is generated by closures of classes.

    Raises:
        BudgetExceeded: If there are more than the budget allows.
    """
    limit = budget or Budget(size=MOST_NORMAL)
    found = {b"": np.zeros(1, dtype=np.int64)}
    atoms: dict[bytes, IntArray] = {}
    for members in table.classes[1:]:
        closure = table.normal_closure([int(members[0])])
        atoms[closure.tobytes()] = closure
        limit.check(len(atoms), "normal subgroups")
    for atom in atoms.values():
        for other in list(found.values()):
            joined = join(table, other, atom)
            found[joined.tobytes()] = joined
            limit.check(len(found), "normal subgroups")
    return tuple(sorted(found.values(), key=lambda s: (len(s), s.tolist())))


def join(table: GroupTable, first: IntArray, second: IntArray) -> IntArray:
    """The product of two normal subgroups."""
    if np.isin(second, first, assume_unique=True).all():
        return first
    chosen = table.product[np.ix_(first, second)]
    return np.flatnonzero(table.mask(chosen.ravel()))


def cyclic_factor(table: GroupTable) -> tuple[IntArray, IntArray] | None:
    """A cyclic direct factor of prime power order and a complement, if there is one.

    A central z of order p^k splits off exactly if some homomorphism onto a cyclic
    group of order p^k is injective on it; that is one of the abelian quotient A by the
    commutators, and there is one exactly if z^(p^(k-1)) is no p^k-th power in A.
    """
    abelian, image = table.quotient(table.derived_subgroup())
    for z in table.centre[1:][np.argsort(-table.orders[table.centre[1:]])].tolist():
        size, x = int(table.orders[z]), int(image[z])
        primes = factorise(size)
        if len(primes) > 1 or abelian.orders[x] != size:
            continue
        powers = _powers(abelian, size)
        cycle = abelian.generated_subgroup([x])
        if np.isin(cycle[1:], powers).any():
            continue
        kernel = _avoiding(abelian, cycle, np.unique(powers))
        rest = np.flatnonzero(abelian.mask(kernel)[image])
        return table.generated_subgroup([z]), rest
    return None


def _powers(table: GroupTable, exponent: int) -> IntArray:
    every = np.arange(table.order)
    result = np.zeros(table.order, dtype=np.int64)
    for _ in range(exponent):
        result = table.product[result, every]
    return result


def _avoiding(abelian: GroupTable, cycle: IntArray, start: IntArray) -> IntArray:
    """A largest subgroup over ``start`` that meets the cycle in the identity only.

    Modulo ``start`` the exponent is the cycle's order, so that it is a complement: in
    the quotient by it every subgroup meets the cycle, which makes that cyclic.
    """
    found = abelian.generated_subgroup(start.tolist())
    for element in range(abelian.order):
        grown = abelian.generated_subgroup([element], found)
        if not np.isin(cycle[1:], grown).any():
            found = grown
    return found


def _indecomposable_factors(table: GroupTable) -> tuple[GroupTable, ...]:
    """Indecomposable factors by complements among the normal subgroups."""
    every = normal_subgroups(table)
    for first in every:
        if not 1 < len(first) <= table.order // len(first):
            continue
        inside = table.mask(first)
        for second in every:
            if len(first) * len(second) == table.order and inside[second].sum() == 1:
                parts = (table.subgroup_table(first), table.subgroup_table(second))
                return _indecomposable_factors(parts[0]) + _indecomposable_factors(
                    parts[1]
                )
    return (table,)
