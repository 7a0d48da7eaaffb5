"""The ReLU RNN of a linear system (Hu et al. 2024, Theorem 5.1, repaired)."""

from collections.abc import Iterator

import numpy as np

from krohn.compiler.transformer import Network
from krohn.kinds.linear_systems.source import LinearSystem
from krohn.network.precision import Precision

GATED = "gated"


SCALE = 2.0
"""α for maps: a gate must shut out every entry of a state, and they are at most 1."""


def scales(system: LinearSystem) -> Iterator[float]:
    """α worth trying, the least first: 2·N(b_0) with room for errors, in few digits.

    States stay as large as b_0, by its 2-norm or the sum of its entries, where letters are
    orthogonal or stochastic; the room is for errors and for letters that grow.
    """
    sizes = np.sqrt((system.start**2).sum()), np.abs(system.start).sum()
    room = [1 + 2.0**-k for k in range(8, -1, -2)]
    for scale in sorted({2 * float(size) * more for size in sizes for more in room}):
        unit = 2.0 ** (np.frexp(scale)[1] - 12)
        yield float(np.ceil(scale / unit) * unit)


def gated_network(
    system: LinearSystem, precision: Precision, scale: float = SCALE
) -> Network:
    """One block of n units for each letter; only the last letter's block is not 0.

    Block o of h_t is ReLU(A_o·s + α·[o = o_t] − α/2), s the state before: A_o·s + α/2 for
    the letter that came, and 0 for all others, as long as no |A_o·s| exceeds α/2. The
    blocks then add up to s + α/2. Departures from the paper: h_0 holds b_0 + α/2 (a minus
    is printed, and the network diverges), and the matrix is the letter's.

    Args:
        system: n states, m letters.
        precision: The format; biases belong to the matrices as it rounds them.
        scale: α.
    """
    letters, n, _ = system.matrices.shape
    half = scale / 2
    rows = precision.normal(system.matrices.reshape(-1, n))
    start = np.zeros(letters * n)
    start[:n] = system.start + half
    tensors = {
        "hidden.start": start,
        "hidden.weight": np.tile(rows.T, (letters, 1)),
        "hidden.bias": -half * (rows.sum(axis=1) + 1),
        "input.weight": np.kron(np.eye(letters), np.full((1, n), scale)),
        "unembed.weight": np.tile(np.eye(n), (letters, 1)),
        "unembed.bias": np.full(n, -half),
    }
    architecture = {
        "kind": "rnn",
        "dtype": precision.name,
        "hidden": letters * n,
        "vocabulary": letters,
        "outputs": n,
    }
    return Network(architecture, tensors, {})
