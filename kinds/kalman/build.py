"""Networks of Kalman predictors: a linear RNN, and heads that look at a window."""

import numpy as np

from krohn.compiler import CompileError
from krohn.compiler.transformer import Network
from krohn.kinds.kalman.source import KalmanPredictor
from krohn.network.precision import Precision

MOST_HEADS = 512
APART = 32.0
"""By how much a head's score falls from the right position to the next one, in float32;
twice as much in float64: e^−32 is far below what sums are rounded by."""


def predictor_rnn(source: KalmanPredictor, precision: Precision) -> Network:
    """h_t = F h_{t−1} + L y_t from A x_0, which says B h_t: as many units as states."""
    (m, n), steady = source.observation.shape, source.steady
    tensors = {
        "input.weight": steady.gain.T,
        "unembed.weight": source.observation.T,
        "skip.weight": np.zeros((m, m)),
        "hidden.weight": steady.loop.T,
        "hidden.start": source.first,
    }
    sizes = {"hidden": n, "inputs": m, "outputs": m, "form": "dense"}
    shape = {"kind": "started-recurrence", "dtype": precision.name, **sizes}
    return Network(shape, {k: precision.normal(x) for k, x in tensors.items()}, {})


def window_heads(
    source: KalmanPredictor, heads: int, length: int, precision: Precision
) -> Network:
    """A head for each of the last observations: head j takes B F^j L y_{t−j}.

    The score of position s at t is 2(t − j)s − s², up to a factor and to what is the same
    for all s: it is largest at s = t − j. Before that, it is largest at the start, whose
    value in head j is B F^j z_0 − B F^{j+1} z_0; so heads j ≥ t add up to B F^t z_0.

    Raises:
        CompileError: If there are too many heads.
    """
    if heads > MOST_HEADS:
        raise CompileError(
            f"a window of {heads} observations is too long ({MOST_HEADS} heads are the "
            "most); say a larger --within, or --arch rnn"
        )
    m = len(source.observation)
    taken, left = source.response(heads)
    factor = APART * (1 if precision.name == "float32" else 2)
    times = np.arange(length + 1.0) - length // 2
    # Codes are 1, the time, its square, and whether it is the start.
    code = np.stack([times**0, times, times**2, times == times[0]], axis=1)
    features = m + code.shape[1]
    query, key = np.zeros((heads, features, 2)), np.zeros((heads, features, 2))
    lags = np.arange(float(heads))
    query[:, m, 0], query[:, m + 1, 0] = -2 * factor * lags, 2 * factor
    query[:, m, 1] = -factor
    key[:, m + 1, 0] = key[:, m + 2, 1] = 1.0
    value = np.zeros((heads, features, m))
    value[:, :m] = taken.swapaxes(1, 2)
    ends = np.vstack([left[:heads], np.zeros(m)])
    value[:, -1] = ends[:-1] - ends[1:]
    tensors = {
        "code": code[1:],
        "start": np.append(np.zeros(m), code[0])[None],
        "attention.query": query,
        "attention.key": key,
        "attention.value": value,
        "attention.output": np.tile(np.eye(m), (heads, 1, 1)),
    }
    shape = {
        "kind": "multihead-attention",
        "dtype": precision.name,
        "length": length,
        "inputs": m,
        "codes": code.shape[1],
        "heads": heads,
        "d_qk": 2,
        "d_v": m,
        "outputs": m,
    }
    return Network(shape, {k: precision.normal(x) for k, x in tensors.items()}, {})
