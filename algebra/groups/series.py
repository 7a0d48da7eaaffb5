"""Composition series of permutation groups, and the names of the simple factors."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import count
from math import gcd, prod

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray
from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.graphs import weak_components
from krohn.algebra.groups import abelian as decomposition
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.groups.permutations import (
    conjugate,
    cycle_lengths,
    factorise,
    inverse,
    is_prime,
    orbits,
    orders,
    power,
    powers,
    product,
)
from krohn.algebra.groups.stabiliser_chain import StabiliserChain, random_elements

# Names of finite simple groups.
#
# By the classification, a simple group is determined by its order, but for A8 and
# PSL(3, 4), and for the two families Ω(2n+1, q) and PSp(2n, q) with n ≥ 3 and odd q, of
# which the smallest has order 4,585,351,680 (Artin; Kimmerle, Lyons, Sandling, Teague).


LARGEST_LISTED = 10**10
_SPORADIC = {
    7_920: "M11",
    95_040: "M12",
    175_560: "J1",
    443_520: "M22",
    604_800: "J2",
    10_200_960: "M23",
    17_971_200: "²F4(2)'",
    44_352_000: "HS",
    50_232_960: "J3",
    244_823_040: "M24",
    898_128_000: "McL",
    4_030_387_200: "He",
}
_AMBIGUOUS = (20_160, 4_585_351_680)


def simple_name(order: int, has_order_15: bool | None = None) -> str:
    """The name of the simple group of this order.

    Args:
        order: The order of a group that is known to be simple.
        has_order_15: Whether it has an element of order 15; that tells A8, which has
            one, from PSL(3, 4), which has none. None if unknown.

    Returns:
        A proper name, or ``"simple group of order …"`` where the order does not decide
        it or the group is in none of the families listed here.
    """
    if is_prime(order):
        return f"C{order}"
    if order == 20_160 and has_order_15 is not None:
        return "A8" if has_order_15 else "PSL(3,4)"
    unnamed = f"simple group of order {order}"
    if order in _AMBIGUOUS:
        return unnamed
    return _alternating(order) or _names_by_order().get(order, unnamed)


def _alternating(order: int) -> str | None:
    total = 1
    for n in count(2):
        total *= n
        if total >= 2 * order:
            return f"A{n}" if total == 2 * order and n >= 5 else None
    return None


@lru_cache(maxsize=1)
def _names_by_order() -> dict[int, str]:
    """Orders up to a limit of simple groups of Lie type of small rank, and sporadic."""
    names = dict(_SPORADIC)
    for order, name in _lie_type():
        names.setdefault(order, name)
    return names


def _linear(n: int, sign: int, q: int) -> int:
    """The order of PSL(n, q), or for sign −1 of PSU(n, q)."""
    factors = prod(q**i - sign**i for i in range(2, n + 1))
    order: int = q ** (n * (n - 1) // 2) * factors // gcd(n, q - sign)
    return order


def _symplectic(q: int) -> int:
    return q**4 * (q**2 - 1) * (q**4 - 1) // gcd(2, q - 1)


def _suzuki(q: int) -> int:
    return q**2 * (q**2 + 1) * (q - 1)


_FAMILIES: tuple[tuple[str, int, Callable[[int], int]], ...] = (
    ("PSL(2,{})", 4, partial(_linear, 2, 1)),
    ("PSL(3,{})", 2, partial(_linear, 3, 1)),
    ("PSU(3,{})", 3, partial(_linear, 3, -1)),
    ("PSp(4,{})", 3, _symplectic),
    ("PSL(4,{})", 2, partial(_linear, 4, 1)),
    ("PSU(4,{})", 2, partial(_linear, 4, -1)),
    ("Sz({})", 8, _suzuki),
)
"""Families of groups over a field of q elements: name, least q, and order."""


def _lie_type() -> Iterator[tuple[int, str]]:
    for title, least, order in _FAMILIES:
        for q in (q for q in count(least) if len(factorise(q)) == 1):
            # Orders grow with q, so that the first too large one ends a family.
            if order(q) > LARGEST_LISTED:
                break
            if order is not _suzuki or (q % 2 == 0 and q.bit_length() % 2 == 0):
                yield order(q), title.format(q)


# Homomorphisms from a permutation group onto another, with kernels and preimages.


@dataclass(frozen=True, eq=False)
class Homomorphism:
    """An action of a group on further points.

    Attributes:
        group: The group, with k generators on n points.
        images: ``(k, d)``: the image of each further point under each generator. That
            this extends to a homomorphism is not checked.
    """

    group: PermutationGroup
    images: IntArray

    @cached_property
    def image(self) -> PermutationGroup:
        """The group on the further points."""
        return PermutationGroup(self.images)

    @cached_property
    def kernel(self) -> PermutationGroup:
        """The subgroup that moves none of the further points."""
        rows = self._chain.stabiliser(self._depth)
        return self.group.subgroup(rows[:, self._points :] - self._points)

    def preimage(self, subgroup: PermutationGroup) -> PermutationGroup:
        """All elements that act as elements of a subgroup of the image."""
        lifted = self.lift(subgroup.generators)
        return self.kernel.generated_with(lifted) if len(lifted) else self.kernel

    def lift(self, rows: npt.ArrayLike) -> IntArray:
        """For elements ``(m, d)`` of the image, elements ``(m, n)`` that act so."""
        table = np.asarray(rows, dtype=np.int64).reshape(-1, self._points)
        rest = np.arange(self._points, self._chain.degree)
        wide = np.concatenate([table, np.tile(rest, (len(table), 1))], axis=1)
        left, _ = self._chain.sift(wide, bottom=self._depth)
        lifted = product(inverse(left), wide)
        return lifted[:, self._points :] - self._points

    @property
    def _points(self) -> int:
        return int(self.images.shape[1])

    @property
    def _depth(self) -> int:
        return len(self.image.base)

    @cached_property
    def _chain(self) -> StabiliserChain:
        """Of the action on all points at once, the further ones first in the base."""
        rows = np.concatenate(
            [self.images, self.group.generators + self._points], axis=1
        )
        chain = StabiliserChain(rows.shape[1], self.image.base)
        chain.extend(rows)
        return chain


def action_on_orbit(group: PermutationGroup, orbit: npt.ArrayLike) -> Homomorphism:
    """The action of a group on one of its orbits (or a union of orbits)."""
    points = np.asarray(orbit, dtype=np.int64)
    place = np.zeros(group.degree, dtype=np.int64)
    place[points] = np.arange(len(points))
    return Homomorphism(group, place[group.generators[:, points]])


def action_on_blocks(group: PermutationGroup, label: IntArray) -> Homomorphism:
    """How a group permutes the blocks of a system, given by the label of each point."""
    _, first = np.unique(label, return_index=True)
    return Homomorphism(group, label[group.generators[:, first]])


def action_on_elements(group: PermutationGroup, rows: IntArray) -> Homomorphism:
    """How a group permutes some of its elements ``(m, n)`` by conjugation."""
    place = {row.tobytes(): i for i, row in enumerate(rows)}
    back = inverse(group.generators)
    moved = [g[rows[:, b]] for g, b in zip(group.generators, back, strict=True)]
    images = [[place[row.tobytes()] for row in every] for every in moved]
    return Homomorphism(group, np.array(images, dtype=np.int64).reshape(-1, len(rows)))


def action_on_cosets(
    group: PermutationGroup, subgroup: PermutationGroup
) -> Homomorphism:
    """How a group permutes the right cosets of a subgroup, which is coset 0.

    A coset Hx goes to Hxg. The index decides the cost: each new element is compared
    with all representatives so far.
    """
    chosen = [np.arange(group.degree)]
    images: list[list[int]] = []
    for representative in chosen:
        row = []
        for generator in group.generators:
            after = generator[representative]
            # Hx = Hy means that x·y⁻¹ lies in H.
            same = subgroup.contains(inverse(np.array(chosen))[:, after])
            if not same.any():
                chosen.append(after)
            row.append(int(same.argmax()) if same.any() else len(chosen) - 1)
        images.append(row)
    return Homomorphism(group, np.array(images, dtype=np.int64).T.copy())


# Composition factors, maximal normal subgroups and normal subgroups.


MOST_CONJUGATED = 4_096
MOST_COSETS = 3_000
MOST_LISTED = 200_000
MOST_ENTRIES = 20_000_000
_TRIES = 500


def composition_factors(group: PermutationGroup) -> tuple[str, ...]:
    """The names of the simple quotients of a composition series, from the top.

    Raises:
        BudgetExceeded: If a large primitive factor is not among the groups that
            are recognised here.
    """
    if group.is_trivial:
        return ()
    derived = group.derived_subgroup()
    if derived.order < group.order:
        primes = factorise(group.order // derived.order).items()
        abelian = [f"C{p}" for p, times in primes for _ in range(times)]
        return (*abelian, *composition_factors(derived))
    if not group.is_small and (giants := group.giants.orbits):
        simple = [f"A{len(orbit)}" for orbit in giants]
        return (*simple, *composition_factors(group.beside_giants))
    after = maximal_normal_subgroup(group)
    return (_factor_name(group, after), *composition_factors(after))


def normal_subgroups(
    group: PermutationGroup, budget: Budget | None = None
) -> tuple[PermutationGroup, ...]:
    """All normal subgroups, by order.

    Raises:
        BudgetExceeded: If the group has more than 2048 elements or more normal
            subgroups than the budget allows (400 without one).
    """
    subgroups = decomposition.normal_subgroups(group.table, budget)
    return tuple(_from_table(group, elements) for elements in subgroups)


def maximal_normal_subgroup(group: PermutationGroup) -> PermutationGroup:
    """A normal subgroup whose quotient is simple; the group must not be trivial.

    Raises:
        BudgetExceeded: As `composition_factors`.
    """
    if group.is_small:
        return _from_table(group, group.table.maximal_normal())
    derived = group.derived_subgroup()
    if derived.order < group.order:
        return _of_prime_index(group, derived)
    if group.giants.orbits:
        # The perfect group is the product of one giant and its pointwise stabiliser.
        return group.subgroup(group.giants.without_first(group.generators))
    action = _smaller_image(group)
    if action is not None:
        return action.preimage(maximal_normal_subgroup(action.image))
    return PermutationGroup.trivial(group.degree)


def _from_table(group: PermutationGroup, elements: IntArray) -> PermutationGroup:
    chosen = group.table.small_generators(elements)
    return group.subgroup(group.elements()[chosen])


def _of_prime_index(
    group: PermutationGroup, derived: PermutationGroup
) -> PermutationGroup:
    """Every subgroup over the derived one is normal, and the quotient abelian."""
    prime = min(factorise(group.order // derived.order))
    rows = powers(group.generators, prime)
    subgroup = derived.generated_with(rows)
    for row in group.generators:
        grown = subgroup.generated_with(row[None])
        if grown.order < group.order:
            subgroup = grown
    return subgroup


def _smaller_image(group: PermutationGroup) -> Homomorphism | None:
    """A homomorphism onto a smaller group; None if a perfect group is simple."""
    moved = [orbit for orbit in group.orbits if len(orbit) > 1]
    if len(moved) > 1 or len(moved[0]) < group.degree:
        return action_on_orbit(group, moved[0])
    blocks = next(block_systems(group), None)
    if blocks is not None:
        return action_on_blocks(group, blocks)
    return _smaller_image_of_primitive(group)


def _smaller_image_of_primitive(group: PermutationGroup) -> Homomorphism | None:
    """A homomorphism from a primitive group onto a smaller one; None if it is simple.

    A normal subgroup N ≠ 1 of a primitive group is transitive, so that it contains an
    element of order p, for a prime p that divides the degree, and all its conjugates.
    If p divides the order once, all elements of order p generate the same normal
    subgroup, which lies in every N.
    """
    for rows in _candidates(group):
        closure = group.normal_closure(rows)
        if closure.order < group.order:
            return _modulo(group, closure)
    return None


def _candidates(group: PermutationGroup) -> Iterator[IntArray]:
    """Elements such that a normal subgroup other than 1 contains one of them."""
    once = [p for p in factorise(group.degree) if group.order // p % p]
    if once:
        yield _element_of_order(group, max(once))
        return
    prime = max(factorise(group.degree))
    elements = group.elements(MOST_ENTRIES // group.degree)
    left = elements[orders(elements) == prime]
    while len(left):
        yield left[:1]
        inside = {row.tobytes() for row in _conjugacy_class(group, left[0])}
        left = left[[row.tobytes() not in inside for row in left]]


def _element_of_order(group: PermutationGroup, prime: int) -> IntArray:
    for row in random_elements(group.generators, _TRIES):
        size = int(np.lcm.reduce(cycle_lengths(row[None])[0]))
        if size % prime == 0:
            return power(row, size // prime)[None]
    raise BudgetExceeded(f"no element of order {prime} among {_TRIES} random ones", 0)


def _conjugacy_class(group: PermutationGroup, row: IntArray) -> IntArray:
    known, layers = {row.tobytes()}, [row[None]]
    frontier = layers[0]
    while len(frontier):
        after = conjugate(frontier[:, None], group.generators[None])
        fresh = {r.tobytes(): r for r in after.reshape(-1, group.degree)}
        new = [r for key, r in fresh.items() if key not in known]
        known |= fresh.keys()
        frontier = np.array(new, dtype=np.int64).reshape(-1, group.degree)
        layers.append(frontier)
    return np.concatenate(layers)


def _modulo(group: PermutationGroup, normal: PermutationGroup) -> Homomorphism:
    """A homomorphism with a non-trivial kernel and image, for a normal subgroup."""
    if group.order // normal.order <= MOST_COSETS:
        return action_on_cosets(group, normal)
    if normal.order <= MOST_CONJUGATED and normal.is_abelian:
        return action_on_elements(group, normal.elements())
    raise BudgetExceeded(
        f"a primitive group of order {group.order:,} is too large to be taken apart",
        normal.order,
    )


def _factor_name(group: PermutationGroup, normal: PermutationGroup) -> str:
    order = group.order // normal.order
    if order != 20_160:
        return simple_name(order)
    # A8 has elements of order 15, and PSL(3,4) has none.
    listed = group.order <= MOST_LISTED
    rows = group.elements() if listed else group.random(_TRIES)
    outside = [~normal.contains(powers(rows, e)) for e in (3, 5)]
    has_order_15 = bool(
        (normal.contains(powers(rows, 15)) & outside[0] & outside[1]).any()
    )
    return simple_name(
        order, has_order_15=has_order_15 if has_order_15 or listed else None
    )


def block_systems(group: PermutationGroup) -> Iterator[IntArray]:
    """Non-trivial block systems of a transitive group, all minimal ones among them.

    Atkinson's algorithm: a minimal system is generated by joining the first point with
    one other point of the block, taken from each orbit of the first point's stabiliser.

    Yields:
        The label of each point's block, ``(n,)``, numbered from 0 in order of first
        points. Nothing at all says that the group is primitive.
    """
    for orbit in orbits(point_stabiliser(group, 0)):
        if orbit[0] != 0:
            label = block_system(group, 0, orbit[0])
            if label.max() > 0:
                yield label


def block_system(group: PermutationGroup, first: int, second: int) -> IntArray:
    """The finest partition that the group respects with two points together, ``(n,)``."""
    points = np.arange(group.degree)
    label = points.copy()
    label[second] = first
    while True:
        # Whatever lies with its block's representative must do so after each generator.
        left = np.concatenate([points, group.generators.ravel()])
        right = np.concatenate([label, group.generators[:, label].ravel()])
        part = weak_components(len(points), left, right)
        _, least, finer = np.unique(part, return_index=True, return_inverse=True)
        after = least[finer.reshape(-1)]
        if np.array_equal(after, label):
            return np.unique(label, return_inverse=True)[1].reshape(-1)
        label = after


def point_stabiliser(group: PermutationGroup, point: int) -> IntArray:
    """Generators ``(k, n)`` of the subgroup that fixes a point."""
    chain = StabiliserChain(group.degree, [point])
    chain.extend(group.generators)
    return chain.stabiliser(1)
