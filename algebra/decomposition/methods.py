"""Every way to decompose a machine, by name, and the choice among them."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from krohn.algebra.automaton import Semiautomaton
from krohn.algebra.budget import EFFORTS, Budget, BudgetExceeded
from krohn.algebra.cascade import Cascade, Component, Covering, prove
from krohn.algebra.decomposition.congruence import MOST_STATES, Search, by_congruence
from krohn.algebra.decomposition.diagrams import refine, restrict_to_reachable
from krohn.algebra.decomposition.group_part import (
    Chain,
    derived_chain,
    flip_flops,
    prime_chain,
    split,
)
from krohn.algebra.decomposition.holonomy import holonomy as plain_holonomy
from krohn.algebra.decomposition.simplify import CascadeCost, cheapest, cost, simplify
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import principal_congruences
from krohn.algebra.rows import firsts
from krohn.algebra.wording import near

Method = Callable[[Semiautomaton, Budget], Cascade]

LARGEST_SPLIT_GROUP = 2_000
MOST_IMAGES = 200_000
SPLITTING = 100  # array operations that take a small group apart
MOST_COORDINATES = 20_000


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
    return _tidy(plain_holonomy(machine, budget), budget)


def prime(machine: Semiautomaton, budget: Budget) -> Cascade:
    """Holonomy, taken apart to counters modulo primes, simple groups and flip-flops."""
    cascade = simplify(plain_holonomy(machine, budget), budget)
    return _tidy(_split_groups(cascade, prime_chain, budget, digits=True), budget)


def split_by_derived_series(machine: Semiautomaton, budget: Budget) -> Cascade:
    """Holonomy, with every group as counters along its derived series, and memories."""
    cascade = simplify(plain_holonomy(machine, budget), budget)
    return _tidy(_split_groups(cascade, derived_chain, budget), budget)


def congruence(machine: Semiautomaton, budget: Budget) -> Cascade:
    """Quotients first: blocks of congruences, places in blocks, machines side by side."""
    cascade = Search(budget).best(machine)
    return _tidy(_split_groups(cascade, derived_chain, budget), budget)


METHODS: dict[str, Method] = {
    "holonomy": holonomy,
    "derived": split_by_derived_series,
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
        budget: How much work to do and how many images to keep; it notes what it
            left out, and the proof may take as much again.

    Raises:
        KrohnError: If there is no such method.
        BudgetExceeded: If the budget was too small for every method asked for.
    """
    budget = budget or Budget(EFFORTS["high"], MOST_IMAGES)
    if method != "auto" and method not in METHODS:
        raise KrohnError(
            f"--method takes auto, {', '.join(METHODS)}, not {method!r}"
            f"{near(method, METHODS)}"
        )
    names = ("derived", "congruence") if method == "auto" else (method,)
    cascades: dict[str, Cascade] = {}
    tried: dict[str, CascadeCost | str] = {}
    costs: dict[str, CascadeCost] = {}
    for i, name in enumerate(names):
        limit = budget.part(budget.left / (len(names) - i))
        try:
            cascades[name] = _by(METHODS[name], machine, limit)
            tried[name] = costs[name] = cost(cascades[name], budget)
        except BudgetExceeded as reason:
            tried[name] = str(reason)
            budget.leave_out(f"{name}: {reason}")
    if not cascades:
        raise BudgetExceeded("; ".join(f"{n}: {why}" for n, why in tried.items()), 0)
    best = min(costs, key=lambda name: costs[name])
    covering = prove(machine, cascades[best], Budget(budget.steps))
    return Decomposition(cascades[best], covering, best, costs[best], tried)


def _by(method: Method, machine: Semiautomaton, budget: Budget) -> Cascade:
    """The cascade that a method finds, with letters that act alike taken as one."""
    kept, place = firsts(machine.transitions)
    names = tuple(machine.letters[letter] for letter in kept.tolist())
    smaller = Semiautomaton(machine.transitions[kept], names, machine.states)
    cascade = method(smaller, budget)
    wiring = replace(cascade.wiring, entry=cascade.wiring.entry[place])
    return replace(cascade, letters=machine.letters, wiring=wiring)


def _tidy(cascade: Cascade, budget: Budget) -> Cascade:
    """Simplified, and cut down to reachable coordinates where that makes it cheaper."""
    simple = simplify(cascade, budget)
    limit = budget.part(size=MOST_COORDINATES)
    try:
        fewer = simplify(restrict_to_reachable(simple, limit), budget)
    except BudgetExceeded as reason:
        budget.leave_out(
            f"values that no word needs may be left in the network ({reason})"
        )
        return simple
    return cheapest([simple, fewer], budget)


def _split_groups(
    cascade: Cascade, chain: Chain, budget: Budget, digits: bool = False
) -> Cascade:
    """Groups and memories taken apart, as far as the groups can be listed."""
    at = 0
    while at < len(cascade.components):
        budget.spend(_entries(cascade.components[at]), SPLITTING)
        budget.check(len(cascade.components), "components")
        inner, settled = _parts(cascade.components[at], chain, digits)
        if inner is not None:
            cascade = refine(cascade, at, inner, budget)
        at += settled
    return cascade


def _entries(component: Component) -> int:
    """How many entries there are in the tables of a component and of its group."""
    order = component.group.order if component.is_permutation_reset else 1
    listed = order if order <= LARGEST_SPLIT_GROUP else 1
    return component.machine.transitions.size + listed * (listed + component.size)


def _parts(
    component: Component, chain: Chain, digits: bool
) -> tuple[Cascade | None, int]:
    """The cascade that a component is made of, if any; how many parts of it are final."""
    group, resets = component.group, bool(component.resets.any())
    inner: Cascade | None = None
    if not component.is_permutation_reset:
        return None, 1
    if group.order == 1:
        if digits and resets and component.size > 2:
            inner = flip_flops(component)
        return inner, len(inner.components) if inner else 1
    if not digits and not group.is_solvable:
        # A scan composes permutations of few points; factors would be many states.
        return None, 1
    if group.order <= LARGEST_SPLIT_GROUP:
        inner = split(component, chain)
        return inner, sum(part.group.order > 1 for part in inner.components)
    if digits and component.size <= MOST_STATES:
        # Blocks of a group that cannot be listed: smaller groups, or listable ones.
        principal = principal_congruences(component.machine.transitions)
        coarse = [c for c in principal if c.any()]
        if coarse:
            return by_congruence(component.machine, coarse[-1]), 0
    return None, 1
