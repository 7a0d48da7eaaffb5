"""From a plan to the network, with all that its model file states."""

from dataclasses import dataclass

from krohn.algebra.automaton import Automaton
from krohn.compiler import CompileError
from krohn.compiler.cost import Bound, Cost, Steps, predict
from krohn.compiler.machine_programs import least
from krohn.compiler.passes import Observer
from krohn.compiler.pipeline import Options, arrange, optimise
from krohn.compiler.planning import Planning, plans
from krohn.compiler.search import (
    COMPROMISE,
    MOST_PARAMETERS,
    Plan,
    Request,
    Search,
    branch,
)
from krohn.compiler.transformer import Network, describe, lower
from krohn.program import Program

PROGRAM = "program"
"""The construction's name of a network that was made from none."""


@dataclass(frozen=True)
class Tried:
    """A way to build a network of which nothing could be shown.

    Attributes:
        construction: The name of the construction.
        cost: Predicted sizes; None if there are none.
        reason: Why nothing could be shown.
        dtype: The number format; empty where the reason holds in every one, or only one
            was asked for.
    """

    construction: str
    cost: Cost | None
    reason: str
    dtype: str = ""

    @property
    def label(self) -> str:
        """The construction, and the format if that matters."""
        return self.construction + (f" in {self.dtype}" if self.dtype else "")


@dataclass(frozen=True)
class CompiledNetwork:
    """A network with everything that the model file states about it, but the evidence.

    Attributes:
        construction: The name of the construction.
        network: Architecture and tensors.
        program: The Program's channels and places; empty for an RNN.
        cost: Predicted sizes; None for an RNN.
        tried: What was tried before it.
    """

    construction: str
    network: Network
    program: dict[str, object]
    cost: Cost | None
    tried: tuple[Tried, ...] = ()


def compile_transformer(
    machine: Automaton,
    length: int,
    construction: str,
    options: Options,
) -> CompiledNetwork:
    """A Transformer for words up to ``length``.

    Args:
        machine: The machine to compute, from its start state: its outputs if it has any,
            else its states.
        length: T.
        construction: A name in `CONSTRUCTIONS` or `ON_REQUEST`.
        options: Number format and form.

    Raises:
        CompileError: If that cannot be done; the message says what to do.
    """
    return realise(plans(construction, machine, length, options)[0])


def compile_program(program: Program, options: Options) -> CompiledNetwork:
    """A Transformer for a Program that was not made from a machine.

    Args:
        program: Its channels need no domains yet.
        options: Number format and form.

    Raises:
        CompileError: If it cannot be lowered, or is too large to be proved in minutes;
            the message says which channel.
    """

    def build(length: int) -> Steps[Program]:
        yield Bound()
        return program

    arguments = PROGRAM, build, program.length, options, MOST_PARAMETERS, "it", ""
    request = Request(*arguments, proved=True)
    search = Search.of([(PROGRAM, branch(request), Bound())])
    known = Planning((PROGRAM,), search, PROGRAM)
    best = next(known.best_first(COMPROMISE), None)
    if best is None:
        raise CompileError(known.reasons())
    return realise(best)


def as_written(name: str, program: Program, options: Options) -> CompiledNetwork:
    """A Transformer for a Program that is lowered in one way, without any search.

    Args:
        name: What the construction is called.
        program: Its channels need no domains yet.
        options: Number format and form.

    Raises:
        CompileError: If it cannot be lowered; the message says which channel.
    """
    layout, features = arrange(optimise(program, options), options)
    cost = predict(layout, features, options.strict, options.activation)
    return realise(Plan(name, program, layout, features, cost, options))


def realise(plan: Plan, on_pass: Observer | None = None) -> CompiledNetwork:
    """The network of a plan.

    Args:
        plan: A way to lower a construction.
        on_pass: Called after every pass with its name and the Program.
    """
    if on_pass is not None:
        optimise(plan.program, plan.options, on_pass)
    options = plan.options
    network = lower(
        plan.layout,
        plan.features,
        options.strict,
        options.activation,
        sparse=options.sparse,
    )
    described = describe(plan.layout, network)
    return CompiledNetwork(plan.construction, network, described, plan.cost)


def machine_of_states(machine: Automaton) -> Automaton:
    """The machine whose states a recurrent network has: the least with the same outputs."""
    return machine if machine.output is None else least(machine)
