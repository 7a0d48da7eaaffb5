"""Which groups a machine has, by name where that can be found out quickly."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import factorial, log10

from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.groups.closure import closure
from krohn.algebra.groups.naming import name
from krohn.algebra.groups.permutation_group import SMALL_ORDER, PermutationGroup
from krohn.algebra.groups.permutations import is_even
from krohn.algebra.groups.series import composition_factors

DESCRIBING = 400  # array operations that find the order and the name of a group
# Groups beyond these take seconds to name, and minutes on hundreds of points.
MOST_POINTS_NAMED = 10
MOST_POINTS_LISTED = 200
MOST_POINTS_ORDERED = 50
MOST_GENERATORS_COMPARED = 100
LARGEST_COUNT = 10**100
_LARGEST_EXACT = 10**15


@dataclass(frozen=True)
class Subgroup:
    """A group that the machine contains.

    Attributes:
        name: What it is called; ``"1"`` if it is trivial, "order …" or "a group on …
            states" if it is too large to be named quickly.
        order: The number of its elements; None if it is too large to be counted, or
            to be written.
        degree: The number of states that it permutes.
        count: How many D-classes of the monoid have it, or classes of images.
    """

    name: str
    order: int | None
    degree: int
    count: int


@dataclass(frozen=True)
class Content:
    """The groups of a machine.

    Attributes:
        subgroups: The groups, large ones first.
        factors: The composition factors that occur in them; None if some group is too
            large to be taken apart quickly.
    """

    subgroups: tuple[Subgroup, ...]
    factors: tuple[str, ...] | None


def content(groups: Iterable[PermutationGroup], budget: Budget) -> Content:
    """The groups with their names, each kind once.

    Raises:
        BudgetExceeded: If no step remains.
    """
    known: dict[tuple[int, bytes], tuple[Subgroup, tuple[str, ...] | None]] = {}
    counts: Counter[Subgroup] = Counter()
    for group in groups:
        key = group.degree, group.generators.tobytes()
        if key not in known:
            budget.check(len(known), "different groups")
            budget.spend(group.generators.size * group.degree, DESCRIBING)
            known[key] = _describe(group)
        counts[known[key][0]] += 1
    found = [factors for _, factors in known.values()]
    return Content(
        tuple(
            Subgroup(s.name, s.order, s.degree, count)
            for s, count in sorted(counts.items(), key=lambda item: _size(item[0]))
        ),
        None
        if None in found
        else tuple(sorted({f for factors in found for f in factors or ()})),
    )


def tractable(group: PermutationGroup) -> bool:
    """Whether questions about the group are answered within about a second."""
    small = group.degree <= MOST_POINTS_ORDERED
    return small or group.is_giant or is_listed(group)


def is_listed(group: PermutationGroup) -> bool:
    """Whether the group has few elements."""
    try:
        closure(group.generators, SMALL_ORDER)
    except BudgetExceeded:
        return False
    return True


def name_or_size(group: PermutationGroup) -> str:
    """The group's name, or its order if it has no short name."""
    if group.degree > 4 and _holds_even(group):
        return f"{'A' if is_even(group.generators).all() else 'S'}{group.degree}"
    if _nameable(group):
        return name(group)
    if tractable(group):
        return f"order {amount(group.order)}"
    return f"a group on {group.degree} states"


def amount(number: int) -> str:
    """A number for people: all digits, or how many digits."""
    if number < _LARGEST_EXACT:
        return f"{number:,}"
    return f"about 10^{round(log10(number))}"


def writable(number: int) -> int | None:
    """A number that can be written down, None if it is too large for that."""
    return number if number < LARGEST_COUNT else None


def _describe(group: PermutationGroup) -> tuple[Subgroup, tuple[str, ...] | None]:
    order = writable(group.order) if tractable(group) else None
    return Subgroup(name_or_size(group), order, group.degree, 1), _factors(group)


def _factors(group: PermutationGroup) -> tuple[str, ...] | None:
    if group.degree > 4 and _holds_even(group):
        simple = f"A{group.degree}"
        return (simple,) if is_even(group.generators).all() else (simple, "C2")
    return composition_factors(group) if _nameable(group) else None


def _holds_even(group: PermutationGroup) -> bool:
    """Whether all even permutations are in it."""
    small = group.degree <= MOST_POINTS_NAMED
    return group.is_giant or (small and 2 * group.order >= factorial(group.degree))


def _nameable(group: PermutationGroup) -> bool:
    if group.degree <= MOST_POINTS_NAMED:
        return True
    if len(group.generators) <= MOST_GENERATORS_COMPARED and group.is_abelian:
        return True
    return group.degree <= MOST_POINTS_LISTED and is_listed(group)


def _size(group: Subgroup) -> tuple[float, int, str]:
    order = float("inf") if group.order is None else group.order
    return -order, -group.degree, group.name
