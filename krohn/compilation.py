"""Compiling with proof: no file is written that the checker does not accept."""

from typing import Unpack, get_args

from krohn.asked import Asked, CompileKeywords, check_one_of
from krohn.compiled_model import CompiledModel
from krohn.network.precision import one_thread
from krohn.option_rules import Architecture, check_within
from krohn.source_kinds import with_kind


def compile(  # noqa: A001  (the verb of the trade, and of the command)
    machine: object,
    length: int | None = None,
    construction: str = "auto",
    **options: Unpack[CompileKeywords],
) -> CompiledModel:
    """Derive a network that computes a machine, and prove that it does.

    Args:
        machine: Anything that `krohn.automaton` takes, or names it; or another source, as
            `krohn.program.chain_of_thought.ChainOfThought` or a fitted object of hmmlearn,
            or its name (``EditDistance6,7``).
        length: The longest word (T); required for a Transformer.
        construction: A name of ``CONSTRUCTIONS`` or ``ON_REQUEST`` in
            `krohn.compiler.constructions.registry`; ``"auto"`` takes the
            best one that can be proved.
        **options: What kind of network, by the names in `krohn.asked.Asked`.

    Raises:
        KrohnError: If it cannot be compiled or cannot be proved.
    """
    asked = Asked(length, construction, **options)
    check_one_of("--arch", asked.arch, get_args(Architecture))
    check_within(asked.within)
    with one_thread():
        kind, source = with_kind(machine)
        kind, source = kind.turned(source, asked)
        return kind.compile(source, asked.of(kind.formats))
