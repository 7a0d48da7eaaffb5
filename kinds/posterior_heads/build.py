"""One softmax head over a memory: the posterior of a hidden state, and its prediction.

Its queries are the inputs themselves. A slot for each state makes the softmax the
posterior, without any error but rounding; a slot for each letter is a table.
"""

from collections.abc import Callable
from math import log

import numpy as np

from krohn.architectures.attention_layer.build import attention_layer_network
from krohn.compiler import CompileError
from krohn.compiler.transformer import Network
from krohn.kinds.posterior_heads.source import PosteriorHead
from krohn.network.precision import FloatArray, Precision

Memory = tuple[FloatArray, FloatArray, FloatArray]
"""Keys ``(slots, d)``, biases ``(slots,)`` and values ``(slots, outputs)``."""


def posterior(source: PosteriorHead, precision: Precision) -> Memory:
    """A slot for each state: scores are log densities.

    The score of a state that never says a letter has no logarithm. It is so low that all
    such states together have less than a unit roundoff of the weight.
    """
    keys, biases = source.keys(), source.biases()
    best = (keys + biases[:, None]).max(axis=0)
    low = best - biases[:, None] - log(source.size / precision.accumulator_unit)
    return np.where(np.isfinite(keys), keys, low), biases, source.values


def lookup(source: PosteriorHead, precision: Precision) -> Memory:
    """A slot for each letter, with the guess after it.

    The slots of other letters together have less than a unit roundoff of the weight.

    Raises:
        CompileError: If it says points.
    """
    if source.radius is not None:
        raise CompileError(
            f"the construction lookup is for letters, and {source.name} guesses "
            "points; leave --construction out"
        )
    letters = np.eye(len(source.letters))
    sharp = log(len(letters) / precision.accumulator_unit)
    return sharp * letters, np.zeros(len(letters)), source.run(letters)


CONSTRUCTIONS: dict[str, Callable[[PosteriorHead, Precision], Memory]] = {
    "posterior": posterior,
    "lookup": lookup,
}
"""By name; the first is the usual one."""


def network(
    source: PosteriorHead, name: str, length: int, precision: Precision
) -> Network:
    """The layer of a construction, for inputs of up to so many vectors."""
    keys, biases, values = CONSTRUCTIONS[name](source, precision)
    d, outputs = len(source.letters), values.shape[1]
    tensors = {
        "features.0.weight": np.eye(d),
        "features.0.bias": np.zeros(d),
        "attention.query": np.eye(d),
        "memory.key": keys,
        "memory.bias": biases,
        "memory.value": values,
        "output.0.weight": np.eye(outputs),
        "output.0.bias": np.zeros(outputs),
    }
    return attention_layer_network(tensors, length, precision)
