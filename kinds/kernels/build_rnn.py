"""Recurrences of kernels and linear systems: exact ones, short ones, and one with ReLUs."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from krohn.architectures.linear_recurrence.statement import BANDS
from krohn.compiler import CompileError
from krohn.compiler.transformer import Network
from krohn.kinds.kernels.source import Kernel
from krohn.network.precision import FloatArray, Precision

# Linear RNNs of kernels: modes and registers.
#
# A recurrence h_t = W h_{t−1} + U x_t, y_t = C h_t says Σ ρ̂(s) x(t − s), ρ̂(s) = C W^s
# U.

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
        hidden, rows = self.input, np.empty((length, len(self.input)))
        for s in range(length):
            rows[s] = hidden
            if self.banded:
                near = np.stack([hidden, np.roll(hidden, 1), np.roll(hidden, -1)])
                hidden = (self.matrix * near).sum(axis=0)
            else:
                hidden = self.matrix @ hidden
        return rows

    def response(self, length: int) -> FloatArray:
        """``(T,)``: C W^s U, in float64."""
        values: FloatArray = self.states(length) @ self.output
        return values


def exact(kernel: Kernel) -> Realisation:
    """A unit for each value, a unit for each real mode and two for each other mode.

    The values are a shift register, which ends at the last one that is not 0. A mode
    c·λ^s with λ = a + bi takes (p, q) ← (a·p − b·q + x, b·p + a·q) and says
    Re(c)·p − Im(c)·q.

    Raises:
        CompileError: If it has too many units.
    """
    values = np.trim_zeros(np.array(kernel.values[: kernel.length]), "b")
    parts = [_register(values)] if len(values) else []
    parts += [mode_units(*mode) for mode in kernel.modes]
    return together(parts or [_register(np.zeros(1))])


def together(parts: list[Realisation]) -> Realisation:
    """Banded recurrences side by side."""
    return Realisation(
        np.concatenate([part.matrix for part in parts], axis=1),
        np.concatenate([part.input for part in parts]),
        np.concatenate([part.output for part in parts]),
    )


def _register(values: FloatArray) -> Realisation:
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
    normal_tensors = {
        name: precision.normal(tensor) for name, tensor in tensors.items()
    }
    return Network(architecture, normal_tensors, {})


# Linear RNNs of few units for measured kernels: poles by a Hankel matrix, then residues.
#
# The poles are those of a balanced truncation; the residues are fitted anew, in ℓ2 by
# least squares and in ℓ1. Which of the realisations is taken is a matter of the norm that
# is asked for; what is proved of the network is another one, and in the checker.

MOST_MEASURED = 1024
"""Values of a kernel whose Hankel matrix is decomposed, which takes seconds."""
NEAR = 2.0**-20
"""Eigenvalues that are nearer to each other make no pair of modes: vectors nearly agree."""
MOST_FITTED = 64
"""Units whose residues are fitted anew; with more, a fit takes as long as all else."""
ROUNDS = 30
"""Of a fit in ℓ1: each halves what counts as no deviation, from its mean down to 2^-30."""
GRID = 16
"""Frequencies for each value where a gain is looked at. A trigonometric polynomial f ≥ 0
of degree T has f'' ≥ −T²·max f (Bernstein), so |E|² falls by a share of (π/16)²/2 at most
from its maximum to the nearest of 16 T frequencies, and a gain is at most 1 % too low."""


def _gain(off: FloatArray) -> float:
    return float(np.abs(np.fft.rfft(off, GRID * len(off))).max())


NORMS: dict[str, Callable[[FloatArray], float]] = {
    "l1": lambda off: float(np.abs(off).sum()),
    "l2": lambda off: float(np.sqrt((off**2).sum())),
    "hinf": _gain,
    "max": lambda off: float(np.abs(off).max()),
}
"""Norms of e = ρ̂ − ρ, ``(T,)``: Σ|e(s)|, (Σ e(s)²)^½, max |Σ e(s) e^{−iωs}| and max |e(s)|.

They bound, in this order, outputs for inputs in [−1, 1]; the root mean square of outputs
for independent inputs of variance 1; the root of the energy of outputs, as a share of that
of inputs; and outputs for a single input of 1. The first is the largest.
"""


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
    modes = ((complex(c), complex(b)) for c, b in pairs)
    return together(
        [mode_units(c if not b.imag else 2 * c, b) for c, b in modes if b.imag >= 0]
    )


def fit_residues(found: Realisation, samples: FloatArray) -> Iterator[Realisation]:
    """The poles that were found, with residues of least squares, then of least deviations.

    Deviations Σ|e(s)| by least squares with weights 1/|e(s)|, over and over (Beaton and
    Tukey 1974).
    """
    states = found.states(len(samples))
    output = _least_squares(states, samples)
    yield found._replace(output=output)
    off = np.abs(states @ output - samples)
    mean, best = off.mean(), (off.sum(), output)
    for halved in range(ROUNDS):
        root = np.sqrt(np.maximum(off, mean * 2.0**-halved))
        if not root.all():
            break
        output = _least_squares(states / root[:, None], samples / root)
        off = np.abs(states @ output - samples)
        best = min(best, (off.sum(), output), key=lambda one: one[0])
    yield found._replace(output=best[1])


def _least_squares(matrix: FloatArray, right: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.lstsq(matrix, right)[0], np.float64)


def by_order(
    hankels: list[Hankel], samples: FloatArray, order: int
) -> list[Realisation]:
    """The stable realisations of an order, by modes if possible."""
    candidates = list[Realisation]()
    for hankel in hankels:
        if order >= len(hankel.values):
            continue
        dense = hankel.truncate(order)
        if not np.abs(np.linalg.eigvals(dense.matrix)).max() <= 1:
            continue
        candidates += [each for each in (modal(dense), dense) if each is not None]
    if order <= MOST_FITTED:
        candidates += [
            better for each in candidates for better in fit_residues(each, samples)
        ]
    return candidates


def hankels_of(samples: FloatArray) -> list[Hankel]:
    """Both Hankel matrices of a kernel.

    Raises:
        CompileError: If the kernel has too many values.
    """
    if len(samples) > MOST_MEASURED:
        raise CompileError(
            f"a kernel of up to {MOST_MEASURED} values can be shortened, and this one has "
            f"{len(samples)}; leave --within out, or say a smaller -T"
        )
    return [Hankel(samples, padded) for padded in (False, True)]


def short_realisations(
    samples: FloatArray, most: float, norm: str = "l1"
) -> Iterator[Realisation]:
    """Realisations whose error has a norm of ``most`` in float64, fewest units first.

    Orders are tried in steps that grow, then all between the last two, since errors
    fall nearly always as the order grows.

    Args:
        samples: ``(T,)``: ρ.
        most: The largest error.
        norm: One of `NORMS`.

    Raises:
        CompileError: If the kernel has too many values.
    """
    ways, below, order = hankels_of(samples), 0, 1

    def near(order: int) -> Iterator[Realisation]:
        for realisation in by_order(ways, samples, order):
            if NORMS[norm](realisation.response(len(samples)) - samples) <= most:
                yield realisation

    while order < len(samples) and not list(near(order)):
        below, order = order, longer(order)
    for tried in range(below + 1, min(order, len(samples) - 1) + 1):
        yield from near(tried)


def longer(order: int) -> int:
    """The next order that is tried."""
    return order + max(1, order // 3)


def realisations(
    kernel: Kernel, most: float, norm: str = "l1"
) -> Iterator[Realisation]:
    """The shortened ones, and the exact one where none has fewer units.

    Raises:
        CompileError: If it has too many values to be shortened.
    """
    whole = exact(kernel)
    for realisation in short_realisations(kernel.samples(), most, norm):
        if len(realisation.input) >= len(whole.input):
            break
        yield realisation
    yield whole


def errors_by_units(samples: FloatArray) -> list[dict[str, float]]:
    """How near recurrences of so many units come to a kernel, by each norm.

    Returns:
        For each order that is tried, up to `MOST_FITTED`, and up to one that is right
        but for rounding: ``units``; ``hankel``, the first singular value that is left
        out, below which neither ``hinf`` nor ``l1`` of any recurrence of so many units
        can be (docs/proofs/kernels.md, K9); and the least error found in each of `NORMS`.

    Raises:
        CompileError: If the kernel has too many values.
    """
    ways, rows, order = hankels_of(samples), list[dict[str, float]](), 1
    exact_but_for = NORMS["l1"](samples) * len(samples) * np.finfo(float).eps
    while order < len(ways[0].values) and order <= MOST_FITTED:
        errors = [
            realisation.response(len(samples)) - samples
            for realisation in by_order(ways, samples, order)
        ]
        if errors:
            least = {name: min(map(norm, errors)) for name, norm in NORMS.items()}
            left = float(ways[0].values[order])
            rows.append({"units": order, "hankel": left, **least})
        if errors and least["l1"] <= exact_but_for:
            break
        order = longer(order)
    return rows
