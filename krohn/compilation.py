"""Compiling with proof, and explaining: both functions, and their options, declared once.

No file is written that the checker does not accept.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, Unpack

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import near
from krohn.compiled_model import CompiledModel
from krohn.compiler import CompileError
from krohn.compiler.passes import Observer
from krohn.machine_reading import MachineKeywords, MachineReading
from krohn.network.precision import PRECISIONS, one_thread
from krohn.option_rules import (
    architectures,
    explained_architectures,
    format_name,
    whole,
)
from krohn.source_kinds import with_kind

if TYPE_CHECKING:
    from krohn.compiled_model import CompiledModel
    from krohn.compiler.pipeline import Options
    from krohn.source_kinds.kind import Kind

POSITIONS = ("dyadic", "circle")
ACTIVATIONS = ("relu", "sine", "gelu")
"""The activations that tables of whole numbers can be made of."""


class NetworkKeywords(MachineKeywords, total=False):
    """The keywords of `krohn.explain` and `krohn.compile`; `Asked` says what they mean."""

    strict: bool
    keep: bool
    activation: str
    minimise: str | None
    block: int | None
    effort: str | float
    within: float | None
    norm: str


class ExplainKeywords(NetworkKeywords, total=False):
    """The keywords of `krohn.explain`."""

    arch: str


class CompileKeywords(NetworkKeywords, total=False):
    """The keywords of `krohn.compile`."""

    arch: str
    dtype: object
    attention: str | None
    uniform: bool
    positions: str
    disguise: str | None
    seed: int | None
    strength: float | None
    proof: bool
    on_pass: Observer | None
    progress: Callable[[int, int], None] | None


@dataclass(frozen=True)
class Asked(MachineReading):
    """The kind of network that is asked for, and how its machine is read.

    Attributes:
        length: The longest word (T); required for a Transformer.
        construction: A name of ``CONSTRUCTIONS`` or ``ON_REQUEST`` in
            `krohn.compiler.constructions.registry`; ``"auto"`` takes the
            best one that can be proved.
        arch: ``"transformer"``; or ``"rnn"``, ``"lstm"`` or ``"gru"``: of machines, for
            words of every length; or ``"ssm"``, a diagonal state space model, for words
            of every length or up to one (docs/architectures/state_space.md); or one that
            a slice of another distribution brings.
        dtype: The number format it is stored and run in, by name or as a dtype of torch or
            numpy. If none is given, float32; for linear systems float64; for hidden
            Markov models, dynamic programs and rewriting systems the first of these two
            in which a network is proved.
        strict: Plain residuals and one hidden layer in every MLP.
        keep: Every variable keeps its dimensions to the end: none is overwritten, so that
            all can be read after the last block, and no edge of the circuit clears
            another's place.
        activation: ``"relu"``; or ``"sine"``, with which counters read their sums from
            a circle, so that no width grows with the length; or ``"gelu"``: all hidden
            units are GeLUs, as in GPT-2.
        attention: Of the heads of a chain of thought: ``"standard"`` if none is given,
            ``"linear"`` or ``"sparse"`` (Yang et al. 2024).
        uniform: Memories and look-backs by weights that are those of every length; only
            the position table grows with it.
        positions: How look-backs tell positions apart: ``"dyadic"``, by angles 2πt/2^k,
            or ``"circle"``, by one angle 2πt/N (Proposition 2), in 2 dimensions.
        disguise: Other weights that compute the same, without zeros and axes that mean
            something: ``"rotate"``, ``"beside"`` and others, with commas between them
            (docs/architectures/disguise.md). The network is strict then, and in float64 if
            no format is asked for.
        seed: Of what a disguise draws; 0 if none is given.
        strength: Of the noise of a disguise, in units of the root mean square of each
            matrix.
        minimise: What is chosen by: a key of
            `krohn.compiler.search.SIZES_TO_MINIMISE`. None: the compromise
            for ``"auto"``, else the depth.
        block: Write the state into the text after so many letters, and read it back: the
            depth is that of a block (docs/proofs/blocks.md).
        effort: How much each search may do: a key of `krohn.algebra.budget.EFFORTS`,
            or steps.
        within: How far an output of a network of real numbers may be off.
        norm: Of the kernel of a linear RNN, what ``within`` is about: ``"l1"``, which
            is outputs, or ``"l2"``, ``"hinf"`` or ``"max"`` (docs/kinds/kernels.md).
        proof: Whether to prove it; without, nothing is known about the result.
        on_pass: Called after every compiler pass with its name and the Program.
        progress: Called by the proof with steps done and in all.
        formats: Names of the number formats to try, the first one first.
    """

    length: int | None = None
    construction: str = "auto"
    arch: str = "transformer"
    dtype: object = None
    strict: bool = False
    keep: bool = False
    activation: str = "relu"
    attention: str | None = None
    uniform: bool = False
    positions: str = "dyadic"
    disguise: str | None = None
    seed: int | None = None
    strength: float | None = None
    minimise: str | None = None
    block: int | None = None
    effort: str | float = "normal"
    within: float | None = None
    norm: str = "l1"
    proof: bool = True
    on_pass: Observer | None = None
    progress: Callable[[int, int], None] | None = None
    formats: tuple[str, ...] = ("float32",)

    @property
    def given_options(self) -> list[str]:
        """The options that are not as they are by default."""
        options = [each for each in fields(self) if each.name != "formats"]
        return [o.name for o in options if getattr(self, o.name) != o.default]

    def of(self, formats: tuple[str, ...]) -> Self:
        """Return a copy in the format that is asked for; in these formats if none is.

        Raises:
            KrohnError: If there is no such format.
        """
        asked = None if self.dtype is None else (format_name(self.dtype),)
        return replace(self, formats=asked or formats)

    @cached_property
    def options(self) -> "Options":
        """How to lower, in the first of the formats.

        Raises:
            CompileError: If there is no such activation or code of positions, or two
                forms exclude each other.
        """
        from krohn.compiler.pipeline import Options  # much of the compiler

        check_one_of("--activation", self.activation, ACTIVATIONS)
        check_one_of("--positions", self.positions, POSITIONS)
        precision, circle = PRECISIONS[self.formats[0]], self.positions == "circle"
        strict = self.strict or self.disguise is not None
        form = strict, self.activation, self.uniform, circle, self.keep
        return Options(precision, *form)

    def longest(self, needs: str) -> int:
        """The longest word, which must be said.

        Args:
            needs: What needs it, for the message.

        Raises:
            CompileError: If it was not, or makes no sense.
        """
        if self.length is None:
            raise CompileError(f"{needs} it is for (-T)")
        return whole(self.length, "the length", 1)

    def choose_construction(self, known: Mapping[str, str]) -> str:
        """The construction of the architecture.

        Args:
            known: For each architecture that there is, its construction.

        Raises:
            CompileError: If another one is asked for.
        """
        if self.arch not in known:
            raise CompileError(
                f"--arch {self.arch} is for machines; this takes {' or '.join(known)}"
            )
        name = known[self.arch]
        if self.construction not in ("auto", name):
            raise CompileError(
                f"--construction takes auto or {name}, not {self.construction!r}"
            )
        return name


def check_one_of(option: str, value: object, known: Collection[str]) -> None:
    """Refuse a value that there is not.

    Raises:
        CompileError: If it is none of those that are known.
    """
    if value not in known:
        raise CompileError(
            f"{option} takes {' or '.join(known)}, not {value!r}{near(str(value), known)}"
        )


# The functions.


def compile(  # noqa: A001  (the verb of the trade, and of the command)
    source: object,
    length: int | None = None,
    construction: str = "auto",
    **options: Unpack[CompileKeywords],
) -> "CompiledModel":
    """Derive a network that computes a machine, and prove that it does.

    Args:
        source: Anything that `krohn.automaton` takes, or names it; or another source, as
            a `ChainOfThought` or a fitted object of hmmlearn,
            or its name (``EditDistance6,7``).
        length: The longest word (T); required for a Transformer.
        construction: A name of ``CONSTRUCTIONS`` or ``ON_REQUEST`` in
            `krohn.compiler.constructions.registry`; ``"auto"`` takes the
            best one that can be proved.
        **options: What kind of network, by the names in `krohn.compilation.Asked`, and how
            the machine is read, by those in `krohn.machine_reading.MachineReading`.

    Raises:
        KrohnError: If it cannot be compiled or cannot be proved.
    """
    asked = Asked(length, construction, **options)
    check_one_of("--arch", asked.arch, architectures())
    with one_thread():
        kind, resolved_source, asked = _resolve_source(source, asked)
        return kind.compile(resolved_source, asked)


def explain(
    source: object,
    length: int | None = None,
    dtype: object = None,
    **options: Unpack[ExplainKeywords],
) -> dict[str, Any]:
    """The facts about a machine and the table of its constructions.

    Args:
        source: Anything that `krohn.automaton` takes, as what `krohn.compile` returns; or
            another source, or its name.
        length: T; 128 if nothing is said, and the length of a compiled model.
        dtype: The number format of the networks; if nothing is said, that of
            `krohn.compile`.
        **options: As `krohn.compile` has them: what kind of networks, how it is read.
            ``arch`` is ``"transformer"``; or ``"ssm"`` for the forms of diagonal state
            space models and their lengths in each format, as
            `krohn.architectures.state_space.commands.forms` returns them, and no more; or
            another one whose slice says facts of a machine's networks.

    Returns:
        Of another source the facts that its kind knows; ``proved`` is null where its
        network was not tried. Of a machine: ``states``,
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
    """
    asked = Asked(length, dtype=dtype, **options)
    check_one_of("--arch", asked.arch, explained_architectures())
    if length is None and asked.arch == "transformer":
        from krohn.compiled_model import CompiledModel  # all constructions

        if isinstance(source, CompiledModel):
            asked = replace(asked, length=source.file.claim.length)
    with one_thread():
        kind, resolved_source, asked = _resolve_source(source, asked)
        return kind.explain(resolved_source, asked)


def _resolve_source(source: object, asked: Asked) -> "tuple[Kind[Any], Any, Asked]":
    """The source as it is compiled, with its kind and the number formats for it."""
    if asked.within is not None and not asked.within > 0:  # NaN is not, either
        raise KrohnError(f"an error is above 0, not {asked.within:g}")
    kind, resolved_source = with_kind(source, asked)
    asked = asked.after_reading()
    kind, resolved_source = kind.resolve_source(resolved_source, asked)
    return kind, resolved_source, asked.of(kind.formats)
