"""The elements, images and groups of a machine, as far as a budget allows."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from math import factorial, log10

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.green import Green, green
from krohn.algebra.groups.naming import name
from krohn.algebra.groups.permutation_group import SMALL_ORDER, PermutationGroup
from krohn.algebra.groups.permutations import closure, is_even
from krohn.algebra.groups.series import composition_factors
from krohn.algebra.minimisation import reachable
from krohn.algebra.monoid import Enumeration, TransformationMonoid
from krohn.algebra.rows import firsts
from krohn.algebra.skeleton import Skeleton, skeleton

# Which groups a machine has, by name where that can be found out quickly.


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
    all_factors = [factors for _, factors in known.values()]
    return Content(
        tuple(
            Subgroup(s.name, s.order, s.degree, count)
            for s, count in sorted(counts.items(), key=lambda item: _size(item[0]))
        ),
        None
        if None in all_factors
        else tuple(sorted({f for factors in all_factors for f in factors or ()})),
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


# The elements and images of a machine, as far as a budget allows.


UNLISTED = 1
MOST_IMAGES = 50_000
MOST_IMAGE_ENTRIES = 100_000_000


@dataclass(frozen=True, eq=False)
class Findings:
    """The elements of the monoid and the images of the states, as far as they go.

    Attributes:
        machine: The machine.
        acting: A machine with the same monoid, on fewer states if one is known.
        elements: The elements found; all of them if there is no ``shortage``.
        shortage: Why not all elements are known; empty if they are.
        skeleton: The images, their classes and groups; None if there are too many.
        image_shortage: Why the images are not known; empty if they are.
    """

    machine: Semiautomaton
    acting: Semiautomaton
    elements: Enumeration
    shortage: str
    skeleton: Skeleton | None
    image_shortage: str

    @cached_property
    def monoid(self) -> TransformationMonoid | None:
        """The monoid, if all its elements are known."""
        if not self.elements.complete:
            return None
        return TransformationMonoid.of(self.elements)

    @cached_property
    def relations(self) -> Green | None:
        """Green's relations, if the monoid is known."""
        return None if self.monoid is None else green(self.monoid)


def find(machine: Semiautomaton | Automaton, budget: Budget) -> Findings:
    """Enumerate elements and images: each gets half of the work that is left.

    Of letters that act alike, the first one stands for all.
    """
    machine = _each_once(machine)
    if isinstance(machine, Automaton):
        acting, machine = _points(machine), machine.semiautomaton
    else:
        acting = machine
    elements, shortage = Enumeration(acting), ""
    limit = _for_elements(acting, budget)
    try:
        elements.run(limit)
    except BudgetExceeded as error:
        shortage = str(error)
        if limit.size > UNLISTED:
            budget.leave_out(f"not all elements were listed ({error})")
    try:
        images = skeleton(acting, _for_images(acting, budget))
    except BudgetExceeded as error:
        budget.leave_out(f"not all images were listed ({error})")
        return Findings(machine, acting, elements, shortage, None, str(error))
    return Findings(machine, acting, elements, shortage, images, "")


def _each_once(machine: Semiautomaton | Automaton) -> Semiautomaton | Automaton:
    """The machine with one of the letters that act alike; outputs do not matter."""
    kept, _ = firsts(machine.transitions)
    if len(kept) == len(machine.letters):
        return machine
    names = tuple(machine.letters[a] for a in kept.tolist())
    fewer = Semiautomaton(machine.transitions[kept], names, machine.states)
    if isinstance(machine, Semiautomaton):
        return fewer
    action = machine.action and tuple(machine.action[a] for a in kept.tolist())
    return replace(
        machine, semiautomaton=fewer, action=action, output=None, inputs=None
    )


def _points(machine: Automaton) -> Semiautomaton:
    """The machine's letters on its points, if that shows the same monoid.

    If words that agree on the points lead the start to one state, the maps of the
    states are determined by those of the points, as all states are reachable. If there
    are as many states as permutations of the points, then no two of these are equal.
    """
    if machine.action is None or len(reachable(machine).states) < len(machine.states):
        return machine.semiautomaton
    rows = np.array(machine.action)
    if (np.sort(rows, axis=1) != np.arange(rows.shape[1])).any():
        return machine.semiautomaton
    group = PermutationGroup(rows)
    if not tractable(group) or group.order != len(machine.states):
        return machine.semiautomaton
    if not _follow(machine, rows):
        return machine.semiautomaton  # a file may state any action
    points = tuple(f"point {i}" for i in range(rows.shape[1]))
    return Semiautomaton(rows, machine.letters, points)


def _follow(machine: Automaton, rows: IntArray) -> bool:
    """Whether all words that lead to one state agree on the points."""
    taken = {machine.start: np.arange(rows.shape[1])}
    letters = list(zip(machine.transitions.tolist(), rows, strict=True))
    queue = list(taken)
    for q in queue:
        for moves, row in letters:
            if moves[q] not in taken:
                taken[moves[q]] = row[taken[q]]
                queue.append(moves[q])
            elif (taken[moves[q]] != row[taken[q]]).any():
                return False
    return True


def _for_elements(machine: Semiautomaton, budget: Budget) -> Budget:
    size = budget.size
    if (np.sort(machine.transitions) == np.arange(len(machine.states))).all():
        # The number of elements of a group is known before they are.
        group = PermutationGroup(machine.transitions)
        if not tractable(group) or group.order > size:
            size = UNLISTED
    return budget.part(budget.left / 2, size)


def _for_images(machine: Semiautomaton, budget: Budget) -> Budget:
    # A level of images is made at once, with a row of states for each.
    rows = MOST_IMAGE_ENTRIES // machine.transitions.size
    size = min(MOST_IMAGES, max(rows, len(machine.states)))
    return budget.part(budget.left / 2, min(budget.size, size))
