"""Files of networks of Kalman predictors, and the true predictors in many digits."""

from functools import cache
from typing import Any

import mpmath
import numpy as np

from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.pipeline import Options
from krohn.compiler.transformer import Network
from krohn.kinds.kalman.build import predictor_rnn, window_heads
from krohn.kinds.kalman.commands import KalmanPredictors
from krohn.kinds.kalman.source import KalmanPredictor, find_by_name, predictor
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.source_kinds.real_sequences import run_network
from krohn.verify.checker.arithmetic import FORMATS
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Model
from krohn.verify.checker.network import check_claim
from krohn.verify.search.exact_walk import pack_array

DIGITS = 50


def of(name: str = "RanLDS5@3") -> KalmanPredictor:
    """The predictor of a name."""
    found = find_by_name(name)
    assert found is not None
    return found


SHEAR = predictor(
    "shear", [[0.9, 0.4], [0, 0.5]], [[1, 0.5]], [[2, 0.5], [0.5, 1]], 0.3, [1, -2]
)
"""A stable matrix that is not normal."""
UNSTABLE = predictor(
    "unstable", [[1.3, 0.1], [0, 0.6]], [[1, 0]], 0.0, 1.0, [0.5, 3], 20
)
"""An unstable mode, seen, with no noise at all: 0 solves the Riccati equation, too."""
SLOW = predictor("slow", [[1, 0.1], [0, 1]], [[1, 0]], [[0.01, 0], [0, 0.01]], 2.0)
"""A place and a velocity."""
THREE = predictor(
    "three",
    [[1.1, 0.3, 0], [0, 0.9, 0.2], [0.1, 0, 0.7]],
    [[1, 0, 0], [0, 1, 1]],
    0.1,
    [[0.5, 0.2], [0.2, 1]],
    [1, 2, 3],
)
SYSTEMS = [of(), of("RanLDS2@1:bound=3"), SHEAR, UNSTABLE, SLOW, THREE]


def filed(
    source: KalmanPredictor,
    made: Network,
    length: int | None,
    dtype: str,
    error: float = 1e300,
) -> ModelFile:
    """A file that claims an error."""
    built = CompiledNetwork("kalman", made, {}, None)
    claim = {"length": length, "error": error}
    return KalmanPredictors().file(source, built, claim, Options(PRECISIONS[dtype]))


def recurrent(source: KalmanPredictor, dtype: str = "float64") -> ModelFile:
    """Its linear RNN."""
    return filed(source, predictor_rnn(source, PRECISIONS[dtype]), None, dtype)


def window(
    source: KalmanPredictor, heads: int, length: int, dtype: str = "float64"
) -> ModelFile:
    """Its heads over a window."""
    made = window_heads(source, heads, length, PRECISIONS[dtype])
    return filed(source, made, length, dtype)


def evidence(source: KalmanPredictor) -> dict[str, Any]:
    """What is found of a predictor."""
    steady = source.steady
    return packed(steady.covariance, steady.gain)


def packed(covariance: Any, gain: Any) -> dict[str, Any]:
    """Evidence that says these."""
    arrays = {"covariance": covariance, "gain": gain}
    return {name: pack_array(np.array(x, float)) for name, x in arrays.items()}


def established(file: ModelFile, said: Any = None) -> Established:
    """What the checker shows of a file by some evidence, or by what is found."""
    model = Model(FORMATS[file.precision.name], file.tensors, file.header)
    source = KalmanPredictor.from_wire(file.header["source"])
    with np.errstate(all="ignore"):  # as `recheck` does
        return check_claim(model, evidence(source) if said is None else said, None)


@cache
def true_gain(source: KalmanPredictor) -> tuple[Any, Any]:
    """L and F in 50 digits, by steps of the filter from P = 1."""
    with mpmath.workdps(DIGITS):
        a, b, q, r = (
            mpmath.matrix(x.tolist())
            for x in (
                source.transition,
                source.observation,
                source.process_noise,
                source.observation_noise,
            )
        )
        p = mpmath.eye(a.rows)
        for _ in range(10000):
            gain = a * p * b.T * mpmath.inverse(b * p * b.T + r)
            after = a * p * a.T + q - gain * b * p * a.T
            change, p = mpmath.mnorm(after - p), after
            if change < mpmath.mpf(10) ** -40:
                return gain, a - gain * b
    raise AssertionError("no steady state")


def as_long(matrix: Any) -> Any:
    """A matrix of many digits in the widest format of the machine."""
    return np.array(
        [[np.longdouble(mpmath.nstr(x, 30)) for x in row] for row in matrix.tolist()]
    )


def predicted(source: KalmanPredictor, observed: FloatArray) -> Any:
    """The right predictions, in the widest format."""
    gain, loop = map(as_long, true_gain(source))
    a, b = (x.astype(np.longdouble) for x in (source.transition, source.observation))
    state, said = np.tile(a @ source.start, (len(observed), 1)), []
    for y in observed.swapaxes(0, 1):
        state = state @ loop.T + y @ gain.T
        said.append(state @ b.T)
    return np.stack(said, axis=1)


def measured(file: ModelFile, source: KalmanPredictor, length: int, seed: int) -> float:
    """The largest error on inputs that are made to be bad, and on random ones."""
    rng = np.random.default_rng(seed)
    kind = KalmanPredictors()
    inputs = kind.sample_vectors(source, (20, length), rng)
    bad = kind.adversarial(source, file, 8, rng)[:, -length:]
    ends = rng.choice([-source.bound, source.bound], (8, *inputs.shape[1:]))
    parts = [inputs, ends, *([bad] if bad.shape[1] == length else [])]
    observed = file.precision.round(np.concatenate(parts))
    return float(
        np.abs(run_network(file, observed) - predicted(source, observed)).max()
    )
