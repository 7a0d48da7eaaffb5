"""From a construction to plans: the stages of planning, each with a bound before it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from krohn.compiler.bounds import Bound, Result, Steps
from krohn.compiler.construction_choice.best_first_search import Branch
from krohn.compiler.cost import Cost, bound_before_schedule, cost_steps, latency
from krohn.compiler.errors import CompileError
from krohn.compiler.layout import Layout
from krohn.compiler.pipeline import (
    Options,
    features_of,
    make_layout,
    make_schedule,
    optimise,
)
from krohn.compiler.position_table import Positions
from krohn.compiler.schedule import Schedule
from krohn.program import Program
from krohn.program.limits import MOST_PAIRED

# At most so many paths decide tables of tables at once; 0: one after the other.
MERGES = (1024, 0)


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


@dataclass(frozen=True)
class Request:
    """A construction to lower, with the most that it may cost.

    Attributes:
        name: The construction.
        build: Its Program for a length.
        length: T.
        options: Number format and form.
        most: Parameters that its networks may have.
        refusal: The message, with the number that it needs, if it is more.
    """

    name: str
    build: Callable[[int], Steps[Program]]
    length: int
    options: Options
    most: int
    refusal: str


def branch(request: Request) -> "Branch[Plan]":
    """A construction, in both ways to merge tables of tables.

    Raises:
        CompileError: If it does not serve the machine, cannot be lowered, or is too large.
    """
    program = yield from _limit(request, request.build(request.length))
    _check_pairs(program)
    if request.options.uniform:
        _check_same(program, (yield from request.build(2 * request.length)))
    # Paths run through the values of a sum, which the sine is there to avoid.
    merges = (0,) if request.options.activation == "sine" else MERGES
    every = [replace(request.options, most_paths=most) for most in merges]
    if request.options.strict:
        return [_branch_by_schedule(request, program, [options]) for options in every]
    return [_branch_by_schedule(request, program, every)]


def _check_pairs(program: Program) -> None:
    """Refuse a Program whose heads have more scores than any proof looks at.

    Raises:
        CompileError: If a head has so many.
    """
    paired = [name for name, o in program.operations.items() if o.every_pair]
    if paired and program.length > MOST_PAIRED:
        raise CompileError(
            f"a proof looks at every pair of positions of the head of {paired[0]!r}, so "
            f"words may have {MOST_PAIRED:,} letters at most"
        )


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
) -> "Branch[Plan]":
    """The schedules of a Program that differ; all options lead to one optimised form."""
    optimised = optimise(program, every[0])
    yield _check_parameters(
        request, bound_before_schedule(optimised, features_of(optimised, every[0]))
    )
    parts: list[Branch[Plan]] = []
    seen: list[object] = []
    for options in every:
        plan = make_schedule(optimised, options)
        if plan.born not in seen:
            seen.append(plan.born)
            parts.append(_price(request, program, plan, options))
    return parts


def _price(
    request: Request, program: Program, plan: Schedule, options: Options
) -> "Branch[Plan]":
    layout, features = make_layout(plan, options)
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
    if bound.parameters > request.most:
        raise CompileError(request.refusal.format(f"{bound.parameters:.1e}"))
    return bound
