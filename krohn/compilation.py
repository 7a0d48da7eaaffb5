"""Compiling with proof: no file is written that the checker does not accept."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, get_args

from krohn.algebra.automaton import Automaton
from krohn.algebra.budget import Budget, steps_of
from krohn.algebra.near_names import near
from krohn.certification import MachineClaim, Way, choose, planned, reasons
from krohn.compiled_model import CompiledModel, with_evidence
from krohn.compiler import gated_rnn, generator, pruned, state_space
from krohn.compiler.compiled_network import (
    RECURRENT,
    CompiledNetwork,
    Tried,
    compile_rnn,
    compile_ssm,
)
from krohn.compiler.construction_choice.known_constructions import SEARCHING
from krohn.compiler.construction_choice.planning import planning
from krohn.compiler.errors import CompileError
from krohn.compiler.pipeline import Observer, Options
from krohn.machines import machine_of
from krohn.network.precision import PRECISIONS, Precision
from krohn.option_rules import (
    FORM,
    TRANSFORMER,
    Architecture,
    check_within,
    given_of,
    refuse,
    refuse_others,
)
from krohn.option_values import format_name, whole
from krohn.source_kinds import ENTRIES, KINDS, in_blocks, named
from krohn.source_kinds.base import How, SourceKind

AS_SOURCES = {e.of_machines: wire for wire, e in ENTRIES.items() if e.of_machines}
"""By construction the kind of source that it takes a machine for."""
POSITIONS = ("dyadic", "circle")
ACTIVATIONS = ("relu", "sine", "gelu")
"""What tables of whole numbers can be made of."""


def compile(  # noqa: A001  (the verb of the trade, and of the command)
    machine: object,
    length: int | None = None,
    construction: str = "auto",
    *,
    arch: Architecture = "transformer",
    dtype: object = None,
    start: str | None = None,
    strict: bool = False,
    activation: str = "relu",
    attention: str | None = None,
    uniform: bool = False,
    positions: str = "dyadic",
    minimise: str | None = None,
    observation: str | None = None,
    block: int | None = None,
    effort: str | float = "normal",
    within: float | None = None,
    proved: bool = True,
    observe: Observer | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> CompiledModel:
    """Derive a network that computes a machine, and prove that it does.

    Args:
        machine: Anything that `krohn.automaton` takes, or names it; or another source, as
            `krohn.program.chain_of_thought.ChainOfThought` or a fitted object of hmmlearn,
            or its name (``EditDistance6,7``).
        length: The longest word (T); required for a Transformer.
        construction: A name of ``CONSTRUCTIONS`` or ``ON_REQUEST`` in
            `krohn.compiler.construction_choice.known_constructions`; ``"auto"`` takes the
            best one that can be proved.
        arch: ``"transformer"``; or ``"rnn"``, ``"lstm"`` or ``"gru"``: of machines, for
            words of every length; or ``"ssm"``, a diagonal state space model, for words
            of every length or up to one (docs/state-space-models.md).
        dtype: The number format it is stored and run in, by name or as a dtype of torch or
            numpy. If none is given, float32; for linear systems float64; for hidden
            Markov models the first of these two in which a network is proved.
        start: The start state by name; None for the machine's own.
        strict: Plain residuals and one hidden layer in every MLP.
        activation: ``"relu"``; or ``"sine"``, with which counters read their sums from
            a circle, so that no width grows with the length; or ``"gelu"``: all hidden
            units are GeLUs, as in GPT-2.
        attention: Of the heads of a chain of thought: ``"standard"`` if none is given,
            ``"linear"`` or ``"sparse"`` (Yang et al. 2024).
        uniform: Memories and look-backs by weights that are those of every length; only
            the position table grows with it.
        positions: How look-backs tell positions apart: ``"dyadic"``, by angles 2πt/2^k,
            or ``"circle"``, by one angle 2πt/N (Proposition 2), in 2 dimensions.
        minimise: What is chosen by: a key of
            `krohn.compiler.construction_choice.objectives.OBJECTIVES`. None: the compromise
            for ``"auto"``, else the depth.
        observation: What the network says instead of the state: a name of
            `krohn.algebra.observation.OBSERVATIONS`, or ``"outputs"`` for the machine's
            own.
        block: Write the state into the text after so many letters, and read it back: the
            depth is that of a block (docs/soundness.md, 2.6).
        effort: How much each search may do: a key of `krohn.algebra.budget.EFFORTS`,
            or steps.
        within: How far an output of a hidden Markov model's network may be off.
        proved: Whether to prove it; without, nothing is known about the result.
        observe: Called after every compiler pass with its name and the Program.
        progress: Called by the proof with steps done and in all.

    Raises:
        KrohnError: If it cannot be compiled or cannot be proved.
    """
    values = dict(locals())
    _check_one_of("--arch", arch, get_args(Architecture))
    check_within(within)
    began = time.monotonic()
    other = named(machine)
    if block is not None:
        told_of = other[1] if other else machine_of(machine, start)
        other = in_blocks(told_of, block)
    elif other is None and construction in AS_SOURCES:
        kind = KINDS[AS_SOURCES[construction]]
        other = kind, kind.of_source(machine_of(machine))
    formats = formats_of(dtype, other[0] if other else None)
    how, dtype = How(construction, arch, attention, within, formats), formats[0]
    options = options_of(dtype, strict, activation, uniform, positions)
    if other is not None:
        kind, told = other
        refuse_others(_given(values), kind.takes, kind.called)
        refuse([FORM], values, _given(values))
        return kind.compile(told, length, options, proved, progress, how)
    _check_options(values)
    if within is not None:
        raise CompileError("--within is for beliefs; the states of a machine are exact")
    source = machine_of(machine, start, observation)
    shown = source if observation else replace(source, output=None)
    budget = Budget(steps_of(effort))
    claim = MachineClaim(source, length, options.precision, observation is not None)
    ways = _ways(shown, length, construction, arch, options, minimise, observe, budget)
    choice = choose(ways, partial(claim.proved, progress=progress), lambda _: proved)
    if choice.way is None:
        try_next = _other(source.name, arch, construction)
        raise _uncertified(source.name, length, try_next, dtype, choice.tried)
    file, proof = choice.found or (claim.file(choice.way.make()), None)
    if arch == "transformer" and construction in ("auto", *SEARCHING):
        file.header["search"] = budget.record()
    file, seconds = with_evidence(file, proof), time.monotonic() - began
    name = str(file.header["construction"])
    return CompiledModel(file, name, proof, seconds, choice.tried)


def _other(name: str, arch: str, construction: str) -> str:
    """What to try where a network cannot be proved."""
    ways = {
        "transformer": "a shorter length, or another construction",
        "ssm": f"a shorter length (`krohn explain {name} --arch ssm` says the longest)",
    }
    said = pruned.choice(construction)
    units = said is not None and said.units is not None
    return "more units" if units else ways.get(arch, "fewer states")


def _uncertified(
    name: str, length: int | None, other: str, dtype: str, tried: Sequence[Tried]
) -> CompileError:
    """No network could be proved: why, and what to try."""
    at = "" if length is None else f" at length {length}"
    # A wider format has no fewer scores, rows or cases to look at.
    noisy = not all("too many" in each.reason for each in tried)
    wider = "--dtype float64, " if noisy and dtype != "float64" else ""
    return CompileError(
        f"{name} cannot be certified in {dtype}{at}, so nothing was written "
        f"({reasons(tried)}). Try {wider}{other}"
    )


def _check_options(values: Mapping[str, Any]) -> None:
    """Refuse values that there are not, and options that others leave without effect.

    Args:
        values: All arguments of `compile`, by name.
    """
    refuse(TRANSFORMER, values, _given(values))
    if values["attention"] is not None:
        raise CompileError("--attention is for chains of thought; this is a machine")
    if values["construction"] == generator.NAME:
        raise CompileError(
            "a balanced generator says laws instead of states; make it with "
            "krohn.compile_generator"
        )


def _given(values: Mapping[str, Any]) -> list[str]:
    """The options that are not as they are by default."""
    return given_of(compile, values)


def _check_one_of(option: str, value: object, known: Collection[str]) -> None:
    if value not in known:
        raise CompileError(
            f"{option} takes {' or '.join(known)}, not {value!r}{near(str(value), known)}"
        )


def formats_of(dtype: object, kind: SourceKind[Any] | None) -> tuple[str, ...]:
    """The number formats to try, by name: that which is asked for, or those of a kind.

    Args:
        dtype: The name or the dtype of torch or numpy; None if none is asked for.
        kind: Of the source; None of a machine.

    Raises:
        KrohnError: If there is no such format.
    """
    if dtype is not None:
        return (format_name(dtype),)
    return ("float32",) if kind is None else kind.formats


def precision_of(dtype: object) -> Precision:
    """The number format of a name, or of a dtype of torch or numpy.

    Raises:
        KrohnError: If there is none.
    """
    return PRECISIONS[format_name(dtype)]


def options_of(
    dtype: object,
    strict: bool,
    activation: str,
    uniform: bool = False,
    positions: str = "dyadic",
) -> Options:
    """How to lower, from the names that users give.

    Raises:
        CompileError: If there is no such format, activation or code of positions, or two
            forms exclude each other.
    """
    _check_one_of("--activation", activation, ACTIVATIONS)
    _check_one_of("--positions", positions, POSITIONS)
    circle = positions == "circle"
    return Options(precision_of(dtype), strict, activation, uniform, circle)


def _ways(
    machine: Automaton,
    length: int | None,
    construction: str,
    arch: Architecture,
    options: Options,
    minimise: str | None,
    observe: Observer | None,
    budget: Budget,
) -> Iterator[Way[CompiledNetwork]]:
    """The networks to try to prove, best first.

    Raises:
        CompileError: If there is none.
    """
    if arch != "rnn" and pruned.choice(construction) is not None:
        raise CompileError(f"{pruned.NAME} is for --arch rnn, not --arch {arch}")
    if arch != "transformer":
        for built in _without_planning(machine, length, construction, arch, options):
            yield Way(built.construction, built.cost, partial(_made, built))
        return
    longest = length_given(length, "a Transformer needs the longest length")
    known = planning(machine, longest, options, construction, budget)
    way = None
    for way in planned(known, minimise, observe):
        yield way
    if way is None:
        raise CompileError(known.reasons())


def _made(built: CompiledNetwork) -> CompiledNetwork:
    return built


def _without_planning(
    machine: Automaton,
    length: int | None,
    construction: str,
    arch: Architecture,
    options: Options,
) -> Iterable[CompiledNetwork]:
    """The networks of an architecture that has one construction at a time."""
    chosen = pruned.choice(construction)
    if chosen is not None:
        return pruned.networks(machine, options.precision, chosen)
    if arch == "ssm":
        return [_state_space(machine, length, construction, options.precision)]
    return [_recurrent(machine, construction, options.precision, arch)]


def _recurrent(
    machine: Automaton, construction: str, precision: Precision, arch: str
) -> CompiledNetwork:
    """A recurrent network of a machine."""
    known, _ = RECURRENT[arch]
    if construction in ("auto", known):
        return compile_rnn(machine, precision, arch)
    if arch != "rnn":
        raise CompileError(
            f"an {arch.upper()} is built by {known!r}, not by {construction!r}; leave "
            "--construction out"
        )
    if construction != gated_rnn.NAME:
        raise CompileError(
            f"an RNN is built by 'elman', 'gated' or 'pruned', not by {construction!r}; "
            "leave --construction out"
        )
    if machine.output is not None:
        raise CompileError("'gated' says states, not outputs; leave --construction out")
    network = gated_rnn.gated_network(
        KINDS["linear-system"].of_source(machine), precision
    )
    return CompiledNetwork(gated_rnn.NAME, network, {}, None)


def _state_space(
    machine: Automaton, length: int | None, construction: str, precision: Precision
) -> CompiledNetwork:
    """A diagonal state space model of a machine."""
    form = state_space.ROUNDING if construction == "auto" else construction
    _check_one_of("--construction", form, state_space.FORMS)
    if length is not None:
        length_given(length, "a state space model needs the longest length")
    return compile_ssm(machine, length, form, precision)


def length_given(length: int | None, needs: str) -> int:
    """The longest word that a network is for, which must be said.

    Raises:
        CompileError: If it was not, or makes no sense.
    """
    if length is None:
        raise CompileError(f"{needs} it is for (-T)")
    return whole(length, "the length", 1)
