"""Which constructions serve a machine, what each costs, and in which order to try them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from algebra.automaton import Automaton
from compiler.constructions import (
    cascade,
    corridor,
    counter,
    dyck,
    gridworld,
    memory,
    product,
    scan,
    sequential,
    window,
)
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
from compiler.heads import Positions
from compiler.observed import forms, least, observed
from compiler.pipeline import Observer, Options, arrange, optimise
from compiler.program import Program
from compiler.rnn import elman
from compiler.schedule import Layout
from compiler.transformer import Network, describe, lower
from network.precision import Precision

Construction = Callable[[Automaton, int], Program]

CONSTRUCTIONS: dict[str, Construction] = {
    memory.NAME: memory.memory,
    window.NAME: window.window,
    counter.NAME: counter.counter,
    product.NAME: product.product,
    gridworld.NAME: gridworld.gridworld,
    corridor.NAME: corridor.corridor,
    dyck.NAME: dyck.dyck,
    cascade.NAME: cascade.cascade,
    scan.NAME: scan.scan,
    sequential.NAME: sequential.sequential,
}
# Depth bought with heads and look-ups between them: only for those who ask for it.
ON_REQUEST: dict[str, Construction] = {
    f"{scan.NAME}{radix}": partial(scan.scan, radix=radix) for radix in (3, 5, 10)
}
# What the thesis builds, to compare with.
ON_REQUEST |= {
    semidirect.NAME: semidirect.semidirect,
    semidirect.CAR: semidirect.car,
    wreath.NAME: wreath.wreath,
    series.NAME: series.series,
    permutation_reset.NAME: permutation_reset.permutation_reset,
    krohn_rhodes.NAME: krohn_rhodes.krohn_rhodes,
    chunked.CHUNKED: chunked.chunked,
    chunked.MEMORISING: chunked.memorising,
}
SUMMARIES = {
    m.NAME: m.SUMMARY
    for m in (
        memory,
        window,
        counter,
        product,
        gridworld,
        corridor,
        dyck,
        cascade,
        scan,
        sequential,
    )
}


# What each objective compares, most important first.
OBJECTIVES: dict[str, tuple[str, ...]] = {
    "depth": ("depth", "parameters"),
    "width": ("width", "parameters"),
    "parameters": ("parameters", "depth"),
    "latency": ("layers", "flops_per_token"),
}

LARGEST_PARAMETERS = 500_000_000
LONGEST_SEQUENTIAL = 1024


@dataclass(frozen=True)
class Candidate:
    """A construction tried on a machine.

    Attributes:
        name: The construction.
        cost: What it would cost; None if it does not apply.
        reason: Why it does not apply; empty if it does.
    """

    name: str
    cost: Cost | None
    reason: str = ""


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
    machine: Automaton, length: int, options: Options, minimise: str = "depth"
) -> list[Candidate]:
    """Every construction with its cost, best first; those that do not apply come last.

    Args:
        machine: What is to be computed: its outputs if it has any, else its states.
        length: T.
        options: Number format and form.
        minimise: A key of `OBJECTIVES`: ``depth`` (attention layers), ``width`` (the
            wider of residual stream and MLP), ``parameters``, or ``latency`` (blocks one
            after the other).

    Raises:
        CompileError: If there is no such objective.
    """
    _check_objective(minimise)
    found = [_try(name, machine, length, options, minimise) for name in CONSTRUCTIONS]
    return sorted(found, key=partial(_preference, minimise))


def _try(
    name: str, machine: Automaton, length: int, options: Options, minimise: str
) -> Candidate:
    try:
        cost = _best(name, machine, length, options, minimise).cost
    except CompileError as error:
        return Candidate(name, None, str(error))
    if cost.parameters > LARGEST_PARAMETERS:
        return Candidate(name, None, f"it would have {cost.parameters:.1e} parameters")
    return Candidate(name, cost)


@dataclass(frozen=True)
class _Planned:
    """A Program laid out, with what it costs."""

    program: Program
    layout: Layout
    features: Positions
    cost: Cost


def _best(
    name: str, machine: Automaton, length: int, options: Options, minimise: str
) -> _Planned:
    """The construction on the machine, or on its quotient where that is better.

    Raises:
        CompileError: If it serves neither.
    """
    found: list[_Planned] = []
    reasons: list[CompileError] = []
    for form in forms(machine):
        try:
            program = construct(name, form, length)
            layout, features = arrange(optimise(program, options), options)
        except CompileError as error:
            reasons.append(error)
            continue
        cost = predict(layout, features, options.strict, options.sine)
        found.append(_Planned(program, layout, features, cost))
    if not found:
        raise reasons[0]
    return min(found, key=lambda planned: _sizes(planned.cost, minimise))


def _sizes(cost: Cost, minimise: str) -> tuple[float, ...]:
    return tuple(getattr(cost, name) for name in OBJECTIVES[minimise])


def _check_objective(minimise: str) -> None:
    if minimise not in OBJECTIVES:
        raise CompileError(
            f"--minimise takes {', '.join(OBJECTIVES)}, not {minimise!r}"
        )


def _preference(minimise: str, candidate: Candidate) -> tuple[float | str, ...]:
    if candidate.cost is None:
        return (float("inf"), float("inf"), candidate.name)
    return (*_sizes(candidate.cost, minimise), candidate.name)


def construct(name: str, machine: Automaton, length: int) -> Program:
    """The Program of a construction, for the outputs of the machine if it has any.

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
    program = known[name](machine, length)
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
    _check_objective(minimise)
    best = _best(construction, machine, length, options, minimise)
    layout, features, cost = best.layout, best.features, best.cost
    if cost.parameters > LARGEST_PARAMETERS:
        raise CompileError(
            f"{construction} would need {cost.parameters:.1e} parameters for "
            f"{machine.name} at length {length}; `krohn explain` shows what else applies"
        )
    if observe is not None:
        optimise(best.program, options, observe)
    network = lower(layout, features, options.strict, options.sine)
    return Compiled(construction, network, describe(layout, network), cost)


def compile_rnn(machine: Automaton, precision: Precision) -> Compiled:
    """The exact ReLU RNN of a machine; it has no longest word."""
    return Compiled("elman", elman(least(machine), precision), {}, None)
