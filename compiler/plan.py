"""Which constructions serve a machine, what each costs, and in which order to try them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
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
    "depth": ("depth", "layers", "parameters"),
    "width": ("width", "parameters"),
    "parameters": ("parameters", "depth"),
    "latency": ("layers", "flops_per_token"),
}

# Tables of tables, each in a block of its own, or at once if no more paths decide them.
FORMS = (1024, 0)

LARGEST_PARAMETERS = 500_000_000
LONGEST_SEQUENTIAL = 1024


@dataclass(frozen=True)
class Candidate:
    """A construction tried on a machine.

    Attributes:
        name: The construction.
        cost: What it would cost; None if it does not apply.
        reason: Why it does not apply; empty if it does.
        options: How it is to be lowered, best first; the cost is that of the first.
    """

    name: str
    cost: Cost | None
    reason: str = ""
    options: tuple[Options, ...] = ()


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
    found = [
        candidate(name, machine, length, options, minimise) for name in CONSTRUCTIONS
    ]
    return sorted(found, key=lambda c: _size(minimise, c.cost))


def candidate(
    name: str, machine: Automaton, length: int, options: Options, minimise: str
) -> Candidate:
    """One construction with its cost, in the form that suits the objective best.

    Raises:
        CompileError: If there is no such objective.
    """
    if minimise not in OBJECTIVES:
        raise CompileError(
            f"--minimise takes {', '.join(OBJECTIVES)}, not {minimise!r}"
        )
    try:
        costs = _costs(construct(name, machine, length), options)
    except CompileError as error:
        return Candidate(name, None, str(error))
    forms = sorted(costs, key=lambda cost: _size(minimise, cost))
    small = [cost for cost in forms if cost.parameters <= LARGEST_PARAMETERS]
    if not small:
        smallest = min(cost.parameters for cost in forms)
        return Candidate(name, None, f"it would have {smallest:.1e} parameters")
    return Candidate(name, small[0], options=tuple(costs[cost] for cost in small))


def _costs(program: Program, options: Options) -> dict[Cost, Options]:
    """What the forms of a Program would cost, equal ones once."""
    optimised = optimise(program, options)
    costs: dict[Cost, Options] = {}
    for most_paths in FORMS:
        form = replace(options, most_paths=most_paths)
        cost = predict(*arrange(optimised, form), form.strict)
        costs.setdefault(cost, form)
    return costs


def _size(minimise: str, cost: Cost | None) -> tuple[float, ...]:
    if cost is None:
        return (float("inf"),)
    return tuple(getattr(cost, name) for name in OBJECTIVES[minimise])


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
    cost = predict(layout, features, options.strict)
    if cost.parameters > LARGEST_PARAMETERS:
        raise CompileError(
            f"{construction} would need {cost.parameters:.1e} parameters for "
            f"{machine.name} at length {length}; `krohn explain` shows what else applies"
        )
    network = lower(layout, features, options.strict)
    return Compiled(construction, network, describe(layout, network), cost)


def compile_rnn(machine: Automaton, precision: Precision) -> Compiled:
    """The exact ReLU RNN of a machine; it has no longest word."""
    return Compiled("elman", elman(machine, precision), {}, None)
