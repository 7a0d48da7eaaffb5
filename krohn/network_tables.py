"""The networks of a machine, as `krohn explain` lists them."""

from collections import Counter
from collections.abc import Container
from dataclasses import asdict
from typing import Any

from krohn.algebra.budget import Budget
from krohn.algebra.wording import listed
from krohn.compiled_model import (
    Choice,
    nonzero,
    rows_of,
)
from krohn.compiler.compiled_network import realise
from krohn.compiler.constructions.registry import summary_of
from krohn.compiler.cost import Cost
from krohn.compiler.planning import MOST_CHOSEN, Candidate, Planning
from krohn.compiler.search import (
    COMPROMISE,
    FRONT,
    SIZES_TO_MINIMISE,
    Plan,
    find_size_to_minimise,
    sizes,
)

Network = tuple[str, Cost | None]
"""A construction, and what one of its networks costs."""


def construction_table(
    planning: Planning, minimise: str | None, choice: Choice[Any, Any], budget: Budget
) -> dict[str, Any]:
    """The table of constructions and the Pareto front.

    Args:
        planning: All ways to compute the machine.
        minimise: What the choice goes by; None for the compromise.
        choice: The choice by this.
        budget: How much work it may be to price the others.

    Returns:
        ``front``: the networks that no other one beats, with the chosen one and those
        that were tried, by depth; each is ``chosen`` or not, ``proved`` is null where
        it was not tried, and ``nonzero`` where the entries that are not 0 were not
        counted; ``constructions``: all that apply, best first, with the sizes of
        one network, or, where ``exact`` is false, sizes that each of its networks has at
        least; ``unavailable``: the others, with the reason; ``chosen``, ``minimise``,
        ``why``; ``also``: for each other size to choose by the network with less of it
        than the chosen one, if there is one, which is not tried; ``proved``: whether the
        chosen one is, null if it was not tried; and ``tried``: what is not proved though
        it would be chosen before.
    """
    minimise = find_size_to_minimise(minimise)
    chosen: Network | None = choice.way and (choice.way.construction, choice.way.cost)
    plans = {(p.construction, p.cost): p for p in planning.front(budget)}
    proved = dict.fromkeys(((t.construction, t.cost) for t in choice.tried), False)
    if chosen is not None and choice.found is not None:
        proved[chosen] = True
    beside = {chosen} if chosen else set[Network]()
    ordered: list[Any] = sorted({*plans, *beside, *proved}, key=_by_depth)
    candidates = planning.candidates(minimise)
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
        "constructions": [_row(c) for c in candidates if c.bound is not None],
        "unavailable": [
            {"name": c.name, "reason": c.reason} for c in candidates if c.bound is None
        ],
        "chosen": chosen and chosen[0],
        "proved": chosen and proved.get(chosen),
        "tried": rows_of(choice.tried),
        "also": _alternatives(planning, choice),
        "minimise": minimise,
        "why": _why(choice, candidates, minimise, planning.eligible(minimise))
        + _largest_part(choice),
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
        "widest": cost.widest,
        "summary": summary_of(name),
    }


def _row(candidate: Candidate) -> dict[str, Any]:
    cost = candidate.cost or candidate.bound
    assert cost is not None
    return {
        "name": candidate.name,
        **asdict(cost),
        "widest": cost.widest,
        "exact": candidate.cost is not None,
        "summary": summary_of(candidate.name),
    }


def _alternatives(planning: Planning, choice: Choice[Any, Any]) -> list[dict[str, Any]]:
    """The networks that have less of some size than the chosen one, by ``--minimise``."""
    if choice.way is None or choice.way.cost is None:
        return []
    failed, chosen = {(t.construction, t.cost) for t in choice.tried}, choice.way.cost
    priced = planning.search.found.values()
    plans = [p for p in priced if (p.construction, p.cost) not in failed]
    rows = []
    for size in FRONT:
        plan = min(plans, key=lambda p: sizes(p.cost, size), default=None)
        if plan is not None and getattr(plan.cost, size) < getattr(chosen, size):
            shown = {name: getattr(plan.cost, name) for name in ("layers", *FRONT)}
            rows.append({"minimise": size, "name": plan.construction, **shown})
    return rows


_LABELS = {
    "widest": "width of the widest layer",
    "area_time": "parameters × layers²",
    "latency": "predicted latency (µs)",
}


def _why(
    choice: Choice[Any, Any],
    found: list[Candidate],
    minimise: str,
    eligible: Container[str],
) -> str:
    """The reason for a choice: the sizes of the best two that it was made from.

    Of the other networks in the table it is said how the choice is deeper than one, and
    which ones are left out by it.
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
    first = SIZES_TO_MINIMISE[minimise][0]
    beside = " of the networks that were not tried before" if failed else ""
    amount = _amount(getattr(cost, first))
    others = [
        c
        for c in found
        if c.name != name and c.bound and (c.name, c.cost) not in failed
    ]
    reason = f"it has the least {_label(first)}{beside}, {amount}"
    beside_it = [c for c in others if c.name in eligible]
    if minimise == COMPROMISE:
        reason += _left_out(cost, [c for c in others if c.name not in eligible])
    reason += _rival(cost, beside_it[0], minimise) if beside_it else ""
    return reason + (_fewer_blocks(cost, others) if minimise == "depth" else "")


def _left_out(cost: Cost, others: list[Candidate]) -> str:
    """Which construction would be chosen if the compromise did not leave it out."""
    known = [(c.cost.area_time, c.name) for c in others if c.cost is not None]
    least, name = min(known, default=(cost.area_time, ""))
    if least >= cost.area_time:
        return ""
    return (
        ", not counting scans that compose more than two windows in each round "
        f"({name} has {_amount(least)}): these have more heads, and are built when asked "
        "for (--construction NAME, or --minimise depth, layers or latency)"
    )


def _rival(cost: Cost, rival: Candidate, minimise: str) -> str:
    """The sizes of the next best construction, as a reason."""
    first, *others = SIZES_TO_MINIMISE[minimise]
    least_of_it = rival.cost or rival.bound
    least = "" if rival.cost else "at least "
    reason = f"; {rival.name} has {least}{_amount(getattr(least_of_it, first))}"
    if rival.cost and getattr(least_of_it, first) == getattr(cost, first):
        unlike = (
            _label(n) for n in others if getattr(least_of_it, n) != getattr(cost, n)
        )
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


SMALL = 10_000
"""Of a network with fewer parameters it is not said where most of them are."""


def _largest_part(choice: Choice[Any, Any]) -> str:
    """Where most parameters of the chosen network are, if it was made and is large."""
    if choice.found is None:
        return ""
    file, sizes_of_parts = choice.found.file, Counter[tuple[str, ...]]()
    for name, tensor in file.tensors.items():
        _, block, part = (f"{name}..").split(".")[:3]
        within = name.startswith("blocks.")
        sizes_of_parts[(block, part) if within else ("", "embedding")] += tensor.size
    ((block, part), most), total = (
        *sizes_of_parts.most_common(1),
        sizes_of_parts.total(),
    )
    if total < SMALL or part != "mlp":
        return ""
    born = 2 * int(block) + 2
    channels = file.header.get("program", {}).get("channels", [])
    made = [c["name"] for c in channels if c.get("snapshots", [0])[0] == born]
    return (
        f"; {most:,} of its {total:,} parameters are in the MLP of block {block}, which "
        f"computes {listed(made, 4, 'and')}"
    )


def _label(size: str) -> str:
    return _LABELS.get(size, size)


def _amount(size: float) -> str:
    return f"{size:,.0f}"


# Which diagonal state space models hold a machine, and for how long.
