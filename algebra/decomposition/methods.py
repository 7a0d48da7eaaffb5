"""Every way to decompose a machine, by name, and the choice among them."""

from collections.abc import Callable
from dataclasses import dataclass

from algebra.budget import Budget, BudgetExceeded
from algebra.cascade import Cascade
from algebra.covering import Covering, prove
from algebra.decomposition.cost import CascadeCost, cost
from algebra.decomposition.group_part import Chain, flip_flops, split
from algebra.decomposition.holonomy import holonomy as plain_holonomy
from algebra.decomposition.refine import refine, simplify
from algebra.decomposition.search import Search
from algebra.decomposition.series import derived_chain, prime_chain
from algebra.errors import KrohnError
from algebra.semiautomaton import Semiautomaton

LARGEST_SPLIT_GROUP = 2_000


@dataclass(frozen=True, eq=False)
class Decomposition:
    """A proved cascade, and how it was chosen.

    Attributes:
        cascade: The cascade.
        covering: The proof that it covers the machine.
        method: The method that found it.
        cost: What it will cost as a network.
        tried: Every method that was tried, with its cost or the reason why it failed.
    """

    cascade: Cascade
    covering: Covering
    method: str
    cost: CascadeCost
    tried: dict[str, CascadeCost | str]


def holonomy(machine: Semiautomaton, budget: Budget) -> Cascade:
    """Images and tiles: permutation-reset components, a group on every level."""
    return simplify(plain_holonomy(machine, budget))


def prime(machine: Semiautomaton, budget: Budget) -> Cascade:
    """Holonomy, taken apart to counters modulo primes, simple groups and flip-flops."""
    return simplify(_refined(holonomy(machine, budget), prime_chain, digits=True))


def derived(machine: Semiautomaton, budget: Budget) -> Cascade:
    """Holonomy, with every group as counters along its derived series, and memories."""
    return simplify(_refined(holonomy(machine, budget), derived_chain))


def congruence(machine: Semiautomaton, budget: Budget) -> Cascade:
    """Quotients first: blocks of congruences, places in blocks, machines side by side."""
    return simplify(_refined(Search(budget).best(machine), derived_chain))


METHODS: dict[str, Callable[[Semiautomaton, Budget], Cascade]] = {
    "holonomy": holonomy,
    "derived": derived,
    "congruence": congruence,
    "prime": prime,
}


def decompose(
    machine: Semiautomaton, method: str = "auto", budget: Budget | None = None
) -> Decomposition:
    """Decompose a machine and prove the result.

    Args:
        machine: Any semiautomaton.
        method: A key of ``METHODS``, or ``auto`` for the cheapest of ``derived`` and
            ``congruence`` as a network.
        budget: How long to compute and how many images to keep.

    Raises:
        KrohnError: If there is no such method.
        BudgetExceeded: If the budget was too small for every method asked for.
    """
    budget = budget or Budget(seconds=15.0, size=200_000)
    if method != "auto" and method not in METHODS:
        raise KrohnError(f"--method takes auto, {', '.join(METHODS)}, not {method!r}")
    names = ("derived", "congruence") if method == "auto" else (method,)
    found: dict[str, Cascade] = {}
    tried: dict[str, CascadeCost | str] = {}
    for name in names:
        try:
            found[name] = METHODS[name](machine, budget)
            tried[name] = cost(found[name])
        except BudgetExceeded as reason:
            tried[name] = str(reason)
    if not found:
        raise BudgetExceeded("; ".join(f"{n}: {why}" for n, why in tried.items()), 0)
    best = min(found, key=lambda name: cost(found[name]))
    covering = prove(machine, found[best])
    return Decomposition(found[best], covering, best, cost(found[best]), tried)


def _refined(cascade: Cascade, chain: Chain, digits: bool = False) -> Cascade:
    """Groups and memories taken apart, as far as the groups can be listed."""
    at = 0
    while at < len(cascade.components):
        component = cascade.components[at]
        inner = None
        if component.is_permutation_reset:
            if 1 < component.group.order <= LARGEST_SPLIT_GROUP:
                inner = split(component, chain)
            elif digits and component.group.order == 1 and component.size > 2:
                inner = flip_flops(component) if component.resets.any() else None
        if inner is None:
            at += 1
            continue
        cascade = refine(cascade, at, inner)
        at += len(inner.components)
        if digits:
            at -= 1 if inner.components[-1].resets.any() else 0
    return cascade
