"""Kernels in the commands: linear RNNs and attention layers of causal convolutions."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import form_of_text, table
from krohn.compile_options import CompileOptions, check_one_of
from krohn.compiled_model import there_is
from krohn.compiler import CompileError
from krohn.compiler.pipeline import Options
from krohn.kinds.kernels import build_rnn, source as kernels
from krohn.kinds.kernels.build_attention import kernel_attention
from krohn.kinds.kernels.source import Kernel
from krohn.kinds.kernels.source_kernel import (
    causal_floor,
    complexity,
    decay,
    invariant_floor,
    under_mixing,
)
from krohn.kinds.kernels.statement import StatedKernel
from krohn.network.architecture import kind_of, parameters
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.program.errors import Refused, told_as
from krohn.program.user_input import read_text
from krohn.program.wording import at_most
from krohn.schemas.parts import Dtype
from krohn.source_kinds.base import Built, larger
from krohn.source_kinds.real_outputs import Reference
from krohn.source_kinds.real_sequences import Box, RealSequences

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONSTRUCTIONS = {"rnn": "linear-rnn", "transformer": "kernel-attention"}
NAMES_OF_NORMS = {
    "l1": "ℓ1",
    "l2": "ℓ2",
    "hinf": "H∞",
    "max": "max",
    "hankel": "Hankel σ left out",
}
"""Names of norms of errors in a picture."""
TAPS = 5
"""The length of a filter that is spoken of where none is given: that of the paper."""


class KernelNetwork(TypedDict):
    """A network of a kernel.

    Attributes:
        within: The error that was asked for; null for the least.
    """

    arch: Literal["rnn", "transformer"]
    within: float | None
    error: float
    width: int
    parameters: int


class NoKernelNetwork(TypedDict):
    """Why there is no such network of a kernel."""

    arch: Literal["rnn", "transformer"]
    within: float | None
    why_not: str


class ErrorByUnits(TypedDict):
    """How near linear RNNs of so many units come to a kernel, in float64.

    Attributes:
        hankel: The first singular value of its Hankel matrix that is left out: no linear
            RNN of so many units has a smaller ``hinf`` or ``l1``.
        l1: Σ|e(s)|, the least found.
        l2: (Σ e(s)²)^½.
        hinf: max |Σ e(s) e^{−iωs}|.
        max: max |e(s)|.
    """

    units: int
    hankel: float
    l1: float
    l2: float
    hinf: float
    max: float


class KernelFacts(TypedDict):
    """A convolution.

    Attributes:
        inputs: The range of an input.
        values: The values of the kernel that are listed, counted.
        modes: The terms c λ^s of the kernel, counted.
        largest_eigenvalue: The largest |λ|.
        stable: Whether it is less than 1.
        units: The errors of the best linear RNNs that were found, by the number of
            units.
        networks: The networks, with their errors and sizes.
    """

    name: str
    kind: Literal["kernel"]
    claim: Literal["within"]
    length: int
    inputs: str
    values: int
    modes: int
    largest_eigenvalue: float
    stable: bool
    dtype: Dtype
    units: list[ErrorByUnits]
    networks: list[KernelNetwork | NoKernelNetwork]


class CausalKernelFacts(KernelFacts):
    """A causal convolution, and how hard it is for linear RNNs.

    Attributes:
        causal: Whether an output depends on earlier inputs only.
        c1: C1: one more than the time in which the kernel decays by a factor of e
            (Jiang and Li 2024).
        c2: C2: the largest of e^(t/C1) |ρ(t)|.
        c_rnn: C1 times C2: the complexity for linear RNNs.
        rate: The error that m units can reach.
        decay: The time in which the kernel decays by a factor of e.
        c_rnn_after_filter_of_5: A bound of C_RNN after the inputs have passed a filter
            of 5 taps.
    """

    causal: Literal[True]
    c1: float | None
    c2: float | None
    c_rnn: float | None
    rate: str
    decay: float | None
    c_rnn_after_filter_of_5: float | None


class PermutedKernelFacts(KernelFacts):
    """A convolution of permuted inputs, and the least error of causal networks.

    Attributes:
        causal: Whether an output depends on earlier inputs only.
        causal_floor: The least mean squared error of any causal network, for uniform
            inputs.
        one_kernel_floor: The same of a linear RNN: one causal kernel, and an offset for
            each position.
    """

    causal: Literal[False]
    causal_floor: float
    one_kernel_floor: float


def kernel(
    values: Sequence[float] = (),
    modes: Sequence[tuple[complex, complex]] = (),
    length: int | None = None,
    *,
    inputs: tuple[float, float] = (-1.0, 1.0),
    name: str = "kernel",
) -> Kernel:
    """A causal convolution, for `krohn.compile`: ρ(s) = values[s] + Σ Re(c_k λ_k^s).

    Args:
        values: ρ(0), ρ(1), …; 0 past their end.
        modes: Pairs of a weight c and a base λ, |λ| ≤ 1.
        length: T, the most inputs; as many as there are values if nothing is said.
        inputs: The least and the largest input.
        name: What it is called.

    Raises:
        KrohnError: If a number is out of range, or the kernel grows.

    Examples:
        >>> krohn.compile(krohn.kernel([0.5, 0.25]), within=0.01)
        <CompiledModel kernel: kernel-attention, T = 2, 1 layer, verified>
    """
    try:
        made = tuple(kernels.Mode(*mode) for mode in modes)
        size = len(values) if length is None else length
        return Kernel(name, tuple(values), made, size, inputs)
    except (Refused, TypeError, ValueError) as reason:
        raise KrohnError(str(reason)) from None


class Kernels(RealSequences[Kernel]):
    """y_t = Σ_{s≤t} ρ(s)·x(t − s) of real inputs."""

    wire = StatedKernel.kind
    facts_types = (CausalKernelFacts, PermutedKernelFacts)
    facts_bases = (KernelFacts,)
    stated_type = StatedKernel
    source = Kernel
    takes = frozenset({"arch", "within", "norm"})

    def of_name(self, text: str) -> Kernel | None:
        """The kernel of a name or a file; None if it is of another form."""
        file = Path(text)
        if file.suffix not in kernels.SUFFIXES:
            return kernels.find_by_name(text)
        if file.suffix == ".csv":
            content = read_text(file)
            if table.is_table(content) or form_of_text(content) is not None:
                return None
        return kernels.read(text)

    def to_wire(self, source: Kernel, length: int | None) -> dict[str, Any]:
        """As a model file for a length states it."""
        with told_as(CompileError):
            return source.of_length(length).to_wire()

    def build(self, source: Kernel, asked: CompileOptions) -> Built:
        """The network, and the error that the checker shows of it."""
        with told_as(CompileError):
            kernel, options = source.of_length(asked.length), asked.options
        name = asked.choose_construction(CONSTRUCTIONS)
        check_one_of("--norm", asked.norm, build_rnn.NORMS)
        if "norm" in asked.given_options and (
            asked.within is None or asked.arch != "rnn"
        ):
            raise CompileError("--norm is for --arch rnn --within E: what E is about")
        if asked.arch == "rnn" and kernel.order is not None:
            raise CompileError(
                f"{kernel.name} reads inputs before they come, which no recurrent network "
                "can (Proposition 6.1); --arch transformer sees the whole input"
            )
        if asked.arch == "transformer":
            layer = kernel_attention(kernel, options.precision)
            built, claim = self.with_error(kernel, name, layer, kernel.length, options)
            return built, _check_error(claim, asked.within, options)
        if asked.within is not None:
            return self._shorten_kernel(kernel, name, options, asked)
        network = build_rnn.network(build_rnn.exact(kernel), options.precision)
        return self.with_error(kernel, name, network, kernel.length, options)

    def _shorten_kernel(
        self, kernel: Kernel, name: str, options: Options, asked: CompileOptions
    ) -> Built:
        """The network with the fewest units that is found to be within an error.

        In ℓ1, the error that the checker shows is meant. In another norm the kernel that
        is said in float64, and the error that the checker shows is another one.

        Raises:
            CompileError: If there is none.
        """
        assert asked.within is not None
        within, norm = asked.within, asked.norm
        built = self._nearest(kernel, name, options, within, norm)
        if built is not None:
            return built
        finest = replace(options, precision=PRECISIONS["float64"])
        ways = [(f"--within {each:g}", options, each) for each in larger(within)]
        works = list[str]()
        for easier in ([("--dtype float64", finest, within)], ways):
            tried = (
                option
                for option, form, error in easier
                if self._nearest(kernel, name, form, error, norm) is not None
            )
            works += islice(tried, 1)
        raise CompileError(
            f"no linear RNN of {kernel.name} is proved to be within {within:g} in "
            f"{options.precision.name}{there_is(works)}"
        )

    def _nearest(
        self, kernel: Kernel, name: str, options: Options, within: float, norm: str
    ) -> Built | None:
        """The network with the fewest units that is found to be within an error, if any."""
        low, high = kernel.inputs
        # e(s) weighs an input of the box by (high − low)/2 at least.
        most = 2 * within / (high - low) if norm == "l1" else within
        for realisation in build_rnn.realisations(kernel, most, norm):
            network = build_rnn.network(realisation, options.precision)
            arguments = kernel, name, network, kernel.length, options
            try:
                built, claim = self.with_error(*arguments)
            except CompileError:
                continue
            if norm != "l1" or claim["error"] <= within:
                return built, claim
        return None

    def facts(self, source: Kernel, asked: CompileOptions) -> dict[str, Any]:
        """The facts of a kernel, how hard it is for RNNs, and the sizes of its networks."""
        kernel = source.of_length(asked.length)
        largest = max((abs(base) for _, base in kernel.modes), default=0.0)
        return {
            "length": kernel.length,
            "inputs": f"{kernel.inputs[0]:g} to {kernel.inputs[1]:g}",
            "causal": kernel.causal,
            "values": len(kernel.values),
            "modes": len(kernel.modes),
            "largest_eigenvalue": largest,
            "stable": largest < 1,
            **(_complexity(kernel) if kernel.causal else _floors(kernel)),
            "dtype": asked.options.precision.name,
            "units": _errors_by_units(kernel),
            "networks": self._networks(kernel, asked),
        }

    def _networks(self, kernel: Kernel, asked: CompileOptions) -> list[dict[str, Any]]:
        """Each network that there is, with its size and its error, or why not."""
        errors = [None] if asked.within is None else [None, asked.within]
        rows = []
        for arch in ("rnn", "transformer"):
            for within in errors:
                row: dict[str, Any] = {"arch": arch, "within": within}
                try:
                    one = replace(asked, length=None, arch=arch, within=within)
                    if within is None or arch != "rnn":
                        one = replace(one, norm="l1")
                    built, claim = self.build(kernel, one)
                except CompileError as reason:
                    rows.append({**row, "why_not": str(reason)})
                    continue
                shape = built.network.architecture
                row |= {"error": claim["error"], "width": kind_of(shape).width(shape)}
                rows.append({**row, "parameters": parameters(shape)})
        return sorted(rows, key=lambda row: "why_not" in row)

    def box(self, source: Kernel) -> Box:
        """One number."""
        low, high = source.inputs
        return Box(("x",), np.array([low]), np.array([high]))

    def least(self, source: Kernel, length: int) -> int:
        """Inputs that are permuted are all there."""
        return 1 if source.causal else length

    def reference(self, source: Kernel) -> Reference:
        """Sums in float64, which are off by their rounding."""

        def run(x: FloatArray) -> FloatArray:
            return source.run(x[:, :, 0])[:, :, None]

        return Reference(run, source.rounding())

    def adversarial(
        self, source: Kernel, file: ModelFile, count: int, rng: np.random.Generator
    ) -> FloatArray:
        """The input on which the network's kernel is farthest off, and ends of the box.

        The network's own kernel is what it says of an input of 1 and then zeros.
        """
        from krohn.source_kinds.real_sequences import run_network

        low, high = source.inputs
        ends = rng.choice([low, high], (count, source.length, 1))
        if source.causal:
            impulse = np.zeros((1, source.length, 1))
            impulse[0, 0] = 1.0
            off = run_network(file, impulse)[0, :, 0] - source.samples()
            worst = np.where(off[::-1] >= 0, high, low)
            ends[0, :, 0] = worst
        return ends

    def draw(self, source: Kernel) -> "Figure":
        """ρ(s), s < T; and how far off recurrences of so many units are."""
        from matplotlib.figure import Figure

        rows = _errors_by_units(source)
        several = len(rows) > 1
        figure = Figure(figsize=(6, 5 if several else 2.4), layout="constrained")
        axes = figure.add_subplot(2 if several else 1, 1, 1)
        axes.stem(np.arange(source.length), source.samples(), basefmt=" ")
        axes.set_xlabel("s")
        axes.set_ylabel("ρ(s)")
        axes.set_title(source.name)
        if several:
            axes = figure.add_subplot(2, 1, 2)
            units = [row["units"] for row in rows]
            for name, label in NAMES_OF_NORMS.items():
                axes.plot(units, [row[name] for row in rows], ".-", label=label)
            axes.set_xlabel("units of a linear RNN")
            axes.set_ylabel("error")
            axes.set_yscale("log")
            axes.legend()
        return figure


def _errors_by_units(kernel: Kernel) -> list[dict[str, float]]:
    """How near linear RNNs of so many units come; nothing if that is too much work."""
    if not kernel.causal or kernel.length > build_rnn.MOST_MEASURED:
        return []
    return build_rnn.errors_by_units(kernel.samples())


def _complexity(kernel: Kernel) -> dict[str, Any]:
    """How hard it is for linear RNNs."""
    first, second = complexity(kernel)
    return {
        "c1": first,
        "c2": second,
        "c_rnn": first * second,
        "rate": f"{first * second:.4g}/m with m units, up to a constant",
        "decay": decay(kernel),
        f"c_rnn_after_filter_of_{TAPS}": under_mixing(kernel, TAPS),
    }


def _floors(kernel: Kernel) -> dict[str, Any]:
    """The least error of causal networks on permuted inputs that are uniform on the box."""
    return {
        "causal_floor": causal_floor(kernel),
        "one_kernel_floor": invariant_floor(kernel),
    }


def _check_error(
    claim: dict[str, Any], within: float | None, options: Options
) -> dict[str, Any]:
    """A claim, if it is what was asked for.

    Raises:
        CompileError: If more can be shown of no network of this kind.
    """
    if within is not None and not claim["error"] <= within:
        raise CompileError(
            f"the attention layer is proved to be within {at_most(claim['error'])} in "
            f"{options.precision.name}, and not within {within:g}; leave --within out"
        )
    return claim
