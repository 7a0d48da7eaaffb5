"""Compiling machines to pruned networks."""

from collections.abc import Iterable
from dataclasses import replace

from krohn.algebra.automaton import Automaton
from krohn.architectures.pruned import build, build_masks, build_transformer
from krohn.compile_options import CompileOptions
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.machine_compilation import best_network


def recurrent_networks(
    machine: Automaton, asked: CompileOptions
) -> Iterable[CompiledNetwork]:
    """The RNNs of a machine, the smallest first."""
    chosen = _choice(asked)
    if chosen.fixed != "left":
        raise CompileError("fixed is for --arch transformer; an RNN has ReLUs between")
    return build.networks(machine, asked.options.precision, chosen)


def transformers(
    machine: Automaton, asked: CompileOptions
) -> Iterable[CompiledNetwork]:
    """The Transformers of a machine, with the fewest random numbers first."""
    if asked.disguise is not None:
        raise CompileError("a pruned network is no disguised one; leave --disguise out")
    plain = best_network(machine, replace(asked, construction="auto", strict=True))
    return build_transformer.networks(plain, asked.options.precision, _choice(asked))


def _choice(asked: CompileOptions) -> build_masks.Choice:
    chosen = build_masks.choice(asked.construction)
    assert chosen is not None
    return chosen
