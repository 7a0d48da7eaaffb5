"""Recurrent networks of machines: a unit for each rectangle of states and letters."""

from collections.abc import Callable
from dataclasses import replace
from math import log, log2, tanh
from typing import Any, NamedTuple

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.minimisation import output_classes, reachable
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import CompiledNetwork, machine_of_states
from krohn.compiler.transformer import Network
from krohn.network.precision import FloatArray, Precision
from krohn.network.sparse import Sparse

# The exact ReLU RNN: one unit for each rectangle of states and letters.

NAME = "elman"

WIDEST_DENSE = 1024
"""Units of a network whose matrices hold their zeros too: a million entries at most."""


class Rectangles(NamedTuple):
    """Sets P × L of states and letters that lead to one state, and that are all pairs.

    Attributes:
        arrived: ``(units,)``: the state that all pairs of a rectangle lead to, ascending.
        states: ``(entries, 2)``: a rectangle, and a state of its P.
        letters: ``(entries, 2)``: a rectangle, and a letter of its L.
    """

    arrived: IntArray
    states: IntArray
    letters: IntArray


def rectangles(transitions: IntArray) -> Rectangles:
    """Few rectangles; one for each state if that is possible.

    Of the transitions to a state, either states are put together which the same letters
    lead there, or letters which do so from the same states: the way with fewer.

    Args:
        transitions: ``(letters, states)``.
    """
    count = transitions.shape[1]
    letter, state = (axis.reshape(-1) for axis in np.indices(transitions.shape))
    target = transitions.reshape(-1)
    by_state, by_letter = (
        _alike(target, *pair) for pair in ((state, letter), (letter, state))
    )
    fewer = _classes(target, by_letter, count) < _classes(target, by_state, count)
    label = np.where(fewer[target], by_letter, by_state)
    _, first, unit = np.unique(
        target * (len(target) + 1) + label, return_index=True, return_inverse=True
    )
    sides = (np.unique(np.stack([unit, s], axis=1), axis=0) for s in (state, letter))
    return Rectangles(target[first], *sides)


def _alike(target: IntArray, one: IntArray, other: IntArray) -> IntArray:
    """``(pairs,)``: equal where pairs share the target, and their ``one`` all ``other``."""
    order = np.lexsort((other, one, target))
    groups = np.stack([target[order], one[order]])
    new = np.flatnonzero((np.diff(groups, axis=1) != 0).any(axis=0)) + 1
    starts, ends = np.append(0, new), np.append(new, len(order))
    data, known = (
        other[order].astype(np.int64).tobytes(),
        dict[tuple[int, bytes], int](),
    )
    bounds = zip(
        starts.tolist(), ends.tolist(), groups[0, starts].tolist(), strict=True
    )
    classes = [
        known.setdefault((q, data[8 * a : 8 * b]), len(known)) for a, b, q in bounds
    ]
    class_numbers = np.empty(len(order), np.int64)
    class_numbers[order] = np.repeat(classes, ends - starts)
    return class_numbers


def _classes(target: IntArray, label: IntArray, count: int) -> IntArray:
    """``(states,)``: how many labels occur with each target."""
    pairs = np.unique(np.stack([target, label], axis=1), axis=0)
    return np.bincount(pairs[:, 0], minlength=count)


class Units(NamedTuple):
    """The units of a machine.

    Attributes:
        alive: The states that can be reached, by number.
        on: The rectangles whose units they are, of states numbered as in ``alive``.
        arrived: ``(units,)``: the state that a unit stands for, numbered likewise.
        first: The unit that is on before the first letter.
        silent: The state in which no unit is on, numbered likewise; None if there is none.
    """

    alive: IntArray
    on: Rectangles
    arrived: IntArray
    first: int
    silent: int | None

    @classmethod
    def of(cls, machine: Automaton, mute: int | None = None) -> "Units":
        """One for each rectangle; one more if nothing leads to the start state.

        A state that no letter leaves has none: nothing turns a unit on when all are off.

        Args:
            machine: The machine.
            mute: The only state, by number, that may be without units; None for any.
        """
        number = {q: i for i, q in enumerate(machine.states)}
        alive = np.array([number[q] for q in reachable(machine).states])
        index = np.zeros(len(machine.states), np.int64)
        index[alive] = np.arange(len(alive))
        transitions = index[machine.transitions[:, alive]]
        start, on = index[machine.start], rectangles(transitions)
        stays = (transitions == np.arange(len(alive))).all(axis=0)
        saved = np.bincount(on.arrived, minlength=len(alive)) * stays
        saved[start] = 0
        if mute is not None:
            saved *= alive == mute
        silent = int(saved.argmax()) if saved.any() else None
        if silent is not None:
            on = _without(on, silent)
        entered = np.flatnonzero(on.arrived == start)
        if len(entered):
            return cls(alive, on, on.arrived, int(entered[0]), silent)
        arrived = np.append(on.arrived, start)
        return cls(alive, on, arrived, len(on.arrived), silent)


def _without(on: Rectangles, silent: int) -> Rectangles:
    kept = on.arrived != silent
    number = kept.cumsum() - 1
    sides = (side[kept[side[:, 0]]] for side in (on.states, on.letters))
    renamed = (np.stack([number[r], s], axis=1) for r, s in (x.T for x in sides))
    return Rectangles(on.arrived[kept], *renamed)


class Wiring(NamedTuple):
    """The matrices of a recurrent network of a machine, whatever its units are made of.

    Attributes:
        matrices: From units to the states that they stand for, from states to the units
            whose P they are in, from letters to the units whose L, and to the classes.
        start: ``(units,)``: 1 for the unit that is on before the first letter.
        logits: ``(classes,)``: the biases of the logits.
    """

    matrices: dict[str, Sparse]
    start: FloatArray
    logits: FloatArray

    @classmethod
    def of(cls, machine: Automaton, mute: int | None = None) -> "Wiring":
        """A unit is on if two of its inputs are: the state before, and the letter.

        The unit that is on makes the logit of its class 1, all others −1; if none is, the
        silent state's logit is 1. With such a state it is 3 beside 1.
        """
        units = Units.of(machine, mute)
        width, alive = len(units.arrived), len(units.alive)
        classes = output_classes(machine, "outputs" if machine.output else "states")
        of, outputs = classes.of[units.alive], len(classes.names)
        each, logits = np.arange(width), np.full(outputs, -1.0)
        if units.silent is not None:
            logits[of[units.silent]] = 1.0
        ahead = 2.0 if units.silent is None else 4.0
        (p, states), (q, letters) = units.on.states.T, units.on.letters.T
        answers, read = of[units.arrived], (len(machine.letters), width)
        matrices = {
            "hidden.left": Sparse.of((width, alive), each, units.arrived, 1.0),
            "hidden.right": Sparse.of((alive, width), states, p, 1.0),
            "input.weight": Sparse.of(read, letters, q, 1.0),
            "unembed.weight": Sparse.of((width, outputs), each, answers, ahead),
        }
        start = np.zeros(width)
        start[units.first] = 1.0
        return cls(matrices, start, logits)

    def sizes(self) -> dict[str, int]:
        """How an architecture says them."""
        letters, width = self.matrices["input.weight"].shape
        return {"hidden": width, "vocabulary": letters, "outputs": len(self.logits)}


def elman(wiring: Wiring, precision: Precision) -> Network:
    """h_t = ReLU(W h_{t-1} + U x_t − 1): a unit for each rectangle.

    A unit is 1 when the state *before* the letter is in its P and the letter in its L. All
    values are 0 or 1 and every sum is an integer below 2, so the network is exact in
    every format. Unreachable states get no units and logit −1. Of a machine with outputs
    the network says the output.

    W is a product: from the units to the state that they lead to, and from there to the
    units of that state. Wide networks hold its two factors instead, and no zeros.
    """
    width = len(wiring.start)
    tensors = {
        "hidden.start": wiring.start,
        "hidden.bias": np.full(width, -1.0),
        "unembed.bias": wiring.logits,
    }
    architecture = {"kind": "rnn", "dtype": precision.name, **wiring.sizes()}
    build = _dense if width <= WIDEST_DENSE else _sparse
    return build(architecture, tensors, wiring.matrices)


def _dense(
    architecture: dict[str, Any],
    tensors: dict[str, FloatArray],
    matrices: dict[str, Sparse],
) -> Network:
    whole = {name: matrix.dense() for name, matrix in matrices.items()}
    weight = whole.pop("hidden.left") @ whole.pop("hidden.right")
    return Network(architecture, tensors | whole | {"hidden.weight": weight}, {})


def _sparse(
    architecture: dict[str, Any],
    tensors: dict[str, FloatArray],
    matrices: dict[str, Sparse],
) -> Network:
    entries = {name: len(matrix.values) for name, matrix in matrices.items()}
    shape = {"rank": matrices["hidden.left"].shape[1], "entries": entries}
    parts = [matrix.tensors(name) for name, matrix in matrices.items()]
    return Network(
        architecture | shape,
        {k: v for h in (tensors, *parts) for k, v in h.items()},
        {},
    )


# LSTMs and GRUs of a machine: units as in the ReLU RNN, by gates, shut or open.

SATURATED = "saturated"

ON = tanh(1.0)
"""The state of a unit that is on."""

WIDEST = 2048
"""Units: torch holds four dense matrices of so many rows and columns."""


def steepness(precision: Precision) -> float:
    """K, a power of two: σ(−K/2) is below the unit roundoff of sums."""
    return float(2.0 ** np.ceil(log2(2 * precision.accumulator_digits * log(2))))


def lstm(wiring: Wiring, precision: Precision) -> Network:
    """C = σ(−K)·c + σ(K·s)·tanh(K), h = σ(K)·tanh(c): tanh 1 if the input gate is open.

    s is ½ for the unit whose state was before and whose letter it is, and −½ or less for
    all others. Nothing is kept but by the unit that is turned on, so no noise adds up.
    """
    width, k = len(wiring.start), steepness(precision)
    tensors, none = {"start.cell": wiring.start}, np.zeros(width)
    always = [none, np.full(width, -k), np.full(width, k), np.full(width, k)]
    return _gated_network("lstm", wiring, precision, always, [none] * 4, tensors)


def gru(wiring: Wiring, precision: Precision) -> Network:
    """N = tanh(σ(K·s)·1), h = (1 − σ(−K))·n + σ(−K)·h: the reset gate says who is on."""
    width, k = len(wiring.start), steepness(precision)
    none = np.zeros(width)
    always, inside = [none, np.full(width, -k), none], [none, none, np.ones(width)]
    return _gated_network("gru", wiring, precision, always, inside, {})


def _gated_network(
    kind: str,
    wiring: Wiring,
    precision: Precision,
    always: list[FloatArray],
    inside: list[FloatArray],
    more: dict[str, FloatArray],
) -> Network:
    """All gates but the first are constant: ``always``, and ``inside`` beside W h.

    The first gate says K·(Σ h/tanh 1 + [a ∈ L] − 3/2), Σ over the units of P's states.
    """
    whole = {name: matrix.dense() for name, matrix in wiring.matrices.items()}
    k, width = steepness(precision), len(wiring.start)
    drives = whole["hidden.left"] @ whole["hidden.right"]
    rest = width * (len(always) - 1)
    always = [always[0] - 1.5 * k, *always[1:]]
    tensors = {
        "start.hidden": ON * wiring.start,
        "recurrent.weight_ih_l0": _above(k * whole["input.weight"].T, rest),
        "recurrent.weight_hh_l0": _above(k / ON * drives.T, rest),
        "recurrent.bias_ih_l0": np.concatenate(always),
        "recurrent.bias_hh_l0": np.concatenate(inside),
        "unembed.weight": whole["unembed.weight"],
        "unembed.bias": wiring.logits,
    }
    architecture = {"kind": kind, "dtype": precision.name, **wiring.sizes()}
    return Network(architecture, {**tensors, **more}, {})


def _above(matrix: FloatArray, rows: int) -> FloatArray:
    return np.vstack([matrix, np.zeros((rows, matrix.shape[1]))])


# By architecture.


class Cell(NamedTuple):
    """How a recurrent network of a machine is made.

    Attributes:
        construction: What it is called.
        network: From the wiring and the format to the network, for words of every length.
        on: The state of a unit that is on; of one that is off it is nearly 0.
    """

    construction: str
    network: Callable[[Wiring, Precision], Network]
    on: float


CELLS = {
    "rnn": Cell(NAME, elman, 1.0),
    "lstm": Cell(SATURATED, lstm, ON),
    "gru": Cell(SATURATED, gru, ON),
}
"""By architecture."""


def compile_rnn(
    machine: Automaton, precision: Precision, arch: str = "rnn"
) -> CompiledNetwork:
    """The recurrent network of a machine."""
    network = _network(
        machine.name, Wiring.of(machine_of_states(machine)), precision, arch
    )
    return CompiledNetwork(CELLS[arch].construction, network, {}, None)


def speaking(
    machine: Automaton, vectors: FloatArray, precision: Precision, arch: str
) -> CompiledNetwork:
    """The recurrent network of a machine that says a vector of each state.

    Args:
        machine: Without outputs.
        vectors: ``(states or fewer, n)``: the vectors. A last state beyond these says 0,
            and is silent if no letter leaves it.
        precision: The format.
        arch: ``"rnn"``, ``"lstm"`` or ``"gru"``.
    """
    count, size = vectors.shape
    wiring = Wiring.of(machine, count)
    normal = precision.normal(vectors / CELLS[arch].on)
    all_vectors = np.vstack([normal, np.zeros((1, size))])
    whole = all_vectors[wiring.matrices["unembed.weight"].columns]
    rows, columns = whole.nonzero()
    readout = replace(
        Sparse.of(whole.shape, rows, columns, 1.0), values=whole[rows, columns]
    )
    matrices = {**wiring.matrices, "unembed.weight": readout}
    wiring = Wiring(matrices, wiring.start, np.zeros(size))
    network = _network(machine.name, wiring, precision, arch)
    return CompiledNetwork(CELLS[arch].construction, network, {}, None)


def _network(name: str, wiring: Wiring, precision: Precision, arch: str) -> Network:
    """The network, if its architecture can be so wide.

    Raises:
        CompileError: If it cannot.
    """
    width = len(wiring.start)
    if arch != "rnn" and width > WIDEST:
        raise CompileError(
            f"{name} needs {width:,} units, and LSTMs and GRUs have at most "
            f"{WIDEST:,}; use --arch rnn, which stores no zeros"
        )
    return CELLS[arch].network(wiring, precision)
