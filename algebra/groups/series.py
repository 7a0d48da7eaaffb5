"""Composition factors, maximal normal subgroups and normal subgroups."""

from collections.abc import Iterator

import numpy as np

from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.graphs import weak_components
from krohn.algebra.groups import decomposition
from krohn.algebra.groups.giants import random_elements
from krohn.algebra.groups.homomorphism import (
    Homomorphism,
    action_on_blocks,
    action_on_cosets,
    action_on_elements,
    action_on_orbit,
)
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.groups.permutations import (
    conjugate,
    cycle_lengths,
    orbits,
    orders,
    power,
    powers,
)
from krohn.algebra.groups.simple import simple_name
from krohn.algebra.groups.stabiliser_chain import StabiliserChain
from krohn.algebra.primes import factorise
from krohn.algebra.semiautomaton import IntArray

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
    found = decomposition.normal_subgroups(group.table, budget)
    return tuple(_from_table(group, elements) for elements in found)


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
    found = derived.generated_with(rows)
    for row in group.generators:
        grown = found.generated_with(row[None])
        if grown.order < group.order:
            found = grown
    return found


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
    known, found = {row.tobytes()}, [row[None]]
    frontier = found[0]
    while len(frontier):
        after = conjugate(frontier[:, None], group.generators[None])
        fresh = {r.tobytes(): r for r in after.reshape(-1, group.degree)}
        new = [r for key, r in fresh.items() if key not in known]
        known |= fresh.keys()
        frontier = np.array(new, dtype=np.int64).reshape(-1, group.degree)
        found.append(frontier)
    return np.concatenate(found)


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
    found = bool((normal.contains(powers(rows, 15)) & outside[0] & outside[1]).any())
    return simple_name(order, has_order_15=found if found or listed else None)


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
