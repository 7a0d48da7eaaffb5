"""LSTMs and GRUs of a machine: units as in the ReLU RNN, by gates, shut or open."""

from math import log, log2, tanh

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.compiler.errors import CompileError
from krohn.compiler.rnn import Wiring
from krohn.compiler.transformer import Network
from krohn.network.precision import FloatArray, Precision

NAME = "saturated"

ON = tanh(1.0)
"""The state of a unit that is on."""

WIDEST = 2048
"""Units: torch holds four dense matrices of so many rows and columns."""


def steepness(precision: Precision) -> float:
    """K, a power of two: σ(−K/2) is below the unit roundoff of sums."""
    return float(2.0 ** np.ceil(log2(2 * precision.accumulator_digits * log(2))))


def lstm(machine: Automaton, precision: Precision) -> Network:
    """C = σ(−K)·c + σ(K·s)·tanh(K), h = σ(K)·tanh(c): tanh 1 if the input gate is open.

    s is ½ for the unit whose state was before and whose letter it is, and −½ or less for
    all others. Nothing is kept but by the unit that is turned on, so no noise adds up.
    """
    wiring, width, k = *_wiring_of(machine), steepness(precision)
    tensors, none = {"start.cell": wiring.start}, np.zeros(width)
    always = [none, np.full(width, -k), np.full(width, k), np.full(width, k)]
    return _network("lstm", wiring, precision, always, [none] * 4, tensors)


def gru(machine: Automaton, precision: Precision) -> Network:
    """N = tanh(σ(K·s)·1), h = (1 − σ(−K))·n + σ(−K)·h: the reset gate says who is on."""
    wiring, width, k = *_wiring_of(machine), steepness(precision)
    none = np.zeros(width)
    always, inside = [none, np.full(width, -k), none], [none, none, np.ones(width)]
    return _network("gru", wiring, precision, always, inside, {})


def _wiring_of(machine: Automaton) -> tuple[Wiring, int]:
    wiring = Wiring.of(machine)
    width = len(wiring.start)
    if width > WIDEST:
        raise CompileError(
            f"{machine.name} needs {width:,} units, and LSTMs and GRUs have at most "
            f"{WIDEST:,}; use --arch rnn, which stores no zeros"
        )
    return wiring, width


def _network(
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
