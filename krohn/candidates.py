"""Which networks there are for a machine, and which one is chosen, as plain values."""

from dataclasses import asdict
from typing import Any

from compiler.construction_choice.known_constructions import summary_of
from compiler.construction_choice.objectives import OBJECTIVES, checked
from compiler.construction_choice.planning import Candidate, Planning
from compiler.construction_choice.stages import Plan


def construction_table(planning: Planning, minimise: str | None) -> dict[str, Any]:
    """The table of constructions and the Pareto front.

    Args:
        planning: All ways to compute the machine.
        minimise: What the choice goes by; None for the compromise.

    Returns:
        ``front``: the networks that no other one beats, with the chosen one, by depth;
        ``constructions``: all that apply, best first, with the sizes of one network, or,
        where ``exact`` is false, sizes that each of its networks has at least;
        ``unavailable``: the others, with the reason; ``chosen``, ``minimise``, ``why``.
    """
    objective = checked(minimise)
    best = list(_first(planning, objective))
    front = {id(plan): plan for plan in (*best, *planning.front())}
    ordered = sorted(front.values(), key=lambda p: (p.cost.depth, p.cost.parameters))
    found = planning.candidates(objective)
    return {
        "front": [_network(p) | {"chosen": p in best} for p in ordered],
        "constructions": [_row(c) for c in found if c.bound is not None],
        "unavailable": [
            {"name": c.name, "reason": c.reason} for c in found if c.bound is None
        ],
        "chosen": best[0].construction if best else None,
        "minimise": objective,
        "why": _why(best, found, objective),
    }


def _first(planning: Planning, objective: str) -> list[Plan]:
    first = next(planning.best_first(objective), None)
    return [] if first is None else [first]


def _network(plan: Plan) -> dict[str, Any]:
    name, cost = plan.construction, plan.cost
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


def _why(best: list[Plan], found: list[Candidate], objective: str) -> str:
    if not best:
        return "no construction of a Transformer serves this machine; --arch rnn does"
    name, cost = best[0].construction, best[0].cost
    first, *others = OBJECTIVES[objective]
    reason = f"{name} has the least {_label(first)}, {_amount(getattr(cost, first))}"
    rival = next((c for c in found if c.name != name and c.bound), None)
    if rival is None or rival.bound is None:
        return reason
    sizes = rival.cost or rival.bound
    least = "" if rival.cost else "at least "
    reason += f"; {rival.name} has {least}{_amount(getattr(sizes, first))}"
    if rival.cost and getattr(sizes, first) == getattr(cost, first):
        unlike = (_label(n) for n in others if getattr(sizes, n) != getattr(cost, n))
        reason += " and " + next((f"more {n}" for n in unlike), "the same sizes")
    return reason


def _label(size: str) -> str:
    return _LABELS.get(size, size)


def _amount(size: float) -> str:
    return f"{size:,.0f}"
