"""Kalman predictors in the commands: linear RNNs, and heads over a window."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.compile_options import CompileOptions
from krohn.compiler import CompileError
from krohn.kinds.kalman import source as predictors
from krohn.kinds.kalman.build import MOST_HEADS, predictor_rnn, window_heads
from krohn.kinds.kalman.source import SUFFIX, KalmanPredictor
from krohn.kinds.kalman.statement import StatedPredictor
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray, Precision
from krohn.program.errors import told_as
from krohn.program.wording import at_most
from krohn.schemas.parts import Dtype
from krohn.source_kinds.base import Built
from krohn.source_kinds.kind import EXPLAINED
from krohn.source_kinds.real_outputs import Reference
from krohn.source_kinds.real_sequences import (
    Box,
    RealSequences,
    run_network,
    sampled_length,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONSTRUCTIONS = {"rnn": "steady-filter", "transformer": "window"}
MORE = 4
"""Windows that are tried beyond the first that is near enough in exact arithmetic."""


class WindowError(TypedDict):
    """How far predictions from the last observations alone can be off.

    Attributes:
        heads: How many of them.
        left_out: In exact arithmetic; a network has roundings besides.
    """

    heads: int
    left_out: float


class KalmanFacts(TypedDict):
    """A Kalman predictor.

    Attributes:
        states: The numbers of the hidden state: the units of its RNN.
        observed: The numbers of an observation.
        bound: The largest number of an observation that networks are proved for.
        largest_eigenvalue: The largest absolute value of one of A.
        forgetting: That of F = A − L B: what a step leaves of an error.
        mean_squared_error: Of the predictor, for each number, in the long run.
        gain: L, row by row.
        rnn_error: What is proved of the RNN.
        length: The longest input of windows.
        windows: What windows of 1, 2, 4, … observations leave out.
        window: The heads that the error that was asked for needs, if one was.
    """

    name: str
    kind: Literal["kalman-predictor"]
    claim: Literal["within"]
    states: int
    observed: int
    bound: float
    largest_eigenvalue: float
    forgetting: float
    mean_squared_error: float
    gain: list[list[float]]
    rnn_error: float
    length: int
    windows: list[WindowError]
    window: int | None
    dtype: Dtype


def kalman(
    A: Any,
    B: Any,
    Q: Any = 1.0,
    R: Any = 1.0,
    start: Any = None,
    *,
    bound: float = predictors.BOUND,
    name: str = "kalman",
) -> KalmanPredictor:
    """The Kalman predictor of x' = A x + ζ, y = B x + ξ, for `krohn.compile`.

    Args:
        A: ``(n, n)``.
        B: ``(m, n)``.
        Q: ``(n, n)``: the covariance of ζ; a number times the identity.
        R: ``(m, m)``: that of ξ; likewise.
        start: ``(n,)``: the mean of x_0; 0 if nothing is said.
        bound: The largest number of an observation.
        name: What it is called.

    Raises:
        KrohnError: If shapes do not fit, or a number is out of range.

    Examples:
        >>> krohn.compile(krohn.kalman([[0.9]], [[1]]), 8, within=0.1)
        <CompiledModel kalman: window, T = 8, 1 layer, verified>
    """
    with told_as(KrohnError):
        return predictors.predictor(name, A, B, Q, R, start, bound)


class KalmanPredictors(RealSequences[KalmanPredictor]):
    """ŷ_{t+1} from y_1 … y_t, by the gain that the Kalman filter tends to."""

    wire = StatedPredictor.kind
    facts_types = (KalmanFacts,)
    stated_type = StatedPredictor
    source = KalmanPredictor
    takes = frozenset({"arch", "within"})
    explained = EXPLAINED

    @property
    def called(self) -> str:
        """With the name of a person."""
        return "a Kalman predictor"

    def of_name(self, text: str) -> KalmanPredictor | None:
        """The predictor of a name or a file; None if it is of another form."""
        file = Path(text)
        if file.suffix == SUFFIX:
            return predictors.read(file)
        return predictors.find_by_name(text)

    def build(self, source: KalmanPredictor, asked: CompileOptions) -> Built:
        """The network, and the error that the checker shows of it."""
        name = asked.choose_construction(CONSTRUCTIONS)
        with told_as(CompileError):
            _ = source.steady
        options, within, least = asked.options, asked.within, np.inf
        if asked.arch == "rnn":
            network = predictor_rnn(source, options.precision)
            built, claim = self.with_error(source, name, network, None, options)
            if within is None or claim["error"] <= within:
                return built, claim
            least = claim["error"]
        else:
            length = asked.longest(
                "a window of a Kalman predictor needs the longest input"
            )
            for heads in _windows(source, length, within, options.precision):
                network = window_heads(source, heads, length, options.precision)
                built, claim = self.with_error(source, name, network, length, options)
                if within is None or claim["error"] <= within:
                    return built, claim
                least = min(least, claim["error"])
        finer = options.precision.name != "float64"
        raise CompileError(
            f"what is proved of {source.name} in {options.precision.name} is an error of "
            f"{at_most(least)}, and not {within:g}; say --within "
            f"{at_most(least)}{', or --dtype float64' * finer}"
        )

    def facts(self, source: KalmanPredictor, asked: CompileOptions) -> dict[str, Any]:
        """The facts of a predictor, and how long a window must be."""
        with told_as(KrohnError):
            steady = source.steady
        length, options = (
            asked.longest("a window needs the longest input"),
            asked.options,
        )
        rnn = predictor_rnn(source, options.precision)
        _, claim = self.with_error(source, CONSTRUCTIONS["rnn"], rnn, None, options)
        errors = source.windows(length)
        shown = [2**k for k in range(length.bit_length()) if 2**k < MOST_HEADS]
        enough = np.flatnonzero(errors <= (asked.within or 0.0))
        return {
            "states": len(source.start),
            "observed": len(source.observation),
            "bound": source.bound,
            "largest_eigenvalue": abs(np.linalg.eigvals(source.transition)).max(),
            "forgetting": steady.forgetting,
            "mean_squared_error": np.trace(source.innovation) / len(source.observation),
            "gain": steady.gain.tolist(),
            "rnn_error": claim["error"],
            "length": length,
            "windows": [{"heads": r, "left_out": errors[r]} for r in shown],
            "window": int(enough[0])
            if asked.within is not None and enough.size
            else None,
        }

    def box(self, source: KalmanPredictor) -> Box:
        """The numbers of an observation."""
        count = len(source.observation)
        most = np.full(count, source.bound)
        return Box(tuple(f"y{k + 1}" for k in range(count)), -most, most)

    def reference(self, source: KalmanPredictor) -> Reference:
        """The predictor in float64, which is off by roundings and those of its gain."""
        return Reference(source.run, source.rounding())

    def sample_vectors(
        self, source: KalmanPredictor, shape: tuple[int, int], rng: np.random.Generator
    ) -> FloatArray:
        """Observations of the system, cut at the bound, and random ones, half of each."""
        inputs = super().sample_vectors(source, shape, rng)
        own = source.sample((shape[0] + 1) // 2, shape[1], rng)
        inputs[: len(own)] = np.clip(own, -source.bound, source.bound)
        return inputs

    def adversarial(
        self,
        source: KalmanPredictor,
        file: ModelFile,
        count: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """For each number that is said, observations that add up its errors at the end.

        What a network takes of each observation is what it says of an impulse.
        """
        length, m = sampled_length(file), len(source.observation)
        impulses = np.zeros((m + 1, length, m))
        impulses[np.arange(m), 0, np.arange(m)] = 1.0
        said = run_network(file, impulses)
        off = said[:m] - said[m] - source.response(length)[0].transpose(2, 0, 1)
        # ``(said, time, observed)``: the last observation is the one of lag 0.
        worst = np.where(off[:, ::-1].transpose(2, 1, 0) >= 0, 1.0, -1.0)
        ends = rng.choice([-1.0, 1.0], (max(count - m, 0), length, m))
        inputs: FloatArray = np.concatenate([worst, ends]) * source.bound
        return inputs

    def draw(self, source: KalmanPredictor) -> "Figure":
        """How far windows of the last observations are off."""
        from matplotlib.figure import Figure

        with told_as(KrohnError):
            errors = source.windows(self.explained)[:65]
        figure = Figure(figsize=(6, 3), layout="constrained")
        axes = figure.add_subplot()
        axes.semilogy(np.arange(len(errors)), errors, ".-")
        axes.set_xlabel("heads: the last observations that are looked at")
        axes.set_ylabel("largest error, without rounding")
        axes.set_title(source.name)
        return figure


def _windows(
    source: KalmanPredictor, length: int, within: float | None, precision: Precision
) -> Iterator[int]:
    """Numbers of heads that may be enough: the least that is, in exact arithmetic, first.

    Without an error that is asked for, what is left out is less than a rounding.
    """
    errors = source.windows(length)
    most = errors[0] * 2.0**-precision.digits if within is None else within
    enough = np.flatnonzero(errors[1:] <= most)
    first = 1 + int(enough[0]) if enough.size else length
    yield from range(first, min(first + MORE, length) + 1)
    if within is not None:
        digits = errors[0] * 2.0**-precision.digits
        fine = 1 + int(np.argmax(errors[1:] <= max(digits, errors[-1])))
        if fine > first + MORE:
            yield fine
