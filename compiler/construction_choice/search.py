"""The objectives by which networks are chosen, and best-first search by them."""

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Any, Generic, TypeAlias, TypeVar

from krohn.algebra.wording import near
from krohn.compiler.cost import Bound, Priced, Steps
from krohn.compiler.errors import CompileError

# The objectives by which networks are chosen, and the networks that no other one beats.


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


# Best-first search over plans, with lower bounds (branch and bound).
#
# All branches start together, with the bounds that take no work. The one whose bound is
# best goes a step further: its Program is built, put through the passes, scheduled, laid
# out and at last priced. When the best of all has an exact price, no other can beat it: a
# bound is never above the prices that follow it. So losers are mostly never laid out.


Found = TypeVar("Found", bound=Priced)
Branch: TypeAlias = "Steps[Found | list[Branch[Found]]]"
"""Bounds, and at the end a plan, or the branches into which it parts."""

Key = Callable[[Bound], tuple[float, ...]]
Rank: TypeAlias = tuple[int, ...]
"""Where a branch stands among equals; its parts follow it."""


@dataclass
class OpenBranch(Generic[Found]):
    """A branch that has not been followed to its end.

    Attributes:
        name: The construction.
        rank: Where it stands among equals.
        steps: The rest of it.
        bound: What is known of all that it can lead to.
    """

    name: str
    rank: Rank
    steps: "Branch[Found]"
    bound: Bound = field(default_factory=Bound)


@dataclass
class Search(Generic[Found]):
    """The state of a search: all branches, the plans found, and the failures.

    Attributes:
        branches: The open branches, by their rank.
        found: The plans that were priced, by their rank.
        reasons: Why a construction, or a form of it, leads to nothing.
    """

    branches: dict[Rank, OpenBranch[Found]]
    found: dict[Rank, Found] = field(default_factory=dict)
    reasons: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, branches: Iterable[tuple[str, "Branch[Found]"]]) -> "Search[Found]":
        """A search that begins; of equal branches the first ones go first.

        Args:
            branches: With the names of their constructions.
        """
        return cls(
            {
                (i,): OpenBranch(n, (i,), branch)
                for i, (n, branch) in enumerate(branches)
            }
        )

    def best_first(self, key: Key, names: Container[str]) -> Iterator[Found]:
        """Plans, best first, each as soon as it is known that none is better.

        Args:
            key: What is compared; it grows with the sizes.
            names: The constructions to choose from.
        """
        ahead = [
            (key(branch.bound), rank)
            for rank, branch in self.branches.items()
            if branch.name in names
        ]
        ahead += [
            (key(plan.cost), rank)
            for rank, plan in self.found.items()
            if plan.construction in names
        ]
        heapify(ahead)
        while ahead:
            _, rank = heappop(ahead)
            if rank in self.found:
                yield self.found[rank]
                continue
            for after in self.advance(rank):
                known = self.branches.get(after)
                bound = known.bound if known else self.found[after].cost
                heappush(ahead, (key(bound), after))

    def advance(self, rank: Rank) -> list[Rank]:
        """Follow a branch to its next bound, its end, or where it parts.

        Returns:
            The rank of the branch, or the ranks of its parts.
        """
        branch = self.branches[rank]
        try:
            branch.bound = branch.bound.and_also(next(branch.steps))
        except StopIteration as end:
            del self.branches[rank]
            return self._finish(branch, end.value)
        except CompileError as error:
            del self.branches[rank]
            self.reasons.setdefault(branch.name, []).append(str(error))
            return []
        return [rank]

    def _finish(self, branch: OpenBranch[Found], end: Any) -> list[Rank]:
        if not isinstance(end, list):
            self.found[branch.rank] = end
            return [branch.rank]
        parts = [
            OpenBranch(branch.name, (*branch.rank, i), steps, branch.bound)
            for i, steps in enumerate(end)
        ]
        self.branches |= {part.rank: part for part in parts}
        return [part.rank for part in parts]
