"""Attention layers of kernels (Jiang and Li, section 6): any linear map of T numbers.

If no ρ is negative, the weights do it: the logit of s at t is log ρ(t − s), the value is
x_s, and F multiplies the mean by Z_t = Σ_{s≤t} ρ(s). A kernel with signs has a slot for
each input instead: the weights are 2/(t + 2) at s = t and 1/(t + 2) before, the value is
x_s in slot s, and F takes ρ(t − s) of each slot. What F must know is t. It is read from the
aggregated position: there is a threshold between any two, and each time has a pair of
units, which are pressed below 0 at all other times.
"""

from typing import NamedTuple

import numpy as np

from krohn.architectures.attention_layer.build import attention_layer_network
from krohn.architectures.attention_layer.statement import mark_visible
from krohn.compiler import CompileError
from krohn.compiler.transformer import Network
from krohn.kinds.kernels.source import Kernel
from krohn.network.precision import FloatArray, Precision

MOST_INPUTS = 512
NEAREST = 2.0**-6
"""Aggregated positions that are nearer to each other are not told apart: then slots are."""
PRESSED = 8.0
"""By how many times what an output can be its units are pressed down elsewhere."""


class Heads(NamedTuple):
    """The queries and keys of positions, and their scores.

    Attributes:
        code: ``(T, c)``: the codes of positions; the last column is aggregated.
        query: ``(c, k)``.
        key: ``(c, k)``.
        logits: ``(T, T)``: the resulting scores; −∞ at unseen positions.
    """

    code: FloatArray
    query: FloatArray
    key: FloatArray
    logits: FloatArray


def kernel_attention(kernel: Kernel, precision: Precision) -> Network:
    """The layer of a kernel, and of one whose inputs are permuted.

    Raises:
        CompileError: If it is too long.
    """
    if kernel.length > MOST_INPUTS:
        raise CompileError(
            f"an attention layer of a kernel has at most {MOST_INPUTS} inputs, not "
            f"{kernel.length}; say a smaller -T, or --arch rnn"
        )
    matrix, slots = kernel.matrix(), 1
    heads = _weighing(kernel, matrix, precision)
    weights = _softmax(heads.logits)
    means = weights @ heads.code[:, -1]
    if (matrix < 0).any() or not np.diff(means).min(initial=1.0) >= NEAREST:
        slots, heads = kernel.length, _plain(kernel)
        weights = _softmax(heads.logits)
        means = weights @ heads.code[:, -1]
    taken = np.divide(matrix, weights, out=np.zeros_like(matrix), where=weights > 0)
    if slots == 1:
        taken = matrix.sum(axis=1, keepdims=True)
    return _layer(kernel, heads, slots, taken, means, precision)


def _weighing(kernel: Kernel, matrix: FloatArray, precision: Precision) -> Heads:
    """Weights in proportion to ρ: of one exponential in one dimension, else in T."""
    size = kernel.length
    times = np.arange(size, dtype=float)
    if kernel.order is not None:
        times[list(kernel.order)] = np.arange(size)
    causal = kernel.order is None
    shown = mark_visible(causal, size)
    if causal and not kernel.values and len(kernel.modes) == 1:
        ((weight, base),) = kernel.modes
        if weight.imag == base.imag == 0 and weight.real > 0 and base.real > 0:
            pairs = np.stack([np.ones(size), times], axis=1)
            rate = -np.log(base.real)
            logits = np.where(shown, rate * times, -np.inf)
            one, other = np.hsplit(np.eye(2), 2)
            return Heads(pairs, one, rate * other, logits)
    # What is not to be seen is so far below that its exponential is 0.
    never = 4 * np.log(precision.smallest)
    rows = np.abs(matrix)
    rows[rows.max(axis=1) == 0, 0] = 1.0
    rows = rows / rows.max(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        logits = np.maximum(np.log(rows), never)
    code: FloatArray = np.column_stack([np.eye(size), times])
    first: FloatArray = np.eye(size + 1)[:, :size]
    key: FloatArray = np.vstack([logits.T, np.zeros(size)])
    return Heads(code, first, key, np.where(shown, logits, -np.inf))


def _plain(kernel: Kernel) -> Heads:
    """Twice the weight for the own position: logits log 2 and 0."""
    size = kernel.length
    times = np.arange(size, dtype=float)
    code: FloatArray = np.column_stack([np.eye(size), times])
    first = np.eye(size + 1)[:, :size]
    shown = mark_visible(kernel.causal, size)
    logits = np.where(shown, np.log(2.0) * np.eye(size), -np.inf)
    return Heads(code, first, np.log(2.0) * first, logits)


def _softmax(logits: FloatArray) -> FloatArray:
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return shares


def _layer(
    kernel: Kernel,
    heads: Heads,
    slots: int,
    taken: FloatArray,
    found: FloatArray,
    precision: Precision,
) -> Network:
    """The tensors, from the scores of positions and the weights of each slot."""
    size, most = kernel.length, kernel.largest_input
    features, code = _features(heads.code, slots, 2 * most)
    code_width = heads.code.shape[1]
    blank = np.zeros((slots, heads.query.shape[1]))
    value = np.zeros((slots + code_width, slots + 1))
    value[:slots, :slots], value[-1, -1] = np.eye(slots), 1.0
    tensors = {
        "code": code,
        **features,
        "attention.query": np.vstack([blank, heads.query]),
        "attention.key": np.vstack([blank, heads.key]),
        "attention.value": value,
        **_output(slots, taken, found, most),
    }
    tensors = {name: precision.normal(tensor) for name, tensor in tensors.items()}
    return attention_layer_network(tensors, size, precision, kernel.causal)


def _features(
    code: FloatArray, slots: int, shut: float
) -> tuple[dict[str, FloatArray], FloatArray]:
    """f̂: the input and the code; or the input in the slot of its position, and the code."""
    code_width = code.shape[1]
    if slots == 1:
        both = {
            "features.0.weight": np.eye(1 + code_width),
            "features.0.bias": np.zeros(1 + code_width),
        }
        return both, code
    ones, none = np.ones((1, slots)), np.zeros((slots, code_width))
    first = np.block(
        [
            [ones, -ones, np.zeros((1, code_width))],
            [np.eye(slots), np.eye(slots), none],
            [none.T, none.T, np.eye(code_width)],
        ]
    )
    second = np.block(
        [[np.eye(slots), none], [-np.eye(slots), none], [none.T, np.eye(code_width)]]
    )
    layers = {
        "features.0.weight": first,
        "features.0.bias": np.zeros(first.shape[1]),
        "features.1.weight": second,
        "features.1.bias": np.zeros(second.shape[1]),
    }
    return layers, np.hstack([shut * (np.eye(slots) - 1), code])


def _output(
    slots: int, taken: FloatArray, found: FloatArray, most: float
) -> dict[str, FloatArray]:
    """F̂: for each time a pair of units that add up slots, pressed to 0 at all others."""
    size = len(found)
    between = (found[1:] + found[:-1]) / 2
    first = np.zeros((slots + 1, 2 * slots + 2 * (size - 1)))
    first[:slots, : 2 * slots] = np.hstack([np.eye(slots), -np.eye(slots)])
    first[-1, 2 * slots :] = np.repeat([-1.0, 1.0], size - 1)
    shift = np.concatenate([np.zeros(2 * slots), between, -between])
    gap = np.diff(found).min(initial=1.0) / 2
    press = PRESSED * most * np.abs(taken).sum(axis=1).max() / gap
    press = 2.0 ** np.ceil(np.log2(press)) if press > 0 else 1.0
    sides = np.zeros((2 * (size - 1), size))
    at = np.arange(size - 1)
    sides[at, at + 1] = sides[size - 1 + at, at] = -press
    pairs = np.vstack([taken.T, -taken.T])
    second = np.zeros((len(shift), 2 * size))
    second[: 2 * slots, ::2], second[: 2 * slots, 1::2] = pairs, -pairs
    second[2 * slots :, ::2] = second[2 * slots :, 1::2] = sides
    return {
        "output.0.weight": first,
        "output.0.bias": shift,
        "output.1.weight": second,
        "output.1.bias": np.zeros(2 * size),
        "output.2.weight": np.tile([1.0, -1.0], size)[:, None],
        "output.2.bias": np.zeros(1),
    }
