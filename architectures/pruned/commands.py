"""Compiling machines to pruned RNNs."""

from collections.abc import Iterable

from krohn.algebra.automaton import Automaton
from krohn.architectures.pruned import build
from krohn.compile_options import CompileOptions
from krohn.compiler.compiled_network import CompiledNetwork


def networks(machine: Automaton, asked: CompileOptions) -> Iterable[CompiledNetwork]:
    """The networks of a machine, the smallest first."""
    chosen = build.choice(asked.construction)
    assert chosen is not None
    return build.networks(machine, asked.options.precision, chosen)
