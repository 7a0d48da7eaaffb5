"""Evidence of RNNs for the kernel: all hidden states, which are exact."""

from typing import Any

import numpy as np

from krohn.architectures.recurrent import find
from krohn.architectures.recurrent.statement import Rnn
from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.verify.checker.model_file import Machine, Model

MOST_VECTORS, MOST_ENTRIES = 200_000, 2**26
TENSORS = (
    *("hidden.start", "hidden.weight", "hidden.bias"),
    *("input.weight", "unembed.weight", "unembed.bias"),
)


def find_evidence(model: Model) -> dict[str, Any]:
    """The units of the tensors, and a node for each hidden state.

    Raises:
        Refused: If the network is another one, or remembers too much.
    """
    machine, shape = model.machine, model.network(Rnn)
    demand(shape.entries is None, "the kernel has no theorem about sparse matrices")
    demand(
        len(machine.transitions) == shape.vocabulary, "the machine has other letters"
    )
    t = {name: np.atleast_2d(x) for name, x in model.tensors.items()}
    vectors, states, follow = collect_hidden_states(t, machine)
    units = _units(t, vectors)
    state_unit = units["hidden.start"]
    nodes = [
        [_spread(v, state_unit), int(q), to]
        for v, q, to in zip(vectors, states, follow, strict=True)
    ]
    return {"units": [-units[name] for name in TENSORS], "nodes": nodes}


def _finest(numbers: FloatArray) -> int:
    """The least g ≥ 0 such that all numbers are multiples of 2^-g."""
    below = (x.as_integer_ratio()[1] for x in np.unique(numbers).tolist())
    return max((d.bit_length() - 1 for d in below), default=0)


def _spread(row: FloatArray, unit: int) -> list[list[int]]:
    """A row in units of 2^-unit: each entry that is not 0 after the zeros before it."""
    (at,) = row.nonzero()
    gaps = np.diff(at, prepend=-1) - 1
    pairs = zip(gaps.tolist(), row[at].tolist(), strict=True)
    return [[gap, int(x * 2**unit)] for gap, x in pairs]


def _units(t: dict[str, FloatArray], vectors: FloatArray) -> dict[str, int]:
    """For each tensor a g such that its numbers are multiples of 2^-g.

    Those of what is added to a product are those of the product.
    """
    state = _finest(vectors)
    added = max(map(_finest, (t["hidden.bias"], t["input.weight"])))
    weight = max(_finest(t["hidden.weight"]), added - state)
    read = max(_finest(t["unembed.weight"]), _finest(t["unembed.bias"]) - state)
    return {
        "hidden.start": state,
        "hidden.weight": weight,
        "hidden.bias": state + weight,
        "input.weight": state + weight,
        "unembed.weight": read,
        "unembed.bias": state + read,
    }


def collect_hidden_states(
    t: dict[str, FloatArray], machine: Machine
) -> tuple[FloatArray, list[int], list[list[int]]]:
    """All hidden states, each with a state of the machine and those that follow.

    Raises:
        Refused: If there are too many, new ones come after too many letters, or their
            numbers are too large.
    """
    vectors, states = [t["hidden.start"]], [machine.start]
    number = {(vectors[0].tobytes(), machine.start): 0}
    follow, units, read, level = list[list[int]](), vectors[0].size, 0, 1
    while len(follow) < len(states):
        if len(follow) == level:
            read, level = read + 1, len(states)
            late = f"new hidden states come after {read} letters"
            demand(read < find.most_letters(units), late)
        v, q = vectors[len(follow)], states[len(follow)]
        with np.errstate(all="ignore"):
            driven = v @ t["hidden.weight"] + t["hidden.bias"] + t["input.weight"]
        demand(np.isfinite(driven), "the network may remember numbers without a bound")
        after, row = np.maximum(driven, 0) + 0.0, list[int]()
        for h, to in zip(after, machine.transitions[:, q].tolist(), strict=True):
            row.append(number.setdefault((h.tobytes(), to), len(states)))
            if row[-1] == len(states):
                vectors.append(h[None])
                states.append(to)
        few = len(states) <= MOST_VECTORS and len(states) * units <= MOST_ENTRIES
        demand(few, "the network has too many hidden states for the kernel")
        follow.append(row)
    return np.concatenate(vectors), states, follow
