"""Linear RNNs of kernels: modes, registers, and balanced truncation of measured values.

A recurrence h_t = W h_{t−1} + U x_t, y_t = C h_t says Σ ρ̂(s) x(t − s), ρ̂(s) = C W^s U.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from krohn.compiler.errors import CompileError
from krohn.compiler.transformer import Network
from krohn.network.precision import FloatArray, Precision
from krohn.program.architectures.linear_recurrence import BANDS
from krohn.sources.kernels import Kernel

MOST_UNITS, MOST_MEASURED = 4096, 1024
NEAR = 2.0**-20
"""Eigenvalues that are nearer to each other make no pair of modes: vectors nearly agree."""


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

    def response(self, length: int) -> FloatArray:
        """``(T,)``: C W^s U, in float64."""
        hidden, said = self.input, np.empty(length)
        for s in range(length):
            said[s] = self.output @ hidden
            if self.banded:
                near = np.stack([hidden, np.roll(hidden, 1), np.roll(hidden, -1)])
                hidden = (self.matrix * near).sum(axis=0)
            else:
                hidden = self.matrix @ hidden
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
    return _together(parts + [_mode(*mode) for mode in kernel.modes])


def _together(parts: list[Realisation]) -> Realisation:
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


def _mode(weight: complex, base: complex) -> Realisation:
    """One unit, or two that turn."""
    a, b = base.real, base.imag
    if b == 0.0:
        bands = np.array([[a], [0.0], [0.0]])
        return Realisation(bands, np.ones(1), np.array([weight.real]))
    bands = np.array([[a, a], [0.0, b], [-b, 0.0]])
    output = np.array([weight.real, -weight.imag])
    return Realisation(bands, np.array([1.0, 0.0]), output)


class Hankel:
    """The singular value decomposition of a Hankel matrix of a kernel, ρ(i + j).

    Of all T values, and 0 past their end (``padded``), it belongs to the system that the
    shift register is: stable, and so are its balanced truncations (Moore 1981; Kung
    1978). A transfer function of order r is then off by at most 2·Σ_{k>r} σ_k, and no
    system of order r is nearer than σ_{r+1} (Glover 1984). Of half as many values and
    without padding it is the method of Ho and Kalman (1966), which finds the modes of a
    kernel that has few, but promises no stability.

    Args:
        samples: ``(T,)``: ρ.
        padded: Whether there are zeros past the end.
    """

    def __init__(self, samples: FloatArray, padded: bool) -> None:
        self.padded = padded
        size = len(samples) if padded else (len(samples) + 1) // 2
        where = np.add.outer(np.arange(size), np.arange(size))
        left, self.values, right = np.linalg.svd(np.pad(samples, (0, size))[where])
        # Balanced: both factors get half of each singular value.
        half = np.sqrt(self.values)
        self.observed, self.reached = left * half, half[:, None] * right

    def truncate(self, order: int) -> Realisation:
        """The balanced realisation with its largest singular values alone.

        The rows of the left factor are C W^i, so that W takes each row to the next; past
        the end of a kernel that is padded the next one is 0.
        """
        observed = self.observed[:, :order]
        rows, later = observed[:-1], observed[1:]
        if self.padded:
            rows, later = observed, np.vstack([later, np.zeros(order)])
        matrix = np.linalg.lstsq(rows, later)[0]
        return Realisation(matrix, self.reached[:order, 0], observed[0], banded=False)


def modal(dense: Realisation) -> Realisation | None:
    """A realisation by modes; None if two eigenvalues lie too near to each other.

    W = V Λ V⁻¹, so C W^s U = Σ c_k λ_k^s.
    """
    bases, vectors = np.linalg.eig(dense.matrix)
    apart = np.abs(bases[:, None] - bases) + np.eye(len(bases))
    if apart.min() <= NEAR:
        return None
    weights = (dense.output @ vectors) * np.linalg.solve(vectors, dense.input + 0j)
    pairs = zip(weights.tolist(), bases.tolist(), strict=True)
    told = ((complex(c), complex(b)) for c, b in pairs)
    return _together(
        [_mode(c if not b.imag else 2 * c, b) for c, b in told if b.imag >= 0]
    )


def short_realisations(samples: FloatArray, most: float) -> Iterator[Realisation]:
    """Realisations with Σ|e(s)| ≤ ``most`` in float64, fewest units first.

    Orders are tried in steps that grow, then all between the last two, since errors
    fall nearly always as the order grows.

    Raises:
        CompileError: If the kernel has too many values.
    """
    if len(samples) > MOST_MEASURED:
        raise CompileError(
            f"a kernel of up to {MOST_MEASURED} values can be shortened, and this one has "
            f"{len(samples)}; leave --within out, or say a smaller -T"
        )
    ways = [Hankel(samples, padded) for padded in (False, True)]
    below, order = 0, 1
    while order < len(samples) and not list(_near(ways, samples, order, most)):
        below, order = order, order + max(1, order // 3)
    for tried in range(below + 1, min(order, len(samples) - 1) + 1):
        yield from _near(ways, samples, tried, most)


def realisations(kernel: Kernel, most: float) -> Iterator[Realisation]:
    """The shortened ones, and the exact one where none has fewer units.

    Raises:
        CompileError: If it has too many values to be shortened.
    """
    whole = exact(kernel)
    for found in short_realisations(kernel.samples(), most):
        if len(found.input) >= len(whole.input):
            break
        yield found
    yield whole


def _near(
    ways: list[Hankel], samples: FloatArray, order: int, most: float
) -> Iterator[Realisation]:
    """The stable realisations of an order that are near enough, by modes if possible."""
    for hankel in ways:
        if order >= len(hankel.values):
            continue
        dense = hankel.truncate(order)
        if not np.abs(np.linalg.eigvals(dense.matrix)).max() <= 1:
            continue
        for found in (modal(dense), dense):
            if found is None:
                continue
            off = np.abs(found.response(len(samples)) - samples).sum()
            if off <= most:
                yield found


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
