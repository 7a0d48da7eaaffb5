"""The objectives by which networks are chosen, and the networks that no other one beats."""

from collections.abc import Iterable
from typing import TypeVar

from krohn.algebra.near_names import near
from krohn.compiler.bounds import Bound, Priced
from krohn.compiler.errors import CompileError

COMPROMISE = "compromise"

# What each objective compares, most important first.
OBJECTIVES: dict[str, tuple[str, ...]] = {
    "depth": ("depth", "layers", "parameters"),
    "width": ("width", "parameters"),
    "parameters": ("parameters", "depth"),
    "latency": ("latency", "parameters"),
    "layers": ("layers", "depth", "parameters"),
    COMPROMISE: ("area_time", "depth", "parameters"),
}
FRONT = ("depth", "width", "parameters", "latency")

Plan = TypeVar("Plan", bound=Priced)


def objective_named(minimise: str | None, default: str = COMPROMISE) -> str:
    """The name of an objective; the default if none was given.

    Raises:
        CompileError: If there is no such objective.
    """
    if minimise is None:
        return default
    if minimise not in OBJECTIVES:
        raise CompileError(
            f"--minimise takes {', '.join(OBJECTIVES)}, not {minimise!r}"
            f"{near(minimise, OBJECTIVES)}"
        )
    return minimise


def sizes(cost: Bound, objective: str) -> tuple[float, ...]:
    """The sizes that an objective compares, most important first."""
    return tuple(getattr(cost, name) for name in OBJECTIVES[objective])


def no_better(cost: Bound, others: Iterable[Bound]) -> bool:
    """Whether some other network is at least as good in everything.

    If that is true of a bound, it is true of every network that is bounded.
    """
    mine = [getattr(cost, name) for name in FRONT]
    return any(
        all(getattr(o, n) <= m for n, m in zip(FRONT, mine, strict=True))
        for o in others
    )


def front(plans: Iterable[Plan]) -> list[Plan]:
    """The plans that no other one beats (Pareto); the first where several are equal."""
    alike: dict[tuple[float, ...], Plan] = {}
    for plan in plans:
        alike.setdefault(tuple(getattr(plan.cost, name) for name in FRONT), plan)
    costs = [plan.cost for plan in alike.values()]
    return [
        plan
        for plan in alike.values()
        if not no_better(plan.cost, (c for c in costs if c is not plan.cost))
    ]
