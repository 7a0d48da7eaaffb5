"""Best-first search among networks by a size, and the stages of each candidate."""

from collections.abc import Callable, Container, Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from typing import Any, TypeAlias

from krohn.algebra.wording import near
from krohn.compiler import CompileError
from krohn.compiler.cost import (
    Bound,
    Cost,
    Result,
    Steps,
    bound_before_schedule,
    check_code,
    check_proof,
    check_steps,
    cost_steps,
    latency,
)
from krohn.compiler.layout import Layout, Schedule, scheduling_steps
from krohn.compiler.pipeline import (
    Options,
    make_layout,
    make_schedule,
    optimise,
    positions,
)
from krohn.compiler.positions import Positions
from krohn.program import Program

# What networks are chosen by, and the networks that no other one beats.

COMPROMISE = "compromise"

# What is compared by each value of `minimise`, most important first.
SIZES_TO_MINIMISE: dict[str, tuple[str, ...]] = {
    "depth": ("depth", "layers", "parameters"),
    "widest": ("widest", "parameters"),
    "parameters": ("parameters", "depth"),
    "latency": ("latency", "parameters"),
    "layers": ("layers", "depth", "parameters"),
    COMPROMISE: ("area_time", "depth", "parameters"),
}
FRONT = ("depth", "widest", "parameters", "latency")


@dataclass(frozen=True)
class Plan:
    """A way to lower a construction, with its cost.

    Attributes:
        construction: Its name.
        program: The Program as constructed.
        layout: Where its channels lie after all passes.
        features: Its position features.
        cost: The cost of the network.
        options: How it is lowered.
    """

    construction: str
    program: Program
    layout: Layout
    features: Positions
    cost: Cost
    options: Options


def find_size_to_minimise(minimise: str | None, default: str = COMPROMISE) -> str:
    """What is minimised; the default if nothing was given.

    Raises:
        CompileError: If networks have no such size.
    """
    if minimise is None:
        return default
    if minimise not in SIZES_TO_MINIMISE:
        raise CompileError(
            f"--minimise takes {', '.join(SIZES_TO_MINIMISE)}, not {minimise!r}"
            f"{near(minimise, SIZES_TO_MINIMISE)}"
        )
    return minimise


def sizes(cost: Bound, minimise: str) -> tuple[float, ...]:
    """The sizes that are compared, most important first."""
    return tuple(getattr(cost, name) for name in SIZES_TO_MINIMISE[minimise])


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


Branch: TypeAlias = "Generator[Bound | int, None, Plan | list[Branch]]"
"""Bounds, and at the end a plan, or the branches into which it parts. A number is the work
to the next bound, in steps of a `Budget`."""

Key = Callable[[Bound], tuple[float, ...]]
Rank: TypeAlias = tuple[int, ...]
"""Where a branch stands among equals; its parts follow it."""


class TooLarge(CompileError):
    """A network is too large to be chosen, and can be asked for by name."""


@dataclass
class OpenBranch:
    """A branch that has not been followed to its end.

    Attributes:
        name: The construction.
        rank: Where it stands among equals.
        steps: The rest of it.
        bound: What is known of all that it can lead to.
        is_begun: Whether a step was taken.
        ahead: The work to its next bound, as far as it is known.
    """

    name: str
    rank: Rank
    steps: Branch
    bound: Bound
    is_begun: bool = False
    ahead: int = 0


@dataclass
class Search:
    """The state of a search: all branches, the plans found, and the failures.

    Attributes:
        branches: The open branches, by their rank.
        found: The plans that were priced, by their rank.
        reasons: Why a construction, or a form of it, leads to nothing.
        is_some_too_large: Whether there is a network that is built only by name.
    """

    branches: dict[Rank, OpenBranch]
    found: dict[Rank, Plan] = field(default_factory=dict)
    reasons: dict[str, list[str]] = field(default_factory=dict)
    is_some_too_large: bool = False

    @classmethod
    def of(cls, branches: Iterable[tuple[str, Branch, Bound]]) -> "Search":
        """A search that begins; of equal branches the first ones go first.

        Args:
            branches: With the names of their constructions, and bounds of all that they
                lead to.
        """
        return cls(
            {
                (i,): OpenBranch(name, (i,), steps, bound)
                for i, (name, steps, bound) in enumerate(branches)
            }
        )

    def best_first(self, key: Key, names: Container[str]) -> Iterator[Plan]:
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
        branch.is_begun = True
        try:
            found = next(branch.steps)
        except StopIteration as end:
            del self.branches[rank]
            return self._finish(branch, end.value)
        except CompileError as error:
            del self.branches[rank]
            self.reasons.setdefault(branch.name, []).append(str(error))
            self.is_some_too_large |= isinstance(error, TooLarge)
            return []
        if isinstance(found, Bound):
            branch.bound, branch.ahead = branch.bound.and_also(found), 0
        else:
            branch.ahead = found
        return [rank]

    def _finish(self, branch: OpenBranch, end: Any) -> list[Rank]:
        if not isinstance(end, list):
            self.found[branch.rank] = end
            return [branch.rank]
        parts = [
            OpenBranch(branch.name, (*branch.rank, i), steps, branch.bound, True)
            for i, steps in enumerate(end)
        ]
        self.branches |= {part.rank: part for part in parts}
        return [part.rank for part in parts]


# From a construction to plans: the stages of planning, each with a bound before it.


MOST_PARAMETERS = 500_000_000
"""Of a network whose construction is asked for by name."""

# At most so many paths decide tables of tables at once; 0: one after the other.
MERGES = (1024, 0)


@dataclass(frozen=True)
class Request:
    """A construction to lower, with the most that it may cost.

    Attributes:
        name: The construction.
        build: Its Program for a length.
        length: T.
        options: Number format and form.
        most: Parameters that its networks may have.
        subject: Who needs more than that, as a message begins.
        purpose: What for, as it goes on; it may hold names that people gave.
        proved: Whether networks that are too large to be proved are refused.
    """

    name: str
    build: Callable[[int], Steps[Program]]
    length: int
    options: Options
    most: int
    subject: str
    purpose: str
    proved: bool = False


def branch(request: Request) -> Branch:
    """A construction, in both ways to merge tables of tables.

    Raises:
        CompileError: If it does not serve the machine, cannot be lowered, or is too large.
    """
    if request.proved:
        check_steps(0, 1, request.length)  # before anything as long as a word is made
    program = yield from _limit(request, request.build(request.length))
    if request.proved:
        check_code(request.length, positions(program, request.options).code)
    if request.options.uniform:
        _check_same(program, (yield from request.build(2 * request.length)))
    # Paths run through the values of a sum, which the sine is there to avoid.
    merges = (0,) if request.options.activation == "sine" else MERGES
    every = [replace(request.options, most_paths=most) for most in merges]
    if request.options.strict:
        return [_branch_by_schedule(request, program, [options]) for options in every]
    return [_branch_by_schedule(request, program, every)]


def _check_same(program: Program, longer: Program) -> None:
    """Weights of every length need a Program that is the same for a longer one.

    Raises:
        CompileError: If it is not.
    """
    if program.operations != longer.operations:
        raise CompileError(
            "its Program depends on the length, so its weights do, too; leave "
            "--uniform out"
        )


def _branch_by_schedule(
    request: Request, program: Program, every: list[Options]
) -> Branch:
    """The schedules of a Program that differ; all options lead to one optimised form."""
    optimised = optimise(program, every[0])
    yield _check_parameters(
        request, bound_before_schedule(optimised, positions(optimised, every[0]))
    )
    yield scheduling_steps(optimised)
    parts: list[Branch] = []
    seen: list[object] = []
    for options in every:
        plan = make_schedule(optimised, options)
        if plan.born not in seen:
            seen.append(plan.born)
            parts.append(_price(request, program, plan, options))
    return parts


def _price(
    request: Request, program: Program, plan: Schedule, options: Options
) -> Branch:
    layout, features = make_layout(plan, options)
    if request.proved:
        check_proof(layout)
    steps = cost_steps(layout, features, options.strict, options.activation)
    cost = yield from _limit(request, steps)
    _check_parameters(request, cost)
    return Plan(request.name, program, layout, features, cost, options)


def _limit(request: Request, steps: Steps[Result]) -> Steps[Result]:
    """The given steps, up to where a network would be too large."""
    while True:
        try:
            bound = next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
        layers = max(bound.layers, bound.depth)
        sizes = bound.depth, layers, bound.parameters, bound.flops_per_token
        least = latency(*sizes, request.length)
        yield _check_parameters(
            request, replace(bound, layers=layers, latency=max(least, bound.latency))
        )


def _check_parameters(request: Request, bound: Bound) -> Bound:
    """The bound, of a network that is not too large.

    Raises:
        TooLarge: If it is too large to be chosen. Its table of positions does not count,
            which only words of that length make large.
        CompileError: If it is too large to be built.
    """
    number = f"at least {bound.parameters:.1e} parameters"
    needs = f"{request.subject} would need {number}{request.purpose}"
    if bound.parameters > MOST_PARAMETERS:
        raise CompileError(
            f"{needs}, and {MOST_PARAMETERS:.0e} is the most; use a shorter length, or "
            "another construction of those that `krohn explain` shows"
        )
    if bound.parameters - (request.length + 1) * bound.d_model > request.most:
        raise TooLarge(
            f"{needs}, and none above {request.most:.1e} is chosen; --arch rnn is small, "
            f"and --construction {request.name} builds it all the same"
        )
    return bound
