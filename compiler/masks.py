"""Masks by subset sums: a linear map is found inside of a random network of two layers.

A weight w is the sum of a_i·b_i over those random products that a mask keeps (Lueker 1998;
Pensia et al. 2020). Theorem 3 of Liu (2024), 3.6.2.2, lifts this to whole networks: one
weight matrix of a network says nothing, for the same random one holds every function.
"""

from dataclasses import dataclass
from random import Random

import numpy as np

from krohn.network.precision import FloatArray, Precision
from krohn.network.sparse import Sparse
from krohn.program.domains import BoolArray, IntArray

MOST_HALF = 14
"""A half of the products has 2^14 sums at most."""


def nearest_subset(numbers: FloatArray, target: float) -> BoolArray:
    """Which numbers to keep so that their sum is near to a target.

    All sums of two halves of the first 28 are made; for each sum of the first half the
    best partner is found among the sorted others. So of up to 28 numbers the nearest
    sum is found. Of more, the others bring the target nearer first, the largest before.

    Args:
        numbers: ``(n,)``.
        target: The sum that is wanted.
    """
    kept, most = np.zeros(len(numbers), bool), 2 * MOST_HALF
    rest = most + np.argsort(-np.abs(numbers[most:]), kind="stable")
    for at in rest.tolist():
        if 0 < numbers[at] / target <= 1:
            kept[at], target = True, target - numbers[at]
            if target == 0:
                return kept
    used, middle = numbers[:most], len(numbers[:most]) // 2
    first, second = _sums(used[:middle]), _sums(used[middle:])
    order = np.argsort(second, kind="stable")
    ordered, missing = second[order], target - first
    above = np.minimum(np.searchsorted(ordered, missing), len(ordered) - 1)
    either = np.stack([np.maximum(above - 1, 0), above])
    off = np.abs(ordered[either] - missing)
    side, at = np.unravel_index(int(off.argmin()), off.shape)
    code = int(at) + (int(order[either[side, at]]) << middle)
    kept[: len(used)] = (code >> np.arange(len(used))) & 1
    return kept


def _sums(numbers: FloatArray) -> FloatArray:
    """``(2^n,)``: the sum of each subset; the bits of its number are the members."""
    found = np.zeros(1)
    for number in numbers:
        found = np.concatenate([found, found + number])
    return found


@dataclass(frozen=True)
class Masked:
    """A random map of two layers, x ↦ ReLU(x·left)·right, of which masks keep a part.

    Each inner unit keeps one input, by a weight above 0, whatever the map is. So for
    inputs that are not negative the inner ReLU changes nothing; the map is x·left·right.

    Attributes:
        left: ``(inputs, units)``: the kept weights of the first layer.
        right: ``(units, outputs)``: the kept weights of the second.
        off: The largest error of an entry of left·right.
    """

    left: Sparse
    right: Sparse
    off: float

    @property
    def kept(self) -> int:
        """How many weights are kept."""
        return len(self.left.values) + len(self.right.values)

    @property
    def size(self) -> int:
        """How many weights there were."""
        (inputs, units), (_, outputs) = self.left.shape, self.right.shape
        return units * (inputs + outputs)


def layer(
    name: str, seed: int, rows: int, columns: int, precision: Precision
) -> FloatArray:
    """``(rows, columns)``: a random layer, uniform between −1 and 1, in a format."""
    random = Random(f"layer {name} {seed}")
    numbers = [2 * random.random() - 1 for _ in range(rows * columns)]
    rounded = precision.round(np.array(numbers).reshape(rows, columns))
    return np.where(np.abs(rounded) < precision.smallest, 0.0, rounded)


def mask_for(
    name: str, seed: int, target: FloatArray, units: int, precision: Precision
) -> Masked:
    """The masks with which a random map of two layers is nearest to a linear one.

    Args:
        name: Name of the map; other names have other random layers.
        seed: Seed of the random layers.
        target: ``(inputs, outputs)``.
        units: Inner units for each input, of which about half have a weight above 0.
        precision: The format of the layers.
    """
    inputs, outputs = target.shape
    width = units * inputs
    first = layer(f"{name}.left", seed, inputs, width, precision)
    second = layer(f"{name}.right", seed, width, outputs, precision)
    kept = np.zeros((width, outputs), bool)
    off = 0.0
    for row, column in np.ndindex(inputs, outputs):
        if target[row, column] == 0:
            continue
        own = _own(first, row, units)
        products = first[row, own] * second[own, column]
        chosen = nearest_subset(products, float(target[row, column]))
        kept[own[chosen], column] = True
        off = max(off, abs(float(products[chosen].sum() - target[row, column])))
    read = np.zeros((inputs, width), bool)
    for row in range(inputs):
        read[row, _own(first, row, units)] = True
    return Masked(
        _apply_mask(first, read), _apply_mask(second, kept & (second != 0)), off
    )


def _own(first: FloatArray, row: int, units: int) -> IntArray:
    """The inner units of an input whose weight is above 0."""
    block = np.arange(row * units, (row + 1) * units)
    return np.asarray(block[first[row, block] > 0])


def _apply_mask(whole: FloatArray, mask: BoolArray) -> Sparse:
    rows, columns = mask.nonzero()
    offsets = np.concatenate([[0], mask.sum(axis=1).cumsum()])
    return Sparse(whole.shape, offsets, columns, whole[rows, columns])
