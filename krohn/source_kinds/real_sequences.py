"""Sources that read and say real vectors: what the commands do alike with all of them.

To add such a source, derive from `RealSequences`, and give

- ``wire``, ``source``, ``of_name``, ``build`` and ``facts``, as for every `ReadableKind`;
  ``build`` ends with ``self.with_error(…)``, which asks the checker;
- ``box``: the names and the ranges of the numbers of an input vector;
- ``reference``: an interpreter of more digits than the network has, with what it can be
  off by itself;
- ``adversarial``: inputs that are made to be bad for the network of a file.

Override ``sample_vectors`` where not all vectors of the box are inputs, ``check``
likewise, and ``least`` where short inputs mean nothing. Its network is a kind of
`krohn.network.architecture` that answers ``"reals"``; its reader is an entry of
``readers`` of its slice.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypedDict, TypeVar

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.pipeline import Options
from krohn.compiler.transformer import Network
from krohn.network.architecture import kind_of
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.network.reading import Opened
from krohn.program.domains import IntArray
from krohn.program.errors import told_as
from krohn.report import Progress
from krohn.schemas.parts import Dtype
from krohn.source_kinds.base import Built, OnFile, ReadableKind
from krohn.source_kinds.kind import Answers
from krohn.source_kinds.real_outputs import (
    Batch,
    Reference,
    Spelled,
    in_batches,
    judge_outputs,
    replace_nan,
    vectors,
)
from krohn.verify.testing.simulation_result import Simulation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

S = TypeVar("S", bound=OnFile)
LOST = 2.0**-1000
"""More than sums of a reference lose below the normal range."""
SAMPLED = 64
"""The length of inputs that are run where a claim is about every length."""
NUMBERS = 2**20
"""How many numbers of weights and features are held at once where inputs are run."""


class Attended(TypedDict):
    """Where one layer of attention is enough.

    Attributes:
        m_h: The width of queries and keys.
    """

    name: str
    claim: Literal["within"]
    error: float
    length: int
    construction: str
    m_h: int
    parameters: int
    dtype: Dtype


class Box(NamedTuple):
    """The box of input vectors.

    Attributes:
        names: Of its numbers.
        low: ``(d,)``: the least that each can be.
        high: ``(d,)``: the largest.
    """

    names: tuple[str, ...]
    low: FloatArray
    high: FloatArray


class RealSequences(ReadableKind[S]):
    """Sources that read ``(t, d)`` real numbers and say ``(t, o)``."""

    claim = "within"
    facts_bases: ClassVar[tuple[Any, ...]] = (Attended,)
    formats = ("float64",)
    takes = frozenset({"within"})
    ran = "inputs"
    unit = "vector"
    spelled = False

    @abstractmethod
    def box(self, source: S) -> Box:
        """The box of input vectors."""

    @abstractmethod
    def reference(self, source: S) -> Reference:
        """The right outputs."""

    @abstractmethod
    def adversarial(
        self, source: S, file: ModelFile, count: int, rng: "np.random.Generator"
    ) -> FloatArray:
        """Up to ``count`` inputs ``(…, T, d)`` on which the network is far off."""

    def least(self, source: S, length: int) -> int:
        """How many vectors an input has at least, of at most ``length``."""
        return 1

    def draw_file(self, file: ModelFile) -> "Figure":
        """A picture of the function that a network computes."""
        figure = self.draw(self.of_file(file))
        kind, axes = kind_of(file.architecture), figure.axes[0]
        axes.set_title(f"{axes.get_title()}, the source of {kind.called}")
        return figure

    def sample_vectors(
        self, source: S, shape: tuple[int, int], rng: "np.random.Generator"
    ) -> FloatArray:
        """``(count, t, d)``: random inputs, ``shape`` is ``(count, t)``."""
        box = self.box(source)
        inputs: FloatArray = rng.uniform(box.low, box.high, (*shape, len(box.names)))
        return inputs

    def check(self, source: S, x: FloatArray) -> None:
        """Refuse what is no input, ``(t, d)``.

        Raises:
            KrohnError: Naming the first number that cannot be.
        """
        box = self.box(source)
        bad = np.argwhere(~((x >= box.low) & (x <= box.high)))  # NaN is, too
        if len(bad):
            t, i = bad[0].tolist()
            raise KrohnError(
                f"{box.names[i]} of vector {t + 1} is {x[t, i]:g}; it lies between "
                f"{box.low[i]:g} and {box.high[i]:g}"
            )

    def with_error(
        self,
        source: S,
        name: str,
        network: Network,
        length: int | None,
        options: Options,
    ) -> Built:
        """The network of a construction with its claim: the error that is shown of it.

        Raises:
            CompileError: If the checker shows none.
        """
        built = CompiledNetwork(name, network, {}, None)
        with told_as(
            CompileError,
            f"nothing can be shown of the network in {options.precision.name}: ",
        ):
            return built, self.prove_claim(source, built, {"length": length}, options)

    def draw(self, source: S) -> "Figure":
        """Refused, where there is nothing to draw."""
        from krohn.drawing import DrawingError

        raise DrawingError(f"{self.called} has no picture, nor has its network")

    def answers(
        self, file: ModelFile, words: list[str], network: Opened = None
    ) -> Answers:
        """The answers of the network to some vectors, with the error that they may have."""
        source, precision = self.of_file(file), file.precision
        box = self.box(source)
        x = vectors(words, box.names, getattr(file.architecture, "length", None))
        self.check(source, x)
        x = precision.round(x)
        least = self.least(source, sampled_length(file))
        if len(x) < least:
            raise KrohnError(f"an input has at least {least} vectors, not {len(x)}")
        outputs = run_network(file, x[None], network)[0]
        rows = [" ".join(f"{y: .9g}" for y in row) for row in outputs.tolist()]
        result = {
            "inputs": x.tolist(),
            "outputs": outputs.tolist(),
            "shown": "\n".join(rows),
        }
        return Answers(result, range(1, len(x) + 1))

    def sample(
        self, file: ModelFile, count: int, seed: int, progress: Progress
    ) -> Simulation:
        """Run inputs that are made to be bad, up to half of all, and random ones."""
        source, length = self.of_file(file), sampled_length(file)
        rng, made = np.random.default_rng(seed), max(count // 2, 1)
        bad = self.adversarial(source, file, made, rng)[:made]
        random = self.sample_inputs(file, count - len(bad), rng)
        inputs = file.precision.round(np.concatenate([bad, random]))
        simulation = self.simulate_inputs(file, inputs, progress)
        if not simulation.has_passed or not equivariant(file):
            return simulation
        order = rng.permuted(np.tile(np.arange(length), (len(inputs), 1)), axis=1)
        wrong = self.check_equivariance(file, inputs, order, progress)
        about = f"{simulation.about}, and again in another order"
        return replace(simulation, about=about) if wrong is None else wrong

    def check_equivariance(
        self, file: ModelFile, inputs: FloatArray, order: IntArray, progress: Progress
    ) -> Simulation | None:
        """Whether inputs in another order have their outputs in that order.

        Both are within the claimed error of one function that is equivariant; so they
        differ by twice that at most (Jiang and Li, A.1).

        Args:
            file: The model.
            inputs: ``(count, t, d)``.
            order: ``(count, t)``: permutations.
            progress: As of `sample`.

        Returns:
            The first input that is said otherwise; None if there is none.
        """
        each = batch_size(file, inputs.shape[1])
        batches = in_batches(inputs, each, "running permutations", progress)

        def run() -> Iterator[Batch]:
            for at, batch in enumerate(batches):
                way = order[at * each : (at + 1) * each, :, None]
                mixed = np.take_along_axis(batch, way, axis=1)
                wanted = np.take_along_axis(run_network(file, batch), way, axis=1)
                yield mixed, wanted, run_network(file, mixed)

        twice = 2 * file.claim.error
        simulation = judge_outputs(
            run(), Reference(partial(run_network, file)), twice, digits(file)
        )
        return None if simulation.has_passed else simulation

    def simulate_inputs(
        self, file: ModelFile, inputs: FloatArray, progress: Progress
    ) -> Simulation:
        """Hold ``(count, t, d)`` inputs against the reference."""
        each = batch_size(file, inputs.shape[1])
        batches = in_batches(inputs, each, "running inputs", progress)
        right = self.reference(self.of_file(file))
        right = right._replace(rounding=right.rounding + LOST)
        runs = ((x, replace_nan(right.run(x)), run_network(file, x)) for x in batches)
        return judge_outputs(runs, right, file.claim.error, digits(file))

    def sample_inputs(
        self, file: ModelFile, count: int, rng: "np.random.Generator"
    ) -> FloatArray:
        """Random inputs of full length."""
        shape = count, sampled_length(file)
        return self.sample_vectors(self.of_file(file), shape, rng)

    def list_inputs(self, file: ModelFile, length: int) -> FloatArray:
        """Refused: there is no end of real inputs."""
        raise KrohnError(
            "real inputs cannot all be run; say --sample N, or --proof, which is about "
            "all of them"
        )


def sampled_length(file: ModelFile) -> int:
    """The length of inputs that are run: the longest that is claimed, if there is one."""
    return file.claim.length or SAMPLED


def equivariant(file: ModelFile) -> bool:
    """Whether the network of a file treats all positions alike."""
    shape = file.architecture
    return getattr(shape, "codes", None) == 0 and not shape.causal


_DIGITS = (9, 17)
"""With so many a number of 24 and of 53 bits is itself again when it is read."""


def digits(file: ModelFile) -> Spelled:
    """Writes the vectors of an input so that they can be read again."""
    form = f".{_DIGITS[file.precision.digits > 24]}g"

    def spell_vectors(x: FloatArray, _: int) -> tuple[str, ...]:
        return tuple(",".join(format(n, form) for n in row) for row in x.tolist())

    return spell_vectors


def run_network(
    file: ModelFile, inputs: FloatArray, network: Opened = None
) -> FloatArray:
    """``(batch, t, o)``: what the network says of ``(batch, t, d)``, in its format."""
    from krohn.network.running_file import plain_network, run_on

    return run_on(network or plain_network(file), inputs)


def batch_size(file: ModelFile, length: int) -> int:
    """How many inputs are run at once, so that memory stays small."""
    widest = max(int(size) for t in file.tensors.values() for size in t.shape)
    heads = getattr(file.architecture, "heads", 1)
    return max(1, NUMBERS // (length * max(length * heads, widest)))
