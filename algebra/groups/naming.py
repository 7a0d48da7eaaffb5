"""Names of groups that are proofs: the same proper name, isomorphic groups.

A name is proper if it determines the group: ``C6``, ``C2^2``, ``C2 × C4`` (invariant
factors of abelian groups), ``D8`` (dihedral *of order* 8, as in the zoo and the thesis),
``Q8``, ``Q16``, ``Dic3`` (dicyclic of order 12), ``SD16``, ``A4``, ``S4``, the simple
groups, the groups of `krohn.algebra.groups.families`, and direct products of these.

``C7 ⋊ C3`` or ``C2^4 ⋊ C5`` stands for a cyclic group that acts faithfully and
irreducibly on an elementary abelian one. All such subgroups of one order of GL(k, p) are
conjugate (they are the powers of Singer cycles), so that this determines the group.
``C3 ⋊_2 C8`` has generators a, b with b⁻¹ab = a²; in ``Dih(C3^2)`` an involution
inverts the abelian group in brackets. Everything else is called
``order 32 (C2^5)``, with its composition factors, which claims nothing more.
"""

from collections import Counter
from functools import lru_cache
from itertools import chain
from math import factorial, prod

import numpy as np

from krohn.algebra.budget import BudgetExceeded
from krohn.algebra.groups.abelian import (
    abelian_name,
    primary_parts,
    primary_parts_of_table,
)
from krohn.algebra.groups.decomposition import direct_factors
from krohn.algebra.groups.families import known_groups
from krohn.algebra.groups.isomorphism import isomorphism
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.groups.series import composition_factors
from krohn.algebra.groups.simple import simple_name
from krohn.algebra.groups.table import GroupTable
from krohn.algebra.primes import factorise, is_prime

_Factors = tuple[list[int], list[str]]


def name(group: PermutationGroup) -> str:
    """The name of the group; the module says what the names mean."""
    return _cached_name(group.degree, group.generators.tobytes())


@lru_cache(maxsize=1024)
def _cached_name(degree: int, data: bytes) -> str:
    # The same few small groups are named again and again.
    rows = np.frombuffer(data, dtype=np.int64).reshape(-1, degree)
    group = PermutationGroup(rows)
    found = _named_factors(group)
    return _product_name(*found) if found else _by_factors(group)


def is_proper(title: str) -> bool:
    """Whether a name determines the group up to isomorphism."""
    return "order" not in title


def _by_factors(group: PermutationGroup) -> str:
    """``"A5"`` for simple groups, and otherwise the order with the composition factors."""
    try:
        factors = composition_factors(group)
    except BudgetExceeded:
        return f"order {group.order}"
    if len(factors) == 1:
        return factors[0]
    return f"order {group.order} ({_factor_list(factors)})"


def _named_factors(group: PermutationGroup) -> _Factors | None:
    """Cyclic factors and names of the others; None if a factor has no name."""
    parts = _parts(group)
    if len(parts) > 1:
        found = [_named_factors(part) for part in parts]
        named = [factors for factors in found if factors is not None]
        if len(named) < len(found):
            return None
        cyclic, others = zip(*named, strict=True)
        return [*chain(*cyclic)], [*chain(*others)]
    if group.is_abelian:
        return list(primary_parts(group)), []
    if group.is_small:
        return _factors_of_table(group.table)
    moved = sum(len(orbit) for orbit in group.orbits if len(orbit) > 1)
    # All permutations of the moved points, or the one subgroup of index 2 among them.
    if group.order == factorial(moved):
        return [], [f"S{moved}"]
    if 2 * group.order == factorial(moved):
        return [], [f"A{moved}"]
    return None


def _parts(group: PermutationGroup) -> tuple[PermutationGroup, ...]:
    """The actions on the orbits if the group is their direct product."""
    moved = [orbit for orbit in group.orbits if len(orbit) > 1]
    if len(moved) < 2:
        return (group,)
    parts = tuple(group.action_on(orbit) for orbit in moved)
    full = prod(part.order for part in parts) == group.order
    return parts if full else (group,)


def _factors_of_table(table: GroupTable) -> _Factors | None:
    found = direct_factors(table)
    names = [_indecomposable_name(other) for other in found.others]
    named = [title for title in names if title is not None]
    return None if len(named) < len(names) else (list(found.cyclic), named)


def _indecomposable_name(table: GroupTable) -> str | None:
    """The proper name of a small group without direct factors, if it has one here."""
    for rule in _RULES:
        title = rule(table)
        if title is not None:
            return title
    return None


def _simple(table: GroupTable) -> str | None:
    for members in table.classes[1:]:
        if len(table.normal_closure([int(members[0])])) < table.order:
            return None
    title = simple_name(table.order)
    return title if is_proper(title) else None


def _with_large_cycle(table: GroupTable) -> str | None:
    """Dihedral, dicyclic and semidihedral groups: half of it is one cycle ⟨a⟩."""
    half = table.order // 2
    for a in np.flatnonzero(table.orders == half).tolist():
        powers = _cycle(table, a)
        outside = np.setdiff1d(np.arange(table.order), powers)
        b = int(outside[table.orders[outside].argmin()])
        image = _conjugate(table, a, b)
        if image == powers[-1]:
            return _inverting(table.order, int(table.product[b, b]))
        if table.orders[b] == 2 and half % 4 == 0 and image == powers[half // 2 - 1]:
            return _semidihedral(table.order)
    return None


def _inverting(order: int, square: int) -> str:
    """The group with b⁻¹ab = a⁻¹ and a given b², where ⟨a⟩ is half of it."""
    if square == 0:
        return "S3" if order == 6 else f"D{order}"
    is_power_of_two = order & (order - 1) == 0
    return f"Q{order}" if is_power_of_two else f"Dic{order // 4}"


def _semidihedral(order: int) -> str | None:
    is_power_of_two = order & (order - 1) == 0
    return f"SD{order}" if is_power_of_two and order >= 16 else None


def _irreducible(table: GroupTable) -> str | None:
    """A cyclic group acting faithfully and irreducibly on an elementary abelian one.

    Its order is prime to p then, so that the extension splits (Schur–Zassenhaus).
    """
    closures = (table.normal_closure([int(c[0])]) for c in table.classes[1:])
    normal = min(closures, key=len)
    exponents = set(table.orders[normal[1:]].tolist())
    if len(exponents) > 1 or not is_prime(prime := exponents.pop()):
        return None
    self_centralising = np.array_equal(table.centraliser(normal), normal)
    quotient, _ = table.quotient(normal)
    if not self_centralising or quotient.orders.max() < quotient.order:
        return None
    rank = factorise(len(normal))[prime]
    below = abelian_name([prime] * rank)
    return "A4" if table.order == 12 else f"{below} ⋊ C{quotient.order}"


def _metacyclic(table: GroupTable) -> str | None:
    """⟨a⟩ ⋊ ⟨b⟩ with b⁻¹ab = a^r: the longest normal ⟨a⟩, then the least r."""
    found = [
        choice
        for members in table.classes[1:]
        if (choice := _split_by_cycle(table, int(members[0]))) is not None
    ]
    if not found:
        return None
    size, least = max(found, key=lambda choice: (choice[0], -choice[1]))
    return f"C{size} ⋊_{least} C{table.order // size}"


def _split_by_cycle(table: GroupTable, a: int) -> tuple[int, int] | None:
    """The order of a and the least r, if ⟨a⟩ is normal with a cyclic complement."""
    powers = _cycle(table, a)
    cycle = np.array(powers)
    if not table.is_normal(cycle):
        return None
    above = table.order // len(powers)
    place = {element: exponent for exponent, element in enumerate(powers)}
    found = [
        place[_conjugate(table, a, b)]
        for b in np.flatnonzero(table.orders == above).tolist()
        if not np.isin(_cycle(table, b)[1:], cycle).any()
    ]
    return (len(powers), min(found)) if found else None


def _generalised_dihedral(table: GroupTable) -> str | None:
    """An abelian group A of index 2 outside of which every b has order 2.

    Then (ab)² = 1 says that b inverts A. The elements of larger order generate A,
    unless A has exponent 2, when the group is abelian.
    """
    below = table.generated_subgroup(np.flatnonzero(table.orders > 2).tolist())
    inside = table.subgroup_table(below)
    if 2 * len(below) != table.order or not inside.is_abelian:
        return None
    return f"Dih({abelian_name(primary_parts_of_table(inside))})"


def _from_families(table: GroupTable) -> str | None:
    for title, group in known_groups(table.order):
        try:
            if isomorphism(table, group.table) is not None:
                return title
        except BudgetExceeded:
            continue
    return None


_RULES = (
    _simple,
    _with_large_cycle,
    _irreducible,
    _generalised_dihedral,
    _metacyclic,
    _from_families,
)


def _conjugate(table: GroupTable, a: int, b: int) -> int:
    return int(table.product[table.product[table.inverse[b], a], b])


def _cycle(table: GroupTable, a: int) -> list[int]:
    """The powers of a: 1, a, a² and so on."""
    powers = [0]
    while (after := int(table.product[powers[-1], a])) != 0:
        powers.append(after)
    return powers


def _product_name(cyclic: list[int], others: list[str]) -> str:
    """One name of a direct product, whatever the order of its factors."""
    if not others:
        return abelian_name(cyclic)
    if cyclic == [2] and len(others) == 1 and (twice := _dihedral_twice(others[0])):
        return twice
    if not cyclic and len(others) == 1:
        return others[0]
    abelian = [abelian_name(cyclic)] if cyclic else []
    counted = sorted(Counter(others).items())
    return " × ".join(abelian + [_power(title, times) for title, times in counted])


def _dihedral_twice(title: str) -> str | None:
    """C2 × D2n is D4n for odd n."""
    order = 6 if title == "S3" else int(title[1:]) if title[1:].isdigit() else 0
    odd = title in ("S3", f"D{order}") and order // 2 % 2 == 1
    return f"D{2 * order}" if odd else None


def _power(title: str, times: int) -> str:
    wrapped = f"({title})" if " " in title else title
    return f"{wrapped}^{times}" if times > 1 else wrapped


def _factor_list(factors: tuple[str, ...]) -> str:
    counted = sorted(Counter(factors).items())
    return ", ".join(_power(title, times) for title, times in counted)
