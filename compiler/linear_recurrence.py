"""Linear RNNs of kernels: modes and registers.

A recurrence h_t = W h_{t−1} + U x_t, y_t = C h_t says Σ ρ̂(s) x(t − s), ρ̂(s) = C W^s U.
"""

from typing import NamedTuple

import numpy as np

from krohn.compiler.errors import CompileError
from krohn.compiler.transformer import Network
from krohn.network.precision import FloatArray, Precision
from krohn.program.architectures.linear_recurrence import BANDS
from krohn.sources.kernels import Kernel

MOST_UNITS = 4096


class Realisation(NamedTuple):
    """A recurrence: W, dense or by its three bands; U and C.

    Attributes:
        matrix: ``(n, n)``, or ``(3, n)`` if it is banded: the weights of a unit on
            itself, on the unit before it and on the one after it.
        input: ``(n,)``: U.
        output: ``(n,)``: C.
        banded: Whether W is given by its bands.
    """

    matrix: FloatArray
    input: FloatArray
    output: FloatArray
    banded: bool = True

    def states(self, length: int) -> FloatArray:
        """``(T, n)``: W^s U, in float64."""
        hidden, said = self.input, np.empty((length, len(self.input)))
        for s in range(length):
            said[s] = hidden
            if self.banded:
                near = np.stack([hidden, np.roll(hidden, 1), np.roll(hidden, -1)])
                hidden = (self.matrix * near).sum(axis=0)
            else:
                hidden = self.matrix @ hidden
        return said

    def response(self, length: int) -> FloatArray:
        """``(T,)``: C W^s U, in float64."""
        said: FloatArray = self.states(length) @ self.output
        return said


def exact(kernel: Kernel) -> Realisation:
    """A unit for each value, a unit for each real mode and two for each other mode.

    The values are a shift register. A mode c·λ^s with λ = a + bi takes
    (p, q) ← (a·p − b·q + x, b·p + a·q) and says Re(c)·p − Im(c)·q.

    Raises:
        CompileError: If it has too many units.
    """
    values = kernel.values[: kernel.length]
    parts = [_register(np.array(values))] if values else []
    return together(parts + [mode_units(*mode) for mode in kernel.modes])


def together(parts: list[Realisation]) -> Realisation:
    """Banded recurrences side by side."""
    return Realisation(
        np.concatenate([part.matrix for part in parts], axis=1),
        np.concatenate([part.input for part in parts]),
        np.concatenate([part.output for part in parts]),
    )


def _register(values: FloatArray) -> Realisation:
    """A shift register: unit s holds the input of s steps ago."""
    n = len(values)
    bands = np.zeros((3, n))
    bands[1, 1:] = 1.0
    return Realisation(bands, np.eye(n)[0], values)


def mode_units(weight: complex, base: complex) -> Realisation:
    """One unit, or two that turn."""
    a, b = base.real, base.imag
    if b == 0.0:
        bands = np.array([[a], [0.0], [0.0]])
        return Realisation(bands, np.ones(1), np.array([weight.real]))
    bands = np.array([[a, a], [0.0, b], [-b, 0.0]])
    output = np.array([weight.real, -weight.imag])
    return Realisation(bands, np.array([1.0, 0.0]), output)


def network(found: Realisation, precision: Precision) -> Network:
    """The tensors; numbers that the format cannot hold as normal ones become 0.

    Raises:
        CompileError: If it has too many units.
    """
    units = len(found.input)
    if units > MOST_UNITS:
        raise CompileError(
            f"a recurrence of {units} units is too large ({MOST_UNITS} is the most); "
            "--within E makes it smaller"
        )
    tensors = {
        "input.weight": found.input[None],
        "unembed.weight": found.output[:, None],
        "skip.weight": np.zeros((1, 1)),
    }
    if found.banded:
        tensors |= dict(zip(BANDS, found.matrix, strict=True))
    else:
        tensors["hidden.weight"] = found.matrix.T
    architecture = {
        "kind": "linear-recurrence",
        "dtype": precision.name,
        "form": "banded" if found.banded else "dense",
        "hidden": units,
        "inputs": 1,
        "outputs": 1,
    }
    for name, tensor in tensors.items():
        rounded = precision.round(tensor)
        tensors[name] = np.where(np.abs(rounded) < precision.smallest, 0.0, rounded)
    return Network(architecture, tensors, {})
