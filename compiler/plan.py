"""Which constructions serve a machine, what each costs, and in which order to try them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from algebra.automaton import Automaton
from algebra.budget import NORMAL, Budget
from compiler.bounds import Steps, finished
from compiler.constructions import (
    cascade,
    content,
    corridor,
    counter,
    definite,
    dyck,
    gridworld,
    memory,
    parity,
    parity_tree,
    product,
    scan,
    sequential,
    window,
)
from compiler.constructions.departures import construction as departures
from compiler.constructions.departures import piecewise
from compiler.constructions.thesis import (
    chunked,
    krohn_rhodes,
    permutation_reset,
    semidirect,
    series,
    wreath,
)
from compiler.cost import Cost, predict
from compiler.errors import CompileError
from compiler.features import Positions
from compiler.observed import forms, least, observed
from compiler.pipeline import Observer, Options, arrange, optimise
from compiler.program import Program
from compiler.rnn import elman
from compiler.schedule import Layout
from compiler.transformer import Network, describe, lower
from network.precision import Precision

# One that takes long to build yields bounds of its sizes first.
Construction = Callable[[Automaton, int], Program | Steps[Program]]
Searching = Callable[[Automaton, int, Budget], Program | Steps[Program]]

CONSTRUCTIONS: dict[str, Construction] = {
    memory.NAME: memory.memory,
    window.NAME: window.window,
    counter.NAME: counter.counter,
    parity.SELECTED: parity.selected,
    parity.NAME: parity.parity,
    parity_tree.NAME: parity_tree.parity_tree,
    product.NAME: product.product,
    gridworld.NAME: gridworld.gridworld,
    corridor.NAME: corridor.corridor,
    dyck.NAME: dyck.dyck,
    definite.NAME: definite.definite,
    content.NAME: content.content,
    piecewise.NAME: piecewise.piecewise,
    departures.NAME: departures.departures,
    cascade.NAME: cascade.cascade,
    semidirect.CAR: semidirect.car,
    wreath.NAME: wreath.wreath,
    scan.NAME: scan.scan,
    sequential.NAME: sequential.sequential,
}
# Depth bought with heads and look-ups between them: only for those who ask for it.
ON_REQUEST: dict[str, Construction] = {
    f"{scan.NAME}{radix}": partial(scan.scan, radix=radix) for radix in (3, 5, 10)
}
# What the thesis builds, to compare with.
ON_REQUEST |= {
    parity.TABLE: parity.by_table,
    semidirect.NAME: semidirect.semidirect,
    series.NAME: series.series,
    permutation_reset.NAME: permutation_reset.permutation_reset,
    krohn_rhodes.NAME: krohn_rhodes.krohn_rhodes,
    chunked.CHUNKED: chunked.chunked,
    chunked.MEMORISING: chunked.memorising,
}
# Those of them that search, and within what.
SEARCHING: dict[str, Searching] = {
    cascade.NAME: cascade.cascade,
    krohn_rhodes.NAME: krohn_rhodes.krohn_rhodes,
}
SUMMARIES = {
    m.NAME: m.SUMMARY
    for m in (
        memory,
        window,
        counter,
        parity,
        parity_tree,
        product,
        gridworld,
        corridor,
        dyck,
        definite,
        content,
        piecewise,
        departures,
        cascade,
        scan,
        sequential,
    )
} | {
    parity.SELECTED: parity.SELECTED_SUMMARY,
    semidirect.CAR: semidirect.SUMMARY,
    wreath.NAME: wreath.SUMMARY,
}


# What each objective compares, most important first.
OBJECTIVES: dict[str, tuple[str, ...]] = {
    "depth": ("depth", "layers", "parameters"),
    "width": ("width", "parameters"),
    "parameters": ("parameters", "depth"),
    "latency": ("layers", "flops_per_token"),
}

# At most so many paths decide tables of tables at once; 0: one after the other.
MERGES = (1024, 0)

MOST_PARAMETERS = 500_000_000
LONGEST_SEQUENTIAL = 1024


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
class Candidate:
    """A construction tried on a machine.

    Attributes:
        name: The construction.
        cost: What it would cost; None if it does not apply.
        reason: Why it does not apply; empty if it does.
        plans: How it can be lowered, best first; the cost is that of the first.
    """

    name: str
    cost: Cost | None
    reason: str = ""
    plans: tuple[Plan, ...] = ()


@dataclass(frozen=True)
class Compiled:
    """A network with everything that the model file states about it, but the evidence.

    Attributes:
        construction: The name of the construction.
        network: Architecture and tensors.
        program: The Program's channels and places; empty for an RNN.
        cost: Predicted sizes; None for an RNN.
    """

    construction: str
    network: Network
    program: dict[str, object]
    cost: Cost | None


def candidates(
    machine: Automaton,
    length: int,
    options: Options,
    minimise: str = "depth",
    budget: Budget | None = None,
) -> list[Candidate]:
    """Every construction with its cost, best first; those that do not apply come last.

    Args:
        machine: What is to be computed: its outputs if it has any, else its states.
        length: T.
        options: Number format and form.
        minimise: A key of `OBJECTIVES`: ``depth`` (attention layers), ``width`` (the
            wider of residual stream and MLP), ``parameters``, or ``latency`` (blocks one
            after the other).
        budget: How much work each search may do; it notes what they left out.

    Raises:
        CompileError: If there is no such objective.
    """
    found = [
        _candidate(name, machine, length, options, minimise, budget)
        for name in CONSTRUCTIONS
    ]
    return sorted(found, key=lambda c: _sizes(c.cost, minimise))


def _candidate(
    name: str,
    machine: Automaton,
    length: int,
    options: Options,
    minimise: str,
    budget: Budget | None,
) -> Candidate:
    _check_objective(minimise)
    try:
        found = plans(name, machine, length, options, minimise, budget)
    except CompileError as error:
        return Candidate(name, None, str(error))
    return Candidate(name, found[0].cost, plans=tuple(found))


def plans(
    name: str,
    machine: Automaton,
    length: int,
    options: Options,
    minimise: str = "depth",
    budget: Budget | None = None,
) -> list[Plan]:
    """The ways to lower a construction that differ in cost, best first.

    A machine with outputs can be replaced by its quotient, and tables of tables can be
    decided at once or one after the other.

    Raises:
        CompileError: If the construction does not serve the machine, or there is no such
            objective.
    """
    _check_objective(minimise)
    found: dict[Cost, Plan] = {}
    reasons: list[CompileError] = []
    for form in forms(machine):
        try:
            program = construct(name, form, length, budget)
            if options.uniform:
                _check_same(program, construct(name, form, 2 * length, budget))
            for plan in _lowerings(name, program, options):
                found.setdefault(plan.cost, plan)
        except CompileError as error:
            reasons.append(error)
    if not found:
        raise reasons[0]
    small = [plan for plan in found.values() if plan.cost.parameters <= MOST_PARAMETERS]
    if not small:
        least = min(plan.cost.parameters for plan in found.values())
        raise CompileError(
            f"{name} would need {least:.1e} parameters for {machine.name} at length "
            f"{length}; `krohn explain` shows what else applies"
        )
    return sorted(small, key=lambda plan: _sizes(plan.cost, minimise))


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


def _lowerings(name: str, program: Program, options: Options) -> Iterator[Plan]:
    # Paths run through the values of a sum, which the sine is there to avoid.
    for most_paths in (0,) if options.sine else MERGES:
        merged = replace(options, most_paths=most_paths)
        layout, features = arrange(optimise(program, merged), merged)
        cost = predict(layout, features, options.strict, options.sine)
        yield Plan(name, program, layout, features, cost, merged)


def _sizes(cost: Cost | None, minimise: str) -> tuple[float, ...]:
    if cost is None:
        return (float("inf"),)
    return tuple(getattr(cost, name) for name in OBJECTIVES[minimise])


def _check_objective(minimise: str) -> None:
    if minimise not in OBJECTIVES:
        raise CompileError(
            f"--minimise takes {', '.join(OBJECTIVES)}, not {minimise!r}"
        )


def construct(
    name: str, machine: Automaton, length: int, budget: Budget | None = None
) -> Program:
    """The Program of a construction, for the outputs of the machine if it has any.

    Args:
        name: A name in `CONSTRUCTIONS` or `ON_REQUEST`.
        machine: What is to be computed.
        length: T.
        budget: How much work each search may do; it notes what they left out.

    Raises:
        CompileError: If there is no such construction or it does not serve the machine.
    """
    known = CONSTRUCTIONS | ON_REQUEST
    if name not in known:
        raise CompileError(
            f"there is no construction {name!r}; there are auto, {', '.join(known)}"
        )
    if length < 1:
        raise CompileError("the length must be at least 1")
    if name == sequential.NAME and length > LONGEST_SEQUENTIAL:
        raise CompileError(
            f"the sequential construction needs a layer per letter; "
            f"choose a length up to {LONGEST_SEQUENTIAL} or another construction"
        )
    if name in SEARCHING:
        built = SEARCHING[name](machine, length, budget or Budget(NORMAL))
    else:
        built = known[name](machine, length)
    program = built if isinstance(built, Program) else finished(built)
    return program if machine.output is None else observed(program, machine)


def compile_transformer(
    machine: Automaton,
    length: int,
    construction: str,
    options: Options,
    observe: Observer | None = None,
    minimise: str = "depth",
) -> Compiled:
    """A Transformer for words up to ``length``.

    Args:
        machine: What it must compute, from its start state: its outputs if it has any,
            else its states.
        length: T.
        construction: A name in `CONSTRUCTIONS` or `ON_REQUEST`.
        options: Number format and form.
        observe: Called after every pass with its name and the Program.
        minimise: A key of `OBJECTIVES`, by which a machine with outputs is replaced by
            its quotient.

    Raises:
        CompileError: If that cannot be done; the message says what can.
    """
    best = plans(construction, machine, length, options, minimise)[0]
    return realise(best, observe)


def realise(plan: Plan, observe: Observer | None = None) -> Compiled:
    """The network of a plan.

    Args:
        plan: A way to lower a construction.
        observe: Called after every pass with its name and the Program.
    """
    if observe is not None:
        optimise(plan.program, plan.options, observe)
    strict, sine = plan.options.strict, plan.options.sine
    network = lower(plan.layout, plan.features, strict, sine)
    described = describe(plan.layout, network)
    return Compiled(plan.construction, network, described, plan.cost)


def compile_rnn(machine: Automaton, precision: Precision) -> Compiled:
    """The exact ReLU RNN of a machine; it has no longest word."""
    shown = machine if machine.output is None else least(machine)
    return Compiled("elman", elman(shown, precision), {}, None)
