"""Which groups divide which: quotients of subgroups."""

from math import lcm

import numpy as np

from algebra.budget import Budget, BudgetExceeded
from algebra.groups.abelian import invariant_factors, primary_parts
from algebra.groups.actions import smallest_action
from algebra.groups.decomposition import normal_subgroups
from algebra.groups.isomorphism import isomorphism
from algebra.groups.permutation_group import PermutationGroup
from algebra.groups.permutations import is_even
from algebra.groups.subgroups import subgroup_classes
from algebra.groups.table import GroupTable
from algebra.semiautomaton import IntArray

MOST_SUBGROUPS = 3_000


def divides(
    small: PermutationGroup, large: PermutationGroup, budget: Budget | None = None
) -> bool | None:
    """Whether the small group is a quotient of a subgroup of the large one.

    Necessary are: the order divides the order; quotients of subgroups of abelian or
    solvable groups are such, with a derived series that is no longer; and exponents
    divide. A group that acts faithfully on n points divides S_n, and A_n if it acts by
    even permutations. What these leave open is searched for in groups that have a
    multiplication table.

    Returns:
        None if it is not decided within the budget (3000 subgroups without one).
    """
    if _excluded(small, large):
        return False
    if small.is_trivial or small <= large or _inside_giant(small, large):
        return True
    if large.is_abelian:
        return _abelian_divides(small, large)
    if not large.is_small:
        return None
    try:
        return _search(small.table, large.table, budget or Budget(size=MOST_SUBGROUPS))
    except BudgetExceeded:
        return None


def _excluded(small: PermutationGroup, large: PermutationGroup) -> bool:
    if large.order % small.order or (large.is_abelian and not small.is_abelian):
        return True
    if large.is_solvable:
        return not small.is_solvable or len(small.derived_series()) > len(
            large.derived_series()
        )
    return large.is_small and bool(_exponent(large) % _exponent(small))


def _exponent(group: PermutationGroup) -> int:
    return lcm(*group.table.orders.tolist())


def _inside_giant(small: PermutationGroup, large: PermutationGroup) -> bool:
    if not large.is_giant:
        return False
    images = smallest_action(small).images
    odd_too = not is_even(large.generators).all()
    fits = images.shape[1] <= large.degree and (odd_too or is_even(images).all())
    # Two more points turn an odd permutation into an even one.
    return bool(fits or images.shape[1] + 2 <= large.degree)


def _abelian_divides(small: PermutationGroup, large: PermutationGroup) -> bool:
    """Invariant factors, largest first, must divide each other."""
    below = invariant_factors(primary_parts(small))[::-1]
    above = invariant_factors(primary_parts(large))[::-1]
    return len(below) <= len(above) and all(
        b % a == 0 for a, b in zip(below, above, strict=False)
    )


def _search(small: GroupTable, large: GroupTable, budget: Budget) -> bool:
    for subgroup in subgroup_classes(large, budget):
        if len(subgroup) % small.order == 0:
            table = large.restricted(subgroup)
            if _maps_onto(table, small, budget):
                return True
    return False


def _maps_onto(large: GroupTable, small: GroupTable, budget: Budget) -> bool:
    index = large.order // small.order
    kernels: tuple[IntArray, ...] = (np.zeros(1, dtype=np.int64),)
    if index > 1:
        kernels = normal_subgroups(large, budget)
    return any(
        isomorphism(small, large.quotient(kernel)[0]) is not None
        for kernel in kernels
        if len(kernel) == index
    )
