"""One head whose features are given: only W_Q and W_K are trained, by gradients by hand.

Ĥ_t = Σ_s softmax_s[f̂(x_t)·W_Q W_Kᵀ f̂(x_s)] x_s with f̂(x) = √2 sin 2πix, i = 1 … 64. So
nothing but the rank of the head stands between the network and its target. Adam with the
schedule of one cycle, as torch has both; numpy takes a quarter of the time of autograd.
"""

import numpy as np
import torch

from krohn.network.precision import FloatArray

SINES, BATCH, RATE = 64, 64, 1e-2
RISE, START, END = 0.3, 25.0, 25e4
"""The rate rises in this share of the steps, from RATE/START; it ends at RATE/END."""
MOMENTUM, SQUARES, LEAST = (0.95, 0.85), 0.999, 1e-8


def bases(inputs: FloatArray) -> FloatArray:
    """``(count, τ)`` numbers to ``(count, τ, 64)``."""
    angles = 2 * np.pi * np.arange(1, SINES + 1) * inputs[..., None]
    return (2**0.5 * np.sin(angles)).astype(np.float32)


def one_cycle(step: int, steps: int) -> tuple[float, float]:
    """The rate and the momentum of a step, counted from 0: cosines between three values."""
    turn = RISE * steps - 1
    rising = step <= turn
    passed = step / turn if rising else (step - turn) / (steps - 1 - turn)
    share = (1 - np.cos(np.pi * passed)) / 2
    low = RATE / (START if rising else END)
    high = share if rising else 1 - share
    first, last = MOMENTUM
    return low + high * (RATE - low), first + high * (last - first)


def attend(
    matrices: FloatArray, features: FloatArray, values: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Outputs ``(count, τ)``, weights ``(count, τ, τ)``, queries and keys.

    Args:
        matrices: ``(2, 64, m)``: W_Q and W_K.
        features: ``(count, τ, 64)``: the bases of the inputs.
        values: ``(count, τ)``: the inputs.
    """
    queries, keys = features @ matrices[0], features @ matrices[1]
    scores = queries @ keys.transpose(0, 2, 1)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    weights /= weights.sum(axis=2, keepdims=True)
    return (weights @ values[..., None])[..., 0], weights, queries, keys


def gradient(
    matrices: FloatArray, features: FloatArray, values: FloatArray, wanted: FloatArray
) -> FloatArray:
    """``(2, 64, m)``: of the mean square of outputs less what is wanted."""
    outputs, weights, queries, keys = attend(matrices, features, values)
    off = (outputs - wanted) * np.float32(2 / wanted.size)
    apart = values[:, None, :] - outputs[..., None]
    scores = weights * (off[..., None] * apart)
    flat = features.reshape(-1, SINES)
    both = scores @ keys, scores.transpose(0, 2, 1) @ queries
    return np.stack([flat.T @ each.reshape(len(flat), -1) for each in both])


def train_head(
    inputs: FloatArray, wanted: FloatArray, width: int, seed: int, steps: int
) -> FloatArray:
    """``(2, 64, width)``: W_Q and W_K after training; random numbers are torch's."""
    generator = torch.Generator().manual_seed(seed)
    drawn = [torch.randn(SINES, width, generator=generator) * 0.1 for _ in range(2)]
    matrices = torch.stack(drawn).numpy()
    mean, square = np.zeros_like(matrices), np.zeros_like(matrices)
    features, batches = bases(inputs), torch.Generator().manual_seed(seed)
    values, targets = inputs.astype(np.float32), wanted.astype(np.float32)
    for step in range(steps):
        rows = torch.randint(len(inputs), (BATCH,), generator=batches).numpy()
        slope = gradient(matrices, features[rows], values[rows], targets[rows])
        rate, momentum = one_cycle(step, steps)
        mean += (1 - momentum) * (slope - mean)
        square += (1 - SQUARES) * (slope * slope - square)
        size = np.sqrt(square / (1 - SQUARES ** (step + 1))) + LEAST
        matrices -= rate / (1 - momentum ** (step + 1)) * mean / size
    return matrices


def spectrum(matrices: FloatArray, terms: int) -> list[float]:
    """The largest singular values of W_Q W_Kᵀ: the bases are orthonormal."""
    product = matrices[0].astype(np.float64) @ matrices[1].T.astype(np.float64)
    values: list[float] = np.linalg.svd(product, compute_uv=False).tolist()
    return values[: min(terms, matrices.shape[2])]
