"""Masks by subset sums: a linear map is found inside of two random matrices.

A weight w is the sum of a_i·b_i over those random products that a mask keeps (Lueker 1998;
Pensia et al. 2020). Theorem 3 of Liu (2024), 3.6.2.2, lifts this to whole networks: one
weight matrix of a network says nothing, for the same random one holds every function.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from krohn.architectures.pruned.statement import on_grid, uniform
from krohn.compiler import CompileError
from krohn.network.architecture import sparse_matrices
from krohn.network.precision import PRECISIONS, FloatArray, Precision
from krohn.network.sparse import Sparse
from krohn.program.domains import BoolArray

NAME = "pruned"
FORMATS = ("float32", "float64")
MOST_UNITS = 256
Draw = Callable[[str, tuple[int, int]], FloatArray]
"""Makes the random matrix of a side, left or right, and of a shape."""
_FORM = re.compile(rf"{NAME}(?::(?P<told>.*))?")
_OPTION = re.compile(r"(seed|units)=(\d{1,9})|(fixed)=(left|right)")


class Choice(NamedTuple):
    """Which random network, and which half of it is masked alike for all functions.

    Attributes:
        seed: Of its weights.
        units: For each input; None for the fewest that can be proved.
        fixed: The side of all products whose masks do not depend on what is computed.
    """

    seed: int = 0
    units: int | None = None
    fixed: str = "left"


def choice(construction: str) -> Choice | None:
    """The choice of a name like ``pruned:seed=3,units=28``; None for other names.

    Raises:
        CompileError: If something after the colon means nothing.
    """
    form = _FORM.fullmatch(construction)
    if form is None:
        return None
    texts = form["told"].split(",") if form["told"] is not None else []
    options = [_OPTION.fullmatch(each) for each in texts]
    numbers = {each[1]: int(each[2]) for each in options if each and each[1]}
    sides = [each[4] for each in options if each and each[3]]
    if len(numbers) + len(sides) < len(texts) or len(sides) > 1:
        raise CompileError(
            f"the options of {NAME} are seed and units, as in {NAME}:seed=3,units=28; "
            "and for Transformers fixed=left or fixed=right"
        )
    units = numbers.get("units")
    if units is not None and not 1 <= units <= MOST_UNITS:
        raise CompileError(f"units are from 1 to {MOST_UNITS}, not {units}")
    return Choice(numbers.get("seed", 0), units, *sides)


def check_format(precision: Precision) -> None:
    """Refuse a format that rounds too coarsely.

    Raises:
        CompileError: If it does.
    """
    if precision.name not in FORMATS:
        raise CompileError(
            f"{precision.name} rounds the sums of a pruned network too coarsely; take "
            f"{' or '.join(FORMATS)}"
        )


MOST_HALF = 14
"""A half of the products has 2^14 sums at most."""
HALVES, FAST_ENOUGH = (12, MOST_HALF), 2.0**-20
"""Halves that are tried where there are many more products than 28, up to a sum that is
as near as this."""


def nearest_subset(
    numbers: FloatArray, target: float, half: int = MOST_HALF
) -> BoolArray:
    """Which numbers to keep so that their sum is near to a target.

    All sums of two halves of the first 28 are made; for each sum of the first half the
    best partner is found among the sorted others. So of up to 28 numbers the nearest
    sum is found. Of more, the others bring the target nearer first, the largest before.

    Args:
        numbers: ``(n,)``.
        target: The sum that is wanted.
        half: Half of how many numbers all sums are made of.
    """
    kept, most = np.zeros(len(numbers), bool), 2 * half
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
    sums = np.zeros(1)
    for number in numbers:
        sums = np.concatenate([sums, sums + number])
    return sums


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
    return precision.normal(uniform(name, seed, (rows, columns)))


def mask_for(
    draw: Draw, target: FloatArray, units: int, near: float | None = None
) -> Masked:
    """The masks with which a random map of two layers is nearest to a linear one.

    Inner units read their input if its weight is above 0, about half of them, so that a
    ReLU may stand between the layers; if ``near`` is given, all read it.

    Args:
        draw: Draws the two layers.
        target: ``(inputs, outputs)``.
        units: Inner units for each input.
        near: How far a weight may be off.

    Raises:
        CompileError: If one is off by more.
    """
    inputs, outputs = target.shape
    width = units * inputs
    first, second = draw("left", (inputs, width)), draw("right", (width, outputs))
    kept, read = np.zeros((width, outputs), bool), np.zeros((inputs, width), bool)
    halves, off = HALVES if near is not None else HALVES[-1:], 0.0
    for row in range(inputs):
        own = np.arange(row * units, (row + 1) * units)
        own = own[first[row, own] > 0] if near is None else own
        read[row, own] = True
        for column in np.flatnonzero(target[row]):
            products = first[row, own] * second[own, column]
            for half in halves:
                chosen = nearest_subset(products, float(target[row, column]), half)
                missed = abs(float(products[chosen].sum() - target[row, column]))
                if missed <= FAST_ENOUGH:
                    break
            kept[own[chosen], column], off = True, max(off, missed)
            if near is not None and off > near:
                raise CompileError(f"masks of {units} units are {off:.2g} off a weight")
    return Masked(apply_mask(first, read), apply_mask(second, kept), off)


def apply_mask(whole: FloatArray, mask: BoolArray) -> Sparse:
    """What a mask keeps of a matrix, but for its zeros."""
    kept = mask & (whole != 0)
    rows, columns = kept.nonzero()
    offsets = np.concatenate([[0], kept.sum(axis=1).cumsum()])
    return Sparse(whole.shape, offsets, columns, whole[rows, columns])


def is_random(
    architecture: Mapping[str, Any], tensors: Mapping[str, FloatArray]
) -> bool:
    """Whether a pruned network has only weights of the random network that it names.

    Args:
        architecture: With ``random``, or ``masks`` of a Transformer, which have the seed.
        tensors: The tensors of the file.
    """
    recipe = architecture.get("masks") or architecture["random"]
    normal: Callable[[FloatArray], FloatArray] = on_grid
    if "masks" not in architecture:
        normal = PRECISIONS[architecture["dtype"]].normal
        if any(tensors[name].any() for name in ("hidden.bias", "unembed.bias")):
            return False
    for name, columns in sparse_matrices(architecture).items():
        matrix = Sparse.from_tensors(tensors, name, columns)
        whole = normal(uniform(name, recipe["seed"], matrix.shape))
        if not np.array_equal(whole[matrix.rows, matrix.columns], matrix.values):
            return False
    return True
