"""The random matrices that pruned networks are cut from, and the matrices that they make.

A random matrix follows from its name, a seed and its sizes (trusted).
"""

from collections.abc import Mapping
from random import Random

import numpy as np

from krohn.program.domains import FloatArray

GRID = 2.0**-23
"""Of the numbers of a masked Transformer: sums of up to 128 products are exact then."""


MOST = 2**24
"""The numbers of a random matrix of a Transformer, at most."""


def uniform(name: str, seed: int, shape: tuple[int, int]) -> FloatArray:
    """``shape``: numbers that are uniform between −1 and 1, not yet in a format."""
    random = Random(f"layer {name} {seed}")
    numbers = [2 * random.random() - 1 for _ in range(shape[0] * shape[1])]
    return np.array(numbers).reshape(shape)


def on_grid(numbers: FloatArray) -> FloatArray:
    """The nearest multiples of `GRID`."""
    return np.asarray(np.round(numbers / GRID) * GRID)


def matrix_of(tensors: Mapping[str, FloatArray], name: str) -> FloatArray:
    """``(rows, columns)``: a matrix of a Transformer as `Transformer.maps` counts it."""
    if f"{name}.weight" in tensors:
        return np.vstack([tensors[f"{name}.weight"], tensors[f"{name}.bias"]])
    whole = tensors[name]
    if whole.ndim == 3 and not name.endswith(".out"):
        whole = whole.transpose(1, 0, 2)
        return whole.reshape(len(whole), -1)
    return whole.reshape(-1, whole.shape[-1])
