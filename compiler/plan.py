"""Which constructions serve a machine, what each costs, and in which order to try them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from algebra.automaton import Automaton
from compiler.constructions import (
    cascade,
    counter,
    dyck,
    gridworld,
    memory,
    product,
    scan,
    sequential,
)
from compiler.cost import Cost, predict
from compiler.errors import CompileError
from compiler.pipeline import Observer, Options, arrange, optimise
from compiler.program import Program
from compiler.rnn import elman
from compiler.transformer import Network, describe, lower
from network.precision import Precision

Construction = Callable[[Automaton, int], Program]

CONSTRUCTIONS: dict[str, Construction] = {
    memory.NAME: memory.memory,
    counter.NAME: counter.counter,
    product.NAME: product.product,
    gridworld.NAME: gridworld.gridworld,
    dyck.NAME: dyck.dyck,
    cascade.NAME: cascade.cascade,
    scan.NAME: scan.scan,
    sequential.NAME: sequential.sequential,
}
# Depth bought with heads and look-ups between them: only for those who ask for it.
ON_REQUEST: dict[str, Construction] = {
    f"{scan.NAME}{radix}": partial(scan.scan, radix=radix) for radix in (3, 5, 10)
}
SUMMARIES = {
    m.NAME: m.SUMMARY
    for m in (memory, counter, product, gridworld, dyck, cascade, scan, sequential)
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
        machine: What is to be computed.
        length: T.
        options: Number format and form.
        minimise: A key of `OBJECTIVES`: ``depth`` (attention layers), ``width`` (the
            wider of residual stream and MLP), ``parameters``, or ``latency`` (blocks one
            after the other).

    Raises:
        CompileError: If there is no such objective.
    """
    if minimise not in OBJECTIVES:
        raise CompileError(
            f"--minimise takes {', '.join(OBJECTIVES)}, not {minimise!r}"
        )
    found = [_try(name, machine, length, options) for name in CONSTRUCTIONS]
    return sorted(found, key=partial(_preference, minimise))


def _try(name: str, machine: Automaton, length: int, options: Options) -> Candidate:
    try:
        program = construct(name, machine, length)
        layout, features = arrange(optimise(program, options), options)
    except CompileError as error:
        return Candidate(name, None, str(error))
    cost = predict(layout, features, options.strict, options.sine)
    if cost.parameters > LARGEST_PARAMETERS:
        return Candidate(name, None, f"it would have {cost.parameters:.1e} parameters")
    return Candidate(name, cost)


def _preference(minimise: str, candidate: Candidate) -> tuple[float | str, ...]:
    if candidate.cost is None:
        return (float("inf"), float("inf"), candidate.name)
    sizes = (getattr(candidate.cost, name) for name in OBJECTIVES[minimise])
    return (*sizes, candidate.name)


def construct(name: str, machine: Automaton, length: int) -> Program:
    """The Program of a construction.

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
    return known[name](machine, length)


def compile_transformer(
    machine: Automaton,
    length: int,
    construction: str,
    options: Options,
    observe: Observer | None = None,
) -> Compiled:
    """A Transformer for words up to ``length``.

    Args:
        machine: What it must compute, from its start state.
        length: T.
        construction: A name in `CONSTRUCTIONS` or `ON_REQUEST`.
        options: Number format and form.
        observe: Called after every pass with its name and the Program.

    Raises:
        CompileError: If that cannot be done; the message says what can.
    """
    program = construct(construction, machine, length)
    layout, features = arrange(optimise(program, options, observe), options)
    cost = predict(layout, features, options.strict, options.sine)
    if cost.parameters > LARGEST_PARAMETERS:
        raise CompileError(
            f"{construction} would need {cost.parameters:.1e} parameters for "
            f"{machine.name} at length {length}; `krohn explain` shows what else applies"
        )
    network = lower(layout, features, options.strict, options.sine)
    return Compiled(construction, network, describe(layout, network), cost)


def compile_rnn(machine: Automaton, precision: Precision) -> Compiled:
    """The exact ReLU RNN of a machine; it has no longest word."""
    return Compiled("elman", elman(machine, precision), {}, None)
