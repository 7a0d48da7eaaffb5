"""The exact ReLU RNN: one unit for each state and letter (spec section 9)."""

from typing import Any

import numpy as np

from algebra.automaton import Automaton
from algebra.minimisation import reachable
from algebra.shown import shown
from compiler.transformer import Network
from network.precision import FloatArray, Precision
from network.sparse import Sparse

NAME = "elman"
SUMMARY = "one ReLU for each pair of a state and a letter; valid at every length"

WIDEST_DENSE = 1024
"""Units of a network whose matrices hold their zeros too: a million entries at most."""


def elman(machine: Automaton, precision: Precision) -> Network:
    """h_t = ReLU(W h_{t-1} + U x_t − 1), width |reachable states|·|letters| + 1.

    Unit (q, a) is 1 when the state *before* the letter was q and the letter is a. All
    values are 0 or 1 and every sum is an integer below 2, so the network is exact in
    every format. Unreachable states get no units and logit −1. Of a machine with outputs
    the network says the output.

    W is a product: from the units to the state that they lead to, and from there to the
    units of that state. Wide networks hold its two factors instead, and no zeros: four
    matrices with one entry for each unit.
    """
    number = {q: i for i, q in enumerate(machine.states)}
    alive = [number[q] for q in reachable(machine).states]
    letters = len(machine.letters)
    index = np.zeros(len(machine.states), dtype=np.int64)
    index[alive] = np.arange(len(alive))
    after = index[machine.transitions[:, alive].T].reshape(-1)
    classes = shown(machine, "outputs" if machine.output else "states")
    width = len(after) + 1
    # The last unit is on at time 0 only and stands for having arrived at the start.
    arrived = np.append(after, index[machine.start])
    units, pairs = np.arange(width), np.arange(width - 1)
    matrices = {
        "hidden.left": Sparse.of((width, len(alive)), units, arrived, 1.0),
        "hidden.right": Sparse.of((len(alive), width), pairs // letters, pairs, 1.0),
        "input.weight": Sparse.of((letters, width), pairs % letters, pairs, 1.0),
        "unembed.weight": Sparse.of(
            (width, len(classes.names)), units, classes.of[alive][arrived], 2.0
        ),
    }
    start = np.zeros(width)
    start[-1] = 1.0
    tensors = {
        "hidden.start": start,
        "hidden.bias": np.full(width, -1.0),
        "unembed.bias": np.full(len(classes.names), -1.0),
    }
    architecture = {
        "kind": "rnn",
        "dtype": precision.name,
        "hidden": width,
        "vocabulary": letters,
        "outputs": len(classes.names),
    }
    held = _dense if width <= WIDEST_DENSE else _sparse
    return held(architecture, tensors, matrices)


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
    held = [matrix.tensors(name) for name, matrix in matrices.items()]
    return Network(
        architecture | shape, {k: v for h in (tensors, *held) for k, v in h.items()}, {}
    )
