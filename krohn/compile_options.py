"""The options of `krohn.compile` and `krohn.explain`, declared once."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from krohn.algebra.wording import near
from krohn.compiler import CompileError
from krohn.machine_reading import MachineKeywords, MachineReading
from krohn.network.precision import PRECISIONS
from krohn.option_rules import format_name, whole

if TYPE_CHECKING:
    from krohn.compiler.pipeline import Options

Observer = Callable[[str, Any], None]
"""A callback after a compiler pass: its name, and the Program (`krohn.program.Program`)."""
POSITIONS = ("dyadic", "circle")
BINARY, QUADRATIC = ADDRESSES = "binary", "quadratic"
ACTIVATIONS = ("relu", "sine", "gelu")
"""The activations that tables of whole numbers can be made of."""


class NetworkKeywords(MachineKeywords, total=False):
    """The keywords of `krohn.explain` and `krohn.compile`, as of `CompileOptions`."""

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
    addresses: str | None
    uniform: bool
    positions: str
    disguise: str | None
    seed: int | None
    strength: float | None
    proof: bool
    on_pass: Observer | None
    progress: Callable[[int, int], None] | None


@dataclass(frozen=True)
class CompileOptions(MachineReading):
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
        addresses: How heads find a stated position, in a chain of thought or for ``p.at``
            of a sequence function: by ``"binary"`` digits if nothing is given, or by a
            ``"quadratic"`` score, so that no width grows with the length (Feng et al.
            2023), up to a length that depends on the format.
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
    addresses: str | None = None
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
