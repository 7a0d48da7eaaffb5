"""From a construction to plans: the stages of planning, each with a bound before it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from krohn.compiler.bounds import Bound, Result, Steps
from krohn.compiler.construction_choice.best_first_search import Branch
from krohn.compiler.cost import Cost, latency, priced, unplaced
from krohn.compiler.errors import CompileError
from krohn.compiler.layout import Layout
from krohn.compiler.pipeline import Options, features_of, optimise, placed, scheduled
from krohn.compiler.position_table import Positions
from krohn.compiler.schedule import Schedule
from krohn.program import Program
from krohn.program.limits import MOST_PAIRED

# At most so many paths decide tables of tables at once; 0: one after the other.
MERGES = (1024, 0)


@dataclass(frozen=True)
class Plan:
    """A way to lower a construction, with what it costs.

    Attributes:
        construction: Its name.
        program: The Program as constructed.
        layout: Where its channels lie after all passes.
        features: Its position features.
        cost: What the network will cost.
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
    """What is to be lowered, and what it may cost.

    Attributes:
        name: The construction.
        build: Its Program for a length.
        length: T.
        options: Number format and form.
        most: Parameters that its networks may have.
        refusal: What to say with the number that it needs, if it is more.
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
    program = yield from _allowed(request, request.build(request.length))
    _check_pairs(program)
    if request.options.uniform:
        _check_same(program, (yield from request.build(2 * request.length)))
    # Paths run through the values of a sum, which the sine is there to avoid.
    merges = (0,) if request.options.activation == "sine" else MERGES
    every = [replace(request.options, most_paths=most) for most in merges]
    if request.options.strict:
        return [_parted(request, program, [options]) for options in every]
    return [_parted(request, program, every)]


def _check_pairs(program: Program) -> None:
    """What no proof is long enough for is not laid out.

    Raises:
        CompileError: If a head has more scores than a proof looks at.
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
            "its Program depends on the length, so that its weights do; leave --uniform "
            "out"
        )


def _parted(request: Request, program: Program, every: list[Options]) -> "Branch[Plan]":
    """The schedules of a Program that differ; all options lead to one optimised form."""
    optimised = optimise(program, every[0])
    yield _checked(request, unplaced(optimised, features_of(optimised, every[0])))
    parts: list[Branch[Plan]] = []
    seen: list[object] = []
    for options in every:
        plan = scheduled(optimised, options)
        if plan.born not in seen:
            seen.append(plan.born)
            parts.append(_priced(request, program, plan, options))
    return parts


def _priced(
    request: Request, program: Program, plan: Schedule, options: Options
) -> "Branch[Plan]":
    layout, features = placed(plan, options)
    steps = priced(layout, features, options.strict, options.activation)
    cost = yield from _allowed(request, steps)
    _checked(request, cost)
    return Plan(request.name, program, layout, features, cost, options)


def _allowed(request: Request, steps: Steps[Result]) -> Steps[Result]:
    """The same steps, up to where a network would be too large."""
    while True:
        try:
            bound = next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
        layers = max(bound.layers, bound.depth)
        sizes = bound.depth, layers, bound.parameters, bound.flops_per_token
        least = latency(*sizes, request.length)
        yield _checked(
            request, replace(bound, layers=layers, latency=max(least, bound.latency))
        )


def _checked(request: Request, bound: Bound) -> Bound:
    if bound.parameters > request.most:
        raise CompileError(request.refusal.format(f"{bound.parameters:.1e}"))
    return bound
