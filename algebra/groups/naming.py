"""Names of groups: families that are known by name, and proofs that a group is one."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import chain, product as tuples
from math import factorial, prod

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.algebra.budget import BudgetExceeded
from krohn.algebra.groups.abelian import (
    abelian_name,
    direct_factors,
    primary_parts,
    primary_parts_of_table,
)
from krohn.algebra.groups.extension import isomorphism
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.groups.permutations import GroupTable, factorise, is_prime
from krohn.algebra.groups.series import composition_factors, simple_name

# Groups of known names, as permutations.


Matrix = tuple[tuple[int, ...], ...]


def cyclic(n: int) -> PermutationGroup:
    """The rotations of n points."""
    return PermutationGroup(np.roll(np.arange(n), -1)[None])


def dihedral(order: int) -> PermutationGroup:
    """The symmetries of a polygon with ``order / 2`` corners, from 3 corners on."""
    corner = np.arange(order // 2)
    return PermutationGroup(np.stack([np.roll(corner, -1), -corner % len(corner)]))


def quaternion() -> PermutationGroup:
    """Q8 acting on itself."""
    return matrix_group(3, (((0, 1), (2, 0)), ((1, 1), (1, 2))))


def direct_product(*factors: PermutationGroup) -> PermutationGroup:
    """The factors side by side on disjoint points."""
    degree = sum(factor.degree for factor in factors)
    rows, offset = [np.empty((0, degree), dtype=np.int64)], 0
    for factor in factors:
        rows.append(embed(factor.generators, offset, degree))
        offset += factor.degree
    return PermutationGroup(np.concatenate(rows))


def embed(rows: IntArray, offset: int, degree: int) -> IntArray:
    """Rows that act on the points from ``offset`` on and fix all others."""
    wide = np.tile(np.arange(degree), (len(rows), 1))
    wide[:, offset : offset + rows.shape[1]] = rows + offset
    return wide


def wreath_product(
    lower: PermutationGroup, upper: PermutationGroup
) -> PermutationGroup:
    """``lower ≀ upper``: a copy of the lower group for each point of the upper.

    The upper group permutes the copies as it permutes its own points (the permutational
    wreath product, erratum E39); the point (copy i, x) has number ``i · degree + x``.
    """
    n, m = lower.degree, upper.degree
    copies = [embed(lower.generators, i * n, n * m) for i in range(m)]
    moved = upper.generators[:, :, None] * n + np.arange(n)
    rows = [*copies, moved.reshape(-1, n * m)]
    return PermutationGroup(np.concatenate(rows))


def matrix_group(p: int, matrices: tuple[Matrix, ...]) -> PermutationGroup:
    """Matrices modulo a prime, acting on the non-zero row vectors from the right."""
    vectors = _vectors(p, len(matrices[0]))[1:]
    return PermutationGroup(_images(vectors, p, matrices))


def affine_group(p: int, matrices: tuple[Matrix, ...]) -> PermutationGroup:
    """All translations of a space modulo a prime, and some matrices, on its vectors."""
    vectors = _vectors(p, len(matrices[0]))
    shifts = [
        _index((vectors + unit) % p, p) for unit in np.eye(len(vectors[0]), dtype=int)
    ]
    return PermutationGroup(np.concatenate([shifts, _images(vectors, p, matrices)]))


def projective_group(q: int, special: bool) -> PermutationGroup:
    """PGL(2, q), or PSL(2, q), for a prime q, on the q + 1 points of the line."""
    x = np.arange(q)
    infinity = np.array([q])
    root = next(r for r in range(1, q) if _generates(r, q))
    scale = root * root % q if special else root
    inverse = np.array([pow(int(y), -1, q) if y else q for y in x])
    turned = np.where(inverse < q, -inverse % q, q)
    return PermutationGroup(
        np.stack(
            [
                np.append((x + 1) % q, infinity),
                np.append(x * scale % q, infinity),
                np.append(turned, [0]),
            ]
        )
    )


def _generates(root: int, q: int) -> bool:
    return len({pow(root, e, q) for e in range(q - 1)}) == q - 1


def _vectors(p: int, dimension: int) -> IntArray:
    return np.array(list(tuples(range(p), repeat=dimension)), dtype=np.int64)


def _index(vectors: IntArray, p: int) -> IntArray:
    weights = p ** np.arange(vectors.shape[1])[::-1]
    return np.asarray(vectors @ weights)


def _images(vectors: IntArray, p: int, matrices: tuple[Matrix, ...]) -> IntArray:
    first = _index(vectors, p)[0]
    rows = [_index(vectors @ np.array(m) % p, p) - first for m in matrices]
    return np.array(rows, dtype=np.int64)


_Build = Callable[[], PermutationGroup]
_TRANSVECTIONS: tuple[Matrix, ...] = (((1, 1), (0, 1)), ((1, 0), (1, 1)))
_ODD: Matrix = ((2, 0), (0, 1))


@lru_cache(maxsize=1)
def _single_groups() -> dict[str, tuple[int, _Build]]:
    def pauli() -> PermutationGroup:
        # i, and the quaternions modulo 5, where 2 is a square root of -1.
        return matrix_group(5, (((2, 0), (0, 2)), ((0, 1), (4, 0)), ((2, 0), (0, 3))))

    def exchange_group() -> PermutationGroup:
        # A 4-cycle that exchanges two commuting transpositions on other points.
        rows = [[1, 2, 3, 0, 6, 7, 4, 5], [0, 1, 2, 3, 5, 4, 6, 7]]
        return PermutationGroup(np.array(rows))

    def heisenberg() -> PermutationGroup:
        upper = (((1, 1, 0), (0, 1, 0), (0, 0, 1)), ((1, 0, 0), (0, 1, 1), (0, 0, 1)))
        return matrix_group(3, upper)

    return {
        "C4 ∘ D8": (16, pauli),
        "C2^2 ⋊ C4": (16, exchange_group),
        "SL(2,3)": (24, lambda: matrix_group(3, _TRANSVECTIONS)),
        "He3": (27, heisenberg),
        "GL(2,3)": (48, lambda: matrix_group(3, (*_TRANSVECTIONS, _ODD))),
        "SL(2,5)": (120, lambda: matrix_group(5, _TRANSVECTIONS)),
        "ASL(2,3)": (216, lambda: affine_group(3, _TRANSVECTIONS)),
        "SL(2,7)": (336, lambda: matrix_group(7, _TRANSVECTIONS)),
        "PGL(2,7)": (336, lambda: projective_group(7, special=False)),
        "AGL(2,3)": (432, lambda: affine_group(3, (*_TRANSVECTIONS, _ODD))),
        "GL(2,5)": (480, lambda: matrix_group(5, (*_TRANSVECTIONS, _ODD))),
        "PGL(2,11)": (1320, lambda: projective_group(11, special=False)),
    }


@lru_cache(maxsize=1)
def _wreath_parts() -> dict[str, tuple[int, int, _Build]]:
    """Order, degree and group of the factors of wreath products."""

    def klein() -> PermutationGroup:
        return PermutationGroup(np.array([[1, 0, 3, 2], [2, 3, 0, 1]]))

    symmetric, alternating = PermutationGroup.symmetric, PermutationGroup.alternating
    parts: dict[str, tuple[int, int, _Build]] = {
        f"C{n}": (n, n, partial(cyclic, n)) for n in range(2, 8)
    }
    parts["C2^2"] = (4, 4, klein)
    for n in range(3, 6):
        parts[f"S{n}"] = factorial(n), n, partial(symmetric, n)
    for n in range(4, 6):
        parts[f"A{n}"] = factorial(n) // 2, n, partial(alternating, n)
    # The corners of a square are two pairs; wreath products are associative.
    parts["C2 ≀ C2"] = 8, 4, partial(dihedral, 8)
    return parts


@lru_cache(maxsize=64)
def known_groups(order: int) -> tuple[tuple[str, PermutationGroup], ...]:
    """Named groups of an order, the more usual names first.

    The symmetric groups; some matrix groups; and wreath products of small groups in
    their natural actions (C2^2 on 4 points), regular for cyclic groups.
    """
    return tuple(_known_groups(order))


def _known_groups(order: int) -> Iterator[tuple[str, PermutationGroup]]:
    for n in range(3, 13):
        if factorial(n) == order:
            yield f"S{n}", PermutationGroup.symmetric(n)
    for name, (size, build) in _single_groups().items():
        if size == order:
            yield name, build()
    for lower, (size, _, build_lower) in _wreath_parts().items():
        for upper, (top, degree, build_upper) in _wreath_parts().items():
            if size**degree * top == order:
                yield f"{lower} ≀ {upper}", wreath_product(build_lower(), build_upper())


# Names of groups that are proofs: the same proper name, isomorphic groups.
#
# A name is proper if it determines the group: ``C6``, ``C2^2``, ``C2 × C4``
# (invariant factors of abelian groups), ``D8`` (dihedral *of order* 8, as in the zoo
# and the thesis), ``Q8``, ``Q16``, ``Dic3`` (dicyclic of order 12), ``SD16``, ``A4``,
# ``S4``, the simple groups, the groups of `krohn.algebra.groups.naming`, and direct
# products of these.
#
# ``C7 ⋊ C3`` or ``C2^4 ⋊ C5`` stands for a cyclic group that acts faithfully and
# irreducibly on an elementary abelian one. All such subgroups of one order of GL(k, p)
# are conjugate (they are the powers of Singer cycles), so that this determines the
# group. ``C3 ⋊_2 C8`` has generators a, b with b⁻¹ab = a²; in ``Dih(C3^2)`` an
# involution inverts the abelian group in brackets. Everything else is called ``order 32
# (C2^5)``, with its composition factors, which claims nothing more.


_Factors = tuple[list[int], list[str]]


def name(group: PermutationGroup) -> str:
    """The name of the group; the module says what the names mean."""
    return _cached_name(group.degree, group.generators.tobytes())


@lru_cache(maxsize=1024)
def _cached_name(degree: int, data: bytes) -> str:
    # The same few small groups are named again and again.
    rows = np.frombuffer(data, dtype=np.int64).reshape(-1, degree)
    group = PermutationGroup(rows)
    factors = _named_factors(group)
    return _product_name(*factors) if factors else _by_factors(group)


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
        part_factors = [_named_factors(part) for part in parts]
        named = [factors for factors in part_factors if factors is not None]
        if len(named) < len(part_factors):
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
    factors = direct_factors(table)
    names = [_indecomposable_name(other) for other in factors.others]
    named = [title for title in names if title is not None]
    return None if len(named) < len(names) else (list(factors.cyclic), named)


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
    choices = [
        choice
        for members in table.classes[1:]
        if (choice := _split_by_cycle(table, int(members[0]))) is not None
    ]
    if not choices:
        return None
    size, least = max(choices, key=lambda choice: (choice[0], -choice[1]))
    return f"C{size} ⋊_{least} C{table.order // size}"


def _split_by_cycle(table: GroupTable, a: int) -> tuple[int, int] | None:
    """The order of a and the least r, if ⟨a⟩ is normal with a cyclic complement."""
    powers = _cycle(table, a)
    cycle = np.array(powers)
    if not table.is_normal(cycle):
        return None
    above = table.order // len(powers)
    place = {element: exponent for exponent, element in enumerate(powers)}
    exponents = [
        place[_conjugate(table, a, b)]
        for b in np.flatnonzero(table.orders == above).tolist()
        if not np.isin(_cycle(table, b)[1:], cycle).any()
    ]
    return (len(powers), min(exponents)) if exponents else None


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
