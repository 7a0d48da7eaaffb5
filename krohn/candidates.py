"""Which networks there are for a machine, and which one is chosen, as plain values."""

from dataclasses import asdict
from typing import Any

from krohn.certification import Choice
from krohn.compiled_model import rows_of
from krohn.compiler.construction_choice.known_constructions import summary_of
from krohn.compiler.construction_choice.objectives import OBJECTIVES, objective_named
from krohn.compiler.construction_choice.planning import Candidate, Planning
from krohn.compiler.cost import Cost

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
        that were tried, by depth; each is ``chosen`` or not, and ``proved`` is null where
        it was not tried; ``constructions``: all that apply, best first, with the sizes of
        one network, or, where ``exact`` is false, sizes that each of its networks has at
        least; ``unavailable``: the others, with the reason; ``chosen``, ``minimise``,
        ``why``; ``proved``: whether the chosen one is, null if it was not tried; and
        ``tried``: what is not proved though it would be chosen before.
    """
    objective = objective_named(minimise)
    chosen: Network | None = choice.way and (choice.way.construction, choice.way.cost)
    proved = dict.fromkeys(((t.construction, t.cost) for t in choice.tried), False)
    if chosen is not None and choice.found is not None:
        proved[chosen] = True
    beside = {chosen} if chosen else set[Network]()
    front = {(p.construction, p.cost) for p in planning.front()}
    ordered: list[Any] = sorted({*front, *beside, *proved}, key=_by_depth)
    found = planning.candidates(objective)
    return {
        "front": [
            _network(*n) | {"chosen": n == chosen, "proved": proved.get(n)}
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
        "why": _why(choice, found, objective),
    }


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


def _why(choice: Choice[Any, Any], found: list[Candidate], objective: str) -> str:
    if choice.way is None:
        what = (
            "that applies gives a network that is proved"
            if choice.tried
            else "serves this machine"
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
    reason += _rival(cost, others[0], objective) if others else ""
    return reason + (_fewer_blocks(cost, others) if objective == "depth" else "")


def _rival(cost: Cost, rival: Candidate, objective: str) -> str:
    """What the next best construction has."""
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
