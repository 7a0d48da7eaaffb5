"""The classes of the theory that a machine belongs to, with evidence to check."""

from dataclasses import dataclass

import numpy as np

from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.budget import NORMAL, Budget, BudgetExceeded
from krohn.algebra.classification import digraph, elements, properties as letters
from krohn.algebra.classification.digraph import definite, generalised_definite
from krohn.algebra.classification.findings import (
    Content,
    Findings,
    Subgroup,
    content,
    find,
    tractable,
)
from krohn.algebra.classification.properties import Property, synchronising
from krohn.algebra.errors import MachineError
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.monoid import TransformationMonoid

__all__ = ["Classification", "Property", "Subgroup", "classify"]


MOST_ELEMENTS = 200_000


@dataclass(frozen=True)
class Classification:
    """The classes of the theory that a machine belongs to, with its groups.

    Attributes:
        properties: The properties that were tested, in a fixed order.
        size: The number of elements of S¹, the identity among them; None if unknown.
        semigroup_size: The number of elements of T(A); None if unknown.
        at_least: A lower bound of ``size``: the elements found.
        subgroups: The groups, largest first: the maximal subgroups of the monoid if it
            was enumerated, else the groups of its image classes, of which each maximal
            subgroup is one; None if neither is known.
        factors: The simple groups that are composition factors of these; None likewise.
        cut: The parts left out because the budget was spent, a sentence each.
    """

    properties: tuple[Property, ...]
    size: int | None
    semigroup_size: int | None
    at_least: int
    subgroups: tuple[Subgroup, ...] | None
    factors: tuple[str, ...] | None
    cut: tuple[str, ...]

    def __getitem__(self, wanted: str) -> Property:
        """The property of this name.

        Raises:
            MachineError: If there is none.
        """
        for known in self.properties:
            if known.name == wanted:
                return known
        names = ", ".join(known.name for known in self.properties)
        raise MachineError(f"there is no property {wanted!r}; there are {names}")


def classify(
    machine: Semiautomaton | Automaton | Findings, budget: Budget | None = None
) -> Classification:
    """Which classes of the theory a machine belongs to, each with evidence.

    All states count, reachable or not; take `krohn.algebra.minimisation.reachable` before
    if only the reachable ones matter. A property that the budget does not decide is
    None; one that was refuted before it ran out stays refuted.

    Args:
        machine: Any machine; outputs do not matter. Or the findings about it.
        budget: The most elements of the monoid, and the most work for elements, images
            and groups; 200,000 elements and `NORMAL` steps unless given.
    """
    budget = budget or Budget(NORMAL, MOST_ELEMENTS)
    findings = machine if isinstance(machine, Findings) else find(machine, budget)
    groups = _groups(findings, budget)
    order = _group_order(findings)
    return Classification(
        properties=_properties(findings),
        size=order or (None if findings.monoid is None else findings.monoid.size),
        semigroup_size=order or _known_semigroup_size(findings.monoid),
        at_least=order or findings.elements.size,
        subgroups=None if groups is None else groups.subgroups,
        factors=None if groups is None else groups.factors,
        cut=budget.cut,
    )


def _properties(findings: Findings) -> tuple[Property, ...]:
    machine = findings.machine
    ordered, piecewise = digraph.r_trivial(machine), digraph.j_trivial(machine)
    commuting, local = letters.commutative(machine), generalised_definite(machine)
    star_free = elements.aperiodic(findings, bool(ordered.holds))
    properties = (
        letters.permutation(machine),
        letters.permutation_reset(machine),
        letters.memory(machine),
        commuting,
        digraph.transitive(machine),
        synchronising(machine),
        digraph.nilpotent(machine),
        definite(machine),
        digraph.reverse_definite(machine),
        local,
        elements.locally_testable(findings),
        elements.band(findings),
        ordered,
        elements.l_trivial(findings),
        piecewise,
        elements.da(findings),
        star_free,
        elements.solvable(findings, bool(star_free.holds or commuting.holds)),
    )
    facts = {p.name: p for p in (ordered, piecewise, local, star_free)}
    return tuple(
        p if p.holds is not None else _apply_implications(p, facts) for p in properties
    )


# Implications: (property, its value) from (property, its value).
_IMPLICATIONS = {
    ("locally testable", True): (("generalised definite", True),),
    ("locally testable", False): (("aperiodic", False),),
    ("idempotent", False): (("aperiodic", False),),
    ("L-trivial", True): (("J-trivial", True),),
    ("L-trivial", False): (("aperiodic", False),),
    ("DA", True): (("R-trivial", True), ("generalised definite", True)),
    ("DA", False): (("aperiodic", False),),
}


def _apply_implications(found: Property, facts: dict[str, Property]) -> Property:
    """An undecided property, decided if another one implies it or refutes it."""
    for value in (True, False):
        for other, holds in _IMPLICATIONS.get((found.name, value), ()):
            fact = facts[other]
            if fact.holds is holds:
                reason = f"it is {'' if holds else 'not '}{other}: {fact.evidence}"
                return Property(found.name, value, reason, fact.witness)
    return found


def _group_order(findings: Findings) -> int | None:
    """The number of elements if the letters permute the states and it is easy."""
    rows = findings.acting.transitions
    if not (np.sort(rows, axis=1) == np.arange(rows.shape[1])).all():
        return None
    group = PermutationGroup(rows)
    return group.order if tractable(group) else None


def _known_semigroup_size(monoid: TransformationMonoid | None) -> int | None:
    return None if monoid is None else monoid.semigroup_size


def _groups(findings: Findings, budget: Budget) -> Content | None:
    green = findings.relations
    try:
        if green is not None:
            chosen = green.first_idempotents[green.idempotent_counts > 0]
            groups = (green.maximal_subgroup(int(e)) for e in chosen)
            return content(groups, budget)
        if findings.skeleton is not None:
            return content((c.group for c in findings.skeleton.classes), budget)
    except BudgetExceeded as error:
        budget.leave_out(f"not all groups were named ({error})")
        return None
    return None
