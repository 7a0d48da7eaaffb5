"""Abelian groups by their invariants."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.groups.permutations import powers
from krohn.algebra.groups.table import GroupTable
from krohn.algebra.primes import factorise

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
