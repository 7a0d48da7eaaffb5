"""The ReLU RNN of a machine, made of a random network by masks."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.minimisation import output_classes
from krohn.architectures.recurrent.build import Units
from krohn.architectures.recurrent.statement import MATRICES
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import CompiledNetwork, machine_of_states
from krohn.compiler.transformer import Network
from krohn.network.architecture import sparse_matrices
from krohn.network.precision import PRECISIONS, FloatArray, Precision
from krohn.network.sparse import Sparse
from krohn.program.domains import BoolArray, IntArray

# Masks by subset sums: a linear map is found inside of a random network of two layers.
#
# A weight w is the sum of a_i·b_i over those random products that a mask keeps (Lueker
# 1998;
# Pensia et al. 2020). Theorem 3 of Liu (2024), 3.6.2.2, lifts this to whole networks: one
# weight matrix of a network says nothing, for the same random one holds every function.


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
    random = Random(f"layer {name} {seed}")
    numbers = [2 * random.random() - 1 for _ in range(rows * columns)]
    return precision.normal(np.array(numbers).reshape(rows, columns))


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
        own = _find_own_units(first, row, units)
        products = first[row, own] * second[own, column]
        chosen = nearest_subset(products, float(target[row, column]))
        kept[own[chosen], column] = True
        off = max(off, abs(float(products[chosen].sum() - target[row, column])))
    read = np.zeros((inputs, width), bool)
    for row in range(inputs):
        read[row, _find_own_units(first, row, units)] = True
    return Masked(
        _apply_mask(first, read), _apply_mask(second, kept & (second != 0)), off
    )


def _find_own_units(first: FloatArray, row: int, units: int) -> IntArray:
    """The inner units of an input whose weight is above 0."""
    block = np.arange(row * units, (row + 1) * units)
    return np.asarray(block[first[row, block] > 0])


def _apply_mask(whole: FloatArray, mask: BoolArray) -> Sparse:
    rows, columns = mask.nonzero()
    offsets = np.concatenate([[0], mask.sum(axis=1).cumsum()])
    return Sparse(whole.shape, offsets, columns, whole[rows, columns])


# The ReLU RNN of a machine, made of a random network by masks.
#
# All weights are drawn between −1 and 1 before the machine is looked at; the machine only
# says which ones stay. There are no biases. The hidden state that it starts from is the
# only
# vector that is set.


NAME = "pruned"
MOST_UNITS = 96
"""Hidden units of the network that is looked for: the masks of 9,216 weights."""
FORMATS = ("float32", "float64")
TRIED = (32, 40, 48, 56, 64, 80, 96, 128)
"""Random units for each input, of which about half have a weight above 0."""
GAIN, SCALE = 1.25, 0.5
"""How steep a pair of units is between off and on, and how large on is. A pair is on or
off whatever it reads within (1 − 1/GAIN)/2 of 0 or 1, if the letter is exact."""
_FORM = re.compile(rf"{NAME}(?::(?P<told>.*))?")
_OPTION = re.compile(r"(seed|units)=(\d{1,9})")


class Choice(NamedTuple):
    """Which random network.

    Attributes:
        seed: Of its weights.
        units: For each input; None for the fewest of `TRIED` that can be proved.
    """

    seed: int = 0
    units: int | None = None


class Target(NamedTuple):
    """The RNN h' = ReLU(h·W + U_a), logits h·R, that is looked for.

    Attributes:
        hidden: ``(hidden, hidden)``: W.
        input: ``(letters, hidden)``: U.
        unembed: ``(hidden, classes)``: R.
        start: ``(hidden,)``.
    """

    hidden: FloatArray
    input: FloatArray
    unembed: FloatArray
    start: FloatArray


def choice(construction: str) -> Choice | None:
    """The seed and units of a name like ``pruned:seed=3,units=28``; None for other names.

    Raises:
        CompileError: If something after the colon means nothing.
    """
    form = _FORM.fullmatch(construction)
    if form is None:
        return None
    texts = form["told"].split(",") if form["told"] is not None else []
    options = [_OPTION.fullmatch(each) for each in texts]
    given = {each[1]: int(each[2]) for each in options if each}
    if len(given) < len(texts):
        raise CompileError(
            f"the options of {NAME} are seed and units, as in {NAME}:seed=3,units=28"
        )
    units = given.get("units")
    if units is not None and not 1 <= units <= TRIED[-1]:
        raise CompileError(f"units are from 1 to {TRIED[-1]}, not {units}")
    return Choice(given.get("seed", 0), units)


def target(machine: Automaton) -> Target:
    """Two units p and q for each rectangle; p − q is `SCALE` if it is on, and else 0.

    With s = 1 if the state before is in its P and 0 if not, and l likewise of the letter,
    let y = s + l − 3/2, which is 1/2 if the rectangle is on and at most −1/2 if not. Then
    p = ReLU(GAIN·y + 1/2) and q = ReLU(GAIN·y − 1/2), times `SCALE`. Where y is off a
    little, both move together and p − q does not: errors are not handed on.
    """
    units = Units.of(machine, -1)  # no state is silent
    count, alive = len(units.arrived), len(units.alive)
    reads, hears = np.zeros((alive, count)), np.zeros((len(machine.letters), count))
    reads[units.on.states[:, 1], units.on.states[:, 0]] = 1.0
    hears[units.on.letters[:, 1], units.on.letters[:, 0]] = 1.0
    pair, difference = np.array([0.5, -0.5]), np.array([1.0, -1.0])
    classes = output_classes(machine, "outputs" if machine.output else "states")
    answers = np.zeros((count, len(classes.names)))
    answers[np.arange(count), classes.of[units.alive[units.arrived]]] = 1.0
    start = np.zeros(2 * count)
    start[2 * units.first : 2 * units.first + 2] = GAIN / 2 + pair
    drive = np.kron(GAIN * (hears - 1.5), np.ones(2)) + np.tile(pair, count)
    reading = np.kron(reads[units.arrived], np.outer(difference, np.ones(2)))
    maps = GAIN * reading, SCALE * drive, SCALE * np.kron(answers, difference[:, None])
    hidden, letters, readout = (np.asarray(x, np.float64) for x in maps)
    return Target(hidden, letters, readout, SCALE * start)


class Pruned(NamedTuple):
    """A network in a random one: the weights that masks keep.

    Attributes:
        network: Architecture and tensors.
        hidden: The masked maps of `Target`, by their names.
        input: Likewise.
        unembed: Likewise.
    """

    network: Network
    hidden: Masked
    input: Masked
    unembed: Masked

    @property
    def near(self) -> bool:
        """Whether no pair of units can turn over by errors, rounding apart."""
        return (
            relative_error(self.hidden.off, self.input.off) < 1
            and self.unembed.off < SCALE / 4
        )


def relative_error(hidden: float, letter: float) -> float:
    """The error of a pair's input, relative to the input that would turn the pair over.

    Let a unit's input be off by E for the errors of its own weights: that is at most
    the error of a letter's weight, and that of a recurrent one times p + q of the pair
    that is on. Beside that the pair that is on hands on p − q, which is off by the
    difference of the inputs of p and q, so by 2E at most, times `GAIN`; errors
    common to both are gone. Together (1 + 2·GAIN)·E, and SCALE·(GAIN − 1)/2 turns a
    pair; until then p + q is at most SCALE·(2·GAIN − 1), and pairs that are off are 0.

    Args:
        hidden: The error of a recurrent weight.
        letter: The error of a letter's weight.
    """
    own = hidden * SCALE * (2 * GAIN - 1) + letter
    return (1 + 2 * GAIN) * own / (SCALE * (GAIN - 1) / 2)


def prune(machine: Automaton, precision: Precision, seed: int, units: int) -> Pruned:
    """The machine in a random network.

    Args:
        machine: The machine to compute; its outputs, if it has any.
        precision: The format.
        seed: Seed of the weights.
        units: Random units for each input of a map.

    Raises:
        CompileError: If it needs too many hidden units.
    """
    wanted = target(machine)
    hidden = len(wanted.start)
    if hidden > MOST_UNITS:
        raise CompileError(
            f"{machine.name} needs {hidden} hidden units, and masks are looked for up to "
            f"{MOST_UNITS}; leave --construction out"
        )
    maps = [
        mask_for(name, seed, getattr(wanted, name), units, precision)
        for name in MATRICES
    ]
    return Pruned(_network(wanted, maps, seed, units, precision), *maps)


def _network(
    wanted: Target, maps: list[Masked], seed: int, units: int, precision: Precision
) -> Network:
    tensors = {
        "hidden.start": precision.round(wanted.start),
        "hidden.bias": np.zeros(len(wanted.start)),
        "unembed.bias": np.zeros(wanted.unembed.shape[1]),
    }
    sides = {
        f"{name}.{side}": getattr(each, side)
        for name, each in zip(MATRICES, maps, strict=True)
        for side in ("left", "right")
    }
    architecture = {
        "kind": "rnn",
        "dtype": precision.name,
        "hidden": len(wanted.start),
        "vocabulary": len(wanted.input),
        "outputs": wanted.unembed.shape[1],
        "ranks": {n: m.left.shape[1] for n, m in zip(MATRICES, maps, strict=True)},
        "entries": {name: len(factor.values) for name, factor in sides.items()},
        "random": {"seed": seed, "units": units},
    }
    for name, factor in sides.items():
        tensors |= factor.tensors(name)
    return Network(architecture, tensors, {})


def networks(
    machine: Automaton, precision: Precision, chosen: Choice
) -> Iterator[CompiledNetwork]:
    """The networks to try to prove, fewest units first.

    Raises:
        CompileError: If no masks are near enough, or the format is too coarse.
    """
    if precision.name not in FORMATS:
        raise CompileError(
            f"{precision.name} rounds the sums of a pruned network too coarsely; take "
            f"{' or '.join(FORMATS)}"
        )
    tried, any_near = TRIED if chosen.units is None else (chosen.units,), False
    for units in tried:
        made = prune(machine_of_states(machine), precision, chosen.seed, units)
        if made.near or chosen.units is not None:
            any_near = True
            yield CompiledNetwork(NAME, made.network, {}, None)
    if not any_near:
        raise CompileError(
            f"no masks of {tried[-1]} random units for each input are near enough to "
            f"{machine.name}; try another seed, as {NAME}:seed={chosen.seed + 1}"
        )


def is_random(
    architecture: Mapping[str, Any], tensors: Mapping[str, FloatArray]
) -> bool:
    """Whether a pruned network has only weights of the random network that it names.

    Args:
        architecture: With ``random``: the seed, and the units of each input.
        tensors: The tensors of the file.
    """
    recipe = architecture["random"]
    precision = PRECISIONS[architecture["dtype"]]
    for name, columns in sparse_matrices(architecture).items():
        matrix = Sparse.from_tensors(tensors, name, columns)
        whole = layer(name, recipe["seed"], *matrix.shape, precision)
        if not np.array_equal(whole[matrix.rows, matrix.columns], matrix.values):
            return False
    return not any(tensors[name].any() for name in ("hidden.bias", "unembed.bias"))
