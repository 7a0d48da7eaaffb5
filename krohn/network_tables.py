"""The networks of a machine, as `krohn explain` lists them."""

from collections.abc import Callable, Container, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.budget import Budget
from krohn.algebra.classification import Classification, classify
from krohn.algebra.minimisation import reachable
from krohn.architectures.state_space.build import (
    FORMS,
    ROUNDING,
    SELECTIVE,
    Parts,
)
from krohn.compiled_model import (
    Choice,
    nonzero,
    rows_of,
)
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import machine_of_states, realise
from krohn.compiler.constructions.registry import summary_of
from krohn.compiler.cost import Cost
from krohn.compiler.planning import MOST_CHOSEN, Candidate, Planning
from krohn.compiler.search import COMPROMISE, OBJECTIVES, Plan, objective_named
from krohn.network.precision import PRECISIONS

Network = tuple[str, Cost | None]
"""A construction, and what one of its networks costs."""


def construction_table(
    planning: Planning, minimise: str | None, choice: Choice[Any, Any]
) -> dict[str, Any]:
    """The table of constructions and the Pareto front.

    Args:
        planning: All ways to compute the machine.
        minimise: What the choice goes by; None for the compromise.
        choice: The choice by this.

    Returns:
        ``front``: the networks that no other one beats, with the chosen one and those
        that were tried, by depth; each is ``chosen`` or not, ``proved`` is null where
        it was not tried, and ``nonzero`` where the entries that are not 0 were not
        counted; ``constructions``: all that apply, best first, with the sizes of
        one network, or, where ``exact`` is false, sizes that each of its networks has at
        least; ``unavailable``: the others, with the reason; ``chosen``, ``minimise``,
        ``why``; ``proved``: whether the chosen one is, null if it was not tried; and
        ``tried``: what is not proved though it would be chosen before.
    """
    objective = objective_named(minimise)
    chosen: Network | None = choice.way and (choice.way.construction, choice.way.cost)
    plans = {(p.construction, p.cost): p for p in planning.front()}
    proved = dict.fromkeys(((t.construction, t.cost) for t in choice.tried), False)
    if chosen is not None and choice.found is not None:
        proved[chosen] = True
    beside = {chosen} if chosen else set[Network]()
    ordered: list[Any] = sorted({*plans, *beside, *proved}, key=_by_depth)
    found = planning.candidates(objective)
    counted: dict[Network, int | None] = {n: _nonzero(p) for n, p in plans.items()}
    if chosen is not None and choice.found is not None:
        counted[chosen] = nonzero(choice.found.file.tensors)
    return {
        "front": [
            _network(*n)
            | {"nonzero": counted.get(n)}
            | {"chosen": n == chosen, "proved": proved.get(n)}
            for n in ordered
        ],
        "constructions": [_row(c) for c in found if c.bound is not None],
        "unavailable": [
            {"name": c.name, "reason": c.reason} for c in found if c.bound is None
        ],
        "chosen": chosen and chosen[0],
        "proved": chosen and proved.get(chosen),
        "tried": rows_of(choice.tried),
        "minimise": objective,
        "why": _why(choice, found, objective, planning.eligible(objective)),
    }


MOST_COUNTED, MOST_BLOCKS = 200_000, 64
"""Parameters and blocks of the largest network that is made only to count."""


def _nonzero(plan: Plan) -> int | None:
    """How many parameters of a network are not 0 in its format; None if it is large."""
    if plan.cost.parameters > MOST_COUNTED or plan.cost.layers > MOST_BLOCKS:
        return None
    tensors, precision = realise(plan).network.tensors, plan.options.precision
    return nonzero({name: precision.round(t) for name, t in tensors.items()})


def _by_depth(network: Network) -> tuple[int, int]:
    cost = network[1]
    assert cost is not None
    return cost.depth, cost.parameters


def _network(name: str, cost: Cost) -> dict[str, Any]:
    return {
        "name": name,
        **asdict(cost),
        "width": cost.width,
        "summary": summary_of(name),
    }


def _row(candidate: Candidate) -> dict[str, Any]:
    cost = candidate.cost or candidate.bound
    assert cost is not None
    return {
        "name": candidate.name,
        **asdict(cost),
        "width": cost.width,
        "exact": candidate.cost is not None,
        "summary": summary_of(candidate.name),
    }


_LABELS = {
    "layers": "blocks",
    "area_time": "parameters × blocks²",
    "latency": "predicted latency (µs)",
}


def _why(
    choice: Choice[Any, Any],
    found: list[Candidate],
    objective: str,
    eligible: Container[str],
) -> str:
    """The reason for a choice: the sizes of the best two that it was made from.

    Of the other networks in the table it is said how the choice is deeper than one, and
    which ones the objective leaves out.
    """
    if choice.way is None:
        what = (
            "that applies gives a network that is proved"
            if choice.tried
            else f"serves this machine with at most {MOST_CHOSEN:,} parameters"
        )
        return f"no construction of a Transformer {what}; use --arch rnn"
    failed = {(t.construction, t.cost) for t in choice.tried}
    name, cost = choice.way.construction, choice.way.cost
    assert cost is not None
    first = OBJECTIVES[objective][0]
    beside = " of the networks that were not tried before" if failed else ""
    amount = _amount(getattr(cost, first))
    others = [
        c
        for c in found
        if c.name != name and c.bound and (c.name, c.cost) not in failed
    ]
    reason = f"it has the least {_label(first)}{beside}, {amount}"
    beside_it = [c for c in others if c.name in eligible]
    reason += _rival(cost, beside_it[0], objective) if beside_it else ""
    if objective == COMPROMISE:
        return reason + _left_out(cost, [c for c in others if c.name not in eligible])
    return reason + (_fewer_blocks(cost, others) if objective == "depth" else "")


def _left_out(cost: Cost, others: list[Candidate]) -> str:
    """Which construction would be chosen if the compromise did not leave it out."""
    known = [(c.cost.area_time, c.name) for c in others if c.cost is not None]
    least, name = min(known, default=(cost.area_time, ""))
    if least >= cost.area_time:
        return ""
    return (
        f"; {name} has {_amount(least)}, but a scan of higher radix, which has more heads, "
        "is for those who ask for it (--minimise depth, layers or latency)"
    )


def _rival(cost: Cost, rival: Candidate, objective: str) -> str:
    """The sizes of the next best construction, as a reason."""
    first, *others = OBJECTIVES[objective]
    sizes = rival.cost or rival.bound
    least = "" if rival.cost else "at least "
    reason = f"; {rival.name} has {least}{_amount(getattr(sizes, first))}"
    if rival.cost and getattr(sizes, first) == getattr(cost, first):
        unlike = (_label(n) for n in others if getattr(sizes, n) != getattr(cost, n))
        reason += " and " + next((f"more {n}" for n in unlike), "the same sizes")
    return reason


def _fewer_blocks(cost: Cost, others: list[Candidate]) -> str:
    """Which construction has fewer blocks, though more of them attend."""
    known = [(c.cost.layers, c.name) for c in others if c.cost is not None]
    layers, name = min(known, default=(cost.layers, ""))
    if layers >= cost.layers:
        return ""
    return (
        f"; counting the blocks that do not attend, too, it has {cost.layers} layers "
        f"and {name} has {layers} (--minimise layers)"
    )


def _label(size: str) -> str:
    return _LABELS.get(size, size)


def _amount(size: float) -> str:
    return f"{size:,.0f}"


# Which diagonal state space models hold a machine, and for how long.


EVERY = "every length"


def forms(machine: Automaton, budget: Budget) -> dict[str, Any]:
    """The facts of a machine and a row for each form and format.

    Args:
        machine: What is to be held.
        budget: Of the search for groups; it notes what was left out.

    Returns:
        ``every_length_by_fixed_decays`` and ``every_length_by_chosen_decays``: whether
        any network with real decays holds it, Krohn's or not; None where that is not
        decided. ``networks``: what Krohn compiles.
    """
    wanted = machine_of_states(machine)
    rows = {form: list(_rows(wanted, form)) for form in FORMS}
    fixed, chosen = (rows[f][0]["right_for"] == EVERY for f in (ROUNDING, SELECTIVE))
    return {
        "name": machine.name,
        "states": len(wanted.states),
        "letters": len(wanted.letters),
        "every_length_by_fixed_decays": fixed or _excluded(_even, wanted, budget),
        "every_length_by_chosen_decays": chosen or _excluded(_two, wanted, budget),
        "networks": [row for form in FORMS for row in rows[form]],
        **budget.record(),
    }


def _excluded(
    needed: Callable[[Automaton, Budget], bool | None],
    machine: Automaton,
    budget: Budget,
) -> bool | None:
    """False if something that is needed does not hold; None if it is not known to fail."""
    return False if needed(reachable(machine), budget) is False else None


def _even(machine: Automaton, budget: Budget) -> bool | None:
    """Whether words of even length generate no group (Theorem D1)."""
    table = machine.transitions
    pairs = table[:, table].reshape(-1, table.shape[1])
    distinct = np.unique(pairs, axis=0)
    letters = tuple(map(str, range(len(distinct))))
    found = Automaton(Semiautomaton(distinct, letters, machine.states))
    return _classified(found, budget)["aperiodic"].holds


def _two(machine: Automaton, budget: Budget) -> bool | None:
    """Whether all groups are 2-groups (Theorem D5)."""
    factors = _classified(machine, budget).factors
    return None if factors is None else {*factors} <= {"C2"}


def _classified(machine: Automaton, budget: Budget) -> Classification:
    kind = classify(machine, budget)
    for what in kind.cut:
        budget.leave_out(what)
    return kind


def _rows(machine: Automaton, form: str) -> Iterator[dict[str, Any]]:
    try:
        parts = Parts.of(machine, form)
    except CompileError as reason:
        yield {"form": form, "dtype": None, "layers": None, "right_for": str(reason)}
        return
    found = {p.name: parts.longest(form, p) for p in PRECISIONS.values()}
    layers = max(1, len(parts.parts))
    for dtype, most in found.items():
        longest = EVERY if most is None else f"up to {most:,} letters"
        yield {"form": form, "dtype": dtype, "layers": layers, "right_for": longest}
