"""Compiling with proof, and explaining.

No file is written that the checker does not accept.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from krohn.algebra.errors import KrohnError
from krohn.compile_options import (
    CompileKeywords,
    CompileOptions,
    ExplainKeywords,
    check_one_of,
)
from krohn.compiled_model import CompiledModel
from krohn.machines import MODEL
from krohn.network import modelfile
from krohn.network.precision import one_thread
from krohn.option_rules import (
    architectures,
    explained_architectures,
)
from krohn.source_kinds import describe, with_kind

if TYPE_CHECKING:
    from krohn.explanation_result import Explanation
    from krohn.source_kinds.kind import Kind


def compile(  # noqa: A001  (the verb of the trade, and of the command)
    source: object,
    length: int | None = None,
    construction: str = "auto",
    **options: Unpack[CompileKeywords],
) -> CompiledModel:
    """Derive a network that computes a machine, and prove that it does.

    Args:
        source: Anything that `krohn.automaton` takes, or names it; or another source, as
            a `ChainOfThought` or a fitted object of hmmlearn,
            or its name (``EditDistance6,7``).
        length: The longest word (T); required for a Transformer.
        construction: A name of ``CONSTRUCTIONS`` or ``ON_REQUEST`` in
            `krohn.compiler.constructions.registry`; ``"auto"`` takes the
            best one that can be proved.
        **options: What kind of network, by the names in
            `krohn.compile_options.CompileOptions`, and how the machine is read, by those
            in `krohn.machine_reading.MachineReading`.

    Raises:
        KrohnError: If it cannot be compiled or cannot be proved.

    Examples:
        >>> model = krohn.compile("FlipFlop", 8)
        >>> model
        <CompiledModel FlipFlop: memory, T = 8, 1 layer, verified>
        >>> model.save("flipflop.safetensors")
    """
    asked = CompileOptions(length, construction, **options)
    check_one_of("--arch", asked.arch, architectures())
    with one_thread():
        kind, resolved_source, asked = _resolve_source(source, asked)
        return kind.compile(resolved_source, asked)


def explain(
    source: object,
    length: int | None = None,
    dtype: object = None,
    **options: Unpack[ExplainKeywords],
) -> "Explanation":
    """The facts about a machine and the table of its constructions.

    Args:
        source: Anything that `krohn.automaton` takes, as what `krohn.compile` returns; or
            another source, or its name.
        length: T; if nothing is said, the length of a compiled model or of its file, and
            128 of all else.
        dtype: The number format of the networks; if nothing is said, that of
            `krohn.compile`.
        **options: As `krohn.compile` has them: what kind of networks, how it is read.
            ``arch`` is ``"transformer"``; or ``"ssm"`` for the forms of diagonal state
            space models and their lengths in each format, as
            `krohn.architectures.state_space.commands.forms` returns them, and no more; or
            another one whose slice says facts of a machine's networks.

    Returns:
        A dict that prints as the command does. Of another source the facts that its kind
        knows; ``proved`` is null where its network was not tried. Of a machine: ``states``,
        ``letters`` (counts), ``constructions`` (those that apply, best first, with their
        cost), ``unavailable`` (the others, with the reason),
        ``chosen`` and ``why``; ``proved`` (whether the chosen one is; null if that was
        not tried) and ``tried`` (what was tried before it and is not proved, with the
        reason), as `krohn.compile` says; ``properties`` (name, whether it holds or null,
        why, and a witness), ``aperiodic``, ``solvable``, ``groups``, ``monoid_size`` (of
        S¹, null if unknown), ``monoid_at_least``, ``semigroup_size`` (of T(A)), of all
        states, reachable or not; ``language``: what its language is called (see
        `krohn.machine_facts.language`); ``depth``: what follows for networks, from the
        reachable part alone; ``effort`` (steps, null if unlimited) and ``cut_short``,
        what was left out for that; and further facts.

    Raises:
        KrohnError: If the machine cannot be read, or an option has no effect on it.

    Examples:
        >>> krohn.explain("C2", 8)["chosen"]
        'counter'
    """
    from krohn.explanation_result import Explanation

    asked = CompileOptions(length, dtype=dtype, **options)
    check_one_of("--arch", asked.arch, explained_architectures())
    if length is None and asked.arch == "transformer":
        asked = replace(asked, length=claimed_length(source))
    with one_thread():
        kind, resolved_source, asked = _resolve_source(source, asked)
        result = Explanation(kind.explain(resolved_source, asked))
    result.what, result.text = describe(source)
    return result


def claimed_length(source: object) -> int | None:
    """The longest word of a compiled model, or of the model file of a name; else None."""
    if isinstance(source, CompiledModel):
        return source.file.claim.length
    if not isinstance(source, str | Path) or Path(source).suffix not in MODEL:
        return None
    return modelfile.read(source).claim.length


def _resolve_source(
    source: object, asked: CompileOptions
) -> "tuple[Kind[Any], Any, CompileOptions]":
    """The source as it is compiled, with its kind and the number formats for it."""
    if asked.within is not None and not asked.within > 0:  # NaN is not, either
        raise KrohnError(f"--within takes a number above 0, not {asked.within:g}")
    kind, resolved_source = with_kind(source, asked)
    asked = asked.after_reading()
    kind, resolved_source = kind.resolve_source(resolved_source, asked)
    return kind, resolved_source, asked.of(kind.formats)
