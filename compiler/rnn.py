"""The exact ReLU RNN: one unit for each state and letter (spec section 9)."""

import numpy as np

from algebra.automaton import Automaton
from algebra.operations import reachable
from algebra.shown import shown
from compiler.transformer import Network
from network.precision import Precision

NAME = "elman"
SUMMARY = "one ReLU for each pair of a state and a letter; valid at every length"


def elman(machine: Automaton, precision: Precision) -> Network:
    """h_t = ReLU(W h_{t-1} + U x_t − 1), width |reachable states|·|letters| + 1.

    Unit (q, a) is 1 when the state *before* the letter was q and the letter is a. All
    values are 0 or 1 and every sum is an integer below 2, so the network is exact in
    every format. Unreachable states get no units and logit −1. Of a machine with outputs
    the network says the output.
    """
    alive = [machine.states.index(s) for s in reachable(machine).states]
    letters = np.arange(len(machine.letters))
    index = np.zeros(len(machine.states), dtype=np.int64)
    index[alive] = np.arange(len(alive))
    after = index[machine.transitions[:, alive].T].reshape(-1)
    classes = shown(machine, "outputs" if machine.output else "states")
    width = len(after) + 1
    weight = np.zeros((width, width))
    # The last unit is on at time 0 only and stands for having arrived at the start.
    arrived = np.append(after, index[machine.start])
    next_units = arrived[:, None] * len(letters) + letters
    weight[np.arange(width)[:, None], next_units] = 1.0
    readout = np.zeros((width, len(classes.names)))
    readout[np.arange(width), classes.of[alive][arrived]] = 2.0
    tensors = {
        "hidden.start": np.eye(width)[-1],
        "hidden.weight": weight,
        "hidden.bias": np.full(width, -1.0),
        "input.weight": np.pad(
            np.tile(np.eye(len(letters)), len(alive)), ((0, 0), (0, 1))
        ),
        "unembed.weight": readout,
        "unembed.bias": np.full(len(classes.names), -1.0),
    }
    architecture = {
        "kind": "rnn",
        "dtype": precision.name,
        "hidden": width,
        "vocabulary": len(letters),
        "outputs": len(classes.names),
    }
    return Network(architecture, tensors, {})
