"""Transformers whose matrices are products of masked random ones.

Lemma 18d of docs/proofs/pruned.md. The network without its masks is proved as a disguised
one, beside its plain one.
"""

from dataclasses import replace

import numpy as np

from krohn.architectures.pruned.statement import (
    GRID,
    MOST,
    matrix_of,
    on_grid,
    uniform,
)
from krohn.program.architectures.transformer import MASKS, Masks, Transformer
from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.verify.checker.model_file import Model, check_numbers
from krohn.verify.checker.sparse_matrix import Sparse, by_rows

MOST_SUM = 2.0**53 * GRID**2
"""Below this all sums of products of numbers of the grid are exact in float64."""


def take_off(model: Model) -> Model:
    """A pruned network without its masks, of which each matrix is a product.

    Raises:
        Refused: If a matrix is another one than what two masks leave of random matrices
            that follow from the seed.
    """
    shape = model.network(Transformer)
    assert shape.masks is not None
    demand(not model.format.narrow, f"{model.format.name} rounds products too coarsely")
    for name, values in model.tensors.items():
        check_numbers(name, values, model.format)
    for name in shape.maps:
        left, right = (
            _factor(model, f"{MASKS}{name}.{side}", shape.sparse, shape.masks)
            for side in ("left", "right")
        )
        made = _multiply(left, right).astype(model.format.name)
        alike = np.array_equal(made, matrix_of(model.tensors, name))
        demand(alike, f"{name!r} is not the product of its masked matrices")
    kept = {n: x for n, x in model.tensors.items() if not n.startswith(MASKS)}
    architecture = model.header["architecture"]
    bare = {key: architecture[key] for key in architecture.keys() - {"masks"}}
    return replace(model, tensors=kept, header={**model.header, "architecture": bare})


def _factor(
    model: Model, name: str, shapes: dict[str, tuple[int, int]], masks: Masks
) -> Sparse:
    """What a mask leaves of a random matrix."""
    rows, columns = shapes[name]
    demand(rows * columns <= MOST, f"{name!r} is too large")
    kept = by_rows(model.tensors, name, (rows, columns))
    drawn = on_grid(uniform(name, masks.seed, (rows, columns)))
    same = np.array_equal(drawn[kept.rows, kept.columns], kept.values)
    demand(same, f"{name!r} has other numbers than the seed draws")
    return kept


def _multiply(left: Sparse, right: Sparse) -> FloatArray:
    """left·right, exactly."""
    which, at = right.entries(left.columns)
    terms = left.values[which] * right.values[at]
    places = left.rows[which] * right.shape[1] + right.columns[at]
    count = left.shape[0] * right.shape[1]
    sizes = np.bincount(places, np.abs(terms), count)
    demand(sizes < MOST_SUM, "a sum of products is too large to be exact")
    made = np.bincount(places, terms, count).astype(np.float64)
    return made.reshape(left.shape[0], right.shape[1])
