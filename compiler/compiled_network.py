"""From a plan to the network, with all that its model file states."""

from dataclasses import dataclass

from algebra.automaton import Automaton
from compiler.construction_choice.planning import plans
from compiler.construction_choice.stages import Plan
from compiler.cost import Cost
from compiler.output_programs import least
from compiler.pipeline import Observer, Options, optimise
from compiler.rnn import elman
from compiler.transformer import Network, describe, lower
from network.precision import Precision


@dataclass(frozen=True)
class CompiledNetwork:
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


def compile_transformer(
    machine: Automaton,
    length: int,
    construction: str,
    options: Options,
    observe: Observer | None = None,
) -> CompiledNetwork:
    """A Transformer for words up to ``length``.

    Args:
        machine: What it must compute, from its start state: its outputs if it has any,
            else its states.
        length: T.
        construction: A name in `CONSTRUCTIONS` or `ON_REQUEST`.
        options: Number format and form.
        observe: Called after every pass with its name and the Program.

    Raises:
        CompileError: If that cannot be done; the message says what can.
    """
    return realise(plans(construction, machine, length, options)[0], observe)


def realise(plan: Plan, observe: Observer | None = None) -> CompiledNetwork:
    """The network of a plan.

    Args:
        plan: A way to lower a construction.
        observe: Called after every pass with its name and the Program.
    """
    if observe is not None:
        optimise(plan.program, plan.options, observe)
    strict, activation = plan.options.strict, plan.options.activation
    network = lower(plan.layout, plan.features, strict, activation)
    described = describe(plan.layout, network)
    return CompiledNetwork(plan.construction, network, described, plan.cost)


def compile_rnn(machine: Automaton, precision: Precision) -> CompiledNetwork:
    """The exact ReLU RNN of a machine; it has no longest word."""
    shown = machine if machine.output is None else least(machine)
    return CompiledNetwork("elman", elman(shown, precision), {}, None)
