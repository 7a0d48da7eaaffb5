"""The elements and images of a machine, as far as a budget allows."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.classification.group_names import tractable
from krohn.algebra.froidure_pin import Enumeration
from krohn.algebra.green import Green, green
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.minimisation import reachable
from krohn.algebra.monoid import TransformationMonoid
from krohn.algebra.rows import firsts
from krohn.algebra.semiautomaton import Semiautomaton
from krohn.algebra.skeleton import Skeleton, skeleton

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
    points = tuple(f"point {i}" for i in range(rows.shape[1]))
    return Semiautomaton(rows, machine.letters, points)


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
