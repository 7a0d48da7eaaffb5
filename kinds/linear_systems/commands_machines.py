"""The gated ReLU RNN of a machine, taken as a linear system."""

from krohn.algebra.automaton import Automaton
from krohn.compile_options import CompileOptions
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.kinds.linear_systems.build_gated import GATED, gated_network
from krohn.source_kinds import KINDS


def networks(machine: Automaton, asked: CompileOptions) -> list[CompiledNetwork]:
    """The network of a machine.

    Raises:
        CompileError: If outputs are to be shown.
    """
    if machine.output is not None:
        raise CompileError("'gated' says states, not outputs; leave --construction out")
    system = KINDS["linear-system"].of_source(machine)
    network = gated_network(system, asked.options.precision)
    return [CompiledNetwork(GATED, network, {}, None)]
