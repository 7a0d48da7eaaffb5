"""Compiling machines to recurrent networks."""

from krohn.algebra.automaton import Automaton
from krohn.architectures.recurrent.build import compile_rnn
from krohn.compile_options import CompileOptions
from krohn.compiler.compiled_network import CompiledNetwork


def networks(machine: Automaton, asked: CompileOptions) -> list[CompiledNetwork]:
    """The network of a machine."""
    return [compile_rnn(machine, asked.options.precision, asked.arch)]
