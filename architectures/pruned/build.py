"""The ReLU RNN of a machine, made of a random network by masks."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.minimisation import output_classes
from krohn.architectures.pruned.build_masks import (
    NAME,
    Choice,
    Masked,
    check_format,
    layer,
    mask_for,
)
from krohn.architectures.recurrent.build import Units
from krohn.architectures.recurrent.statement import MATRICES
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import CompiledNetwork, machine_of_states
from krohn.compiler.transformer import Network
from krohn.network.precision import FloatArray, Precision

# All weights are drawn between −1 and 1 before the machine is looked at; the machine only
# says which ones stay. There are no biases. The hidden state that it starts from is the
# only vector that is set.


MOST_UNITS = 96
"""Hidden units of the network that is looked for: the masks of 9,216 weights."""
TRIED = (32, 40, 48, 56, 64, 80, 96, 128)
"""Random units for each input, of which about half have a weight above 0."""
GAIN, SCALE = 1.25, 0.5
"""How steep a pair of units is between off and on, and how large on is. A pair is on or
off whatever it reads within (1 − 1/GAIN)/2 of 0 or 1, if the letter is exact."""


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
    maps = []
    for name in MATRICES:

        def draw(side: str, shape: tuple[int, int], name: str = name) -> FloatArray:
            return layer(f"{name}.{side}", seed, *shape, precision)

        maps.append(mask_for(draw, getattr(wanted, name), units))
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
    check_format(precision)
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
