"""Recurrent networks as terms of Coq, with all that they can remember."""

import numpy as np

from krohn.architectures.recurrent.statement import Rnn
from krohn.instruments.formal.coq import (
    NETWORKS,
    Development,
    integers,
    machine_term,
)
from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.verify.checker.model_file import Machine, Model

ARITHMETIC = {
    "float64": "float64",
    "float32": "float32",
    "bfloat16": "float_bf16",
    "float16": "float16",
}
MOST_VECTORS, MOST_ENTRIES = 4_000, 2**22
RECURRENT = """\
(** A recurrent network computes a machine, for words of every length.

    Written by Krohn. `make` proves it; Krohn's docs/instruments/formal.md says what it
    means. *)
From Coq Require Import ZArith List.
From Krohn Require Import {library}.
Import ListNotations.
Open Scope Z_scope.

{machine}
Definition network_of_file : network := {{|
  {fields} |}}.

Definition nodes : list node := [
  {nodes}].

Theorem network_correct : correct {arithmetic} network_of_file machine_of_file.
Proof. apply (check_sound _ _ _ nodes). vm_compute. reflexivity. Qed.

Print Assumptions network_correct.
"""


def finest(numbers: FloatArray) -> int:
    """The least g ≥ 0 such that all numbers are multiples of 2^-g."""
    below = (x.as_integer_ratio()[1] for x in np.unique(numbers).tolist())
    return max((d.bit_length() - 1 for d in below), default=0)


def spread(row: FloatArray, unit: int) -> str:
    """A row in units of 2^-unit: each entry that is not 0 after the zeros before it."""
    (at,) = row.nonzero()
    gaps = np.diff(at, prepend=-1) - 1
    pairs = zip(gaps.tolist(), row[at].tolist(), strict=True)
    return "[" + ";".join(f"({gap},{int(x * 2**unit)})" for gap, x in pairs) + "]"


def tensor_term(numbers: FloatArray, unit: int) -> str:
    """A tensor in units of 2^-unit."""
    entries = ";\n  ".join(spread(row, unit) for row in numbers)
    return f"{{| unit := {-unit}; rows := map spread [{entries}] |}}"


def recurrent(model: Model) -> Development:
    """An RNN with ReLUs shows what the machine shows, after every word.

    Raises:
        Refused: If the network is another one, too large, or remembers too much.
    """
    machine, shape = model.machine, model.network(Rnn)
    demand(shape.entries is None, "RNNs with sparse matrices are not written for Coq")
    demand(
        len(machine.transitions) == shape.vocabulary, "the machine has other letters"
    )
    t = {name: np.atleast_2d(x) for name, x in model.tensors.items()}
    vectors, states, follow = collect_hidden_states(t, machine)
    units = _units(t, vectors)
    sizes = {
        "units": shape.hidden,
        "letters": shape.vocabulary,
        "classes": shape.outputs,
    }
    fields = [f"{name} := {size}%nat" for name, size in sizes.items()]
    fields += [
        f"{name.replace('.', '_')} := {tensor_term(t[name], unit)}"
        for name, unit in units.items()
    ]
    nodes = _nodes(vectors, states, follow, units["hidden.start"])
    text = RECURRENT.format(
        library=" ".join(NETWORKS),
        machine=machine_term(machine),
        fields=";\n  ".join(fields),
        nodes=";\n  ".join(nodes),
        arithmetic=ARITHMETIC[model.format.name],
    )
    says = (
        "after every word, of any length, the logit of what the machine shows is above "
        f"all others, in {model.format.name}, in whatever order sums are made"
    )
    return Development(text, NETWORKS, says)


def _units(t: dict[str, FloatArray], vectors: FloatArray) -> dict[str, int]:
    """For each tensor a g such that its numbers are multiples of 2^-g.

    Those of what is added to a product are those of the product.
    """
    state, added = (
        finest(vectors),
        max(map(finest, (t["hidden.bias"], t["input.weight"]))),
    )
    weight = max(finest(t["hidden.weight"]), added - state)
    read = max(finest(t["unembed.weight"]), finest(t["unembed.bias"]) - state)
    return {
        "hidden.start": state,
        "hidden.weight": weight,
        "hidden.bias": state + weight,
        "input.weight": state + weight,
        "unembed.weight": read,
        "unembed.bias": state + read,
    }


def _nodes(
    vectors: FloatArray, states: list[int], follow: list[list[int]], unit: int
) -> list[str]:
    return [
        f"{{| vector := spread {spread(v, unit)}; state := {q}%nat; "
        f"next := {integers(to)}%nat |}}"
        for v, q, to in zip(vectors, states, follow, strict=True)
    ]


def collect_hidden_states(
    t: dict[str, FloatArray], machine: Machine
) -> tuple[FloatArray, list[int], list[list[int]]]:
    """All hidden states, each with a state of the machine and those that follow.

    Raises:
        Refused: If there are too many, or their numbers are too large.
    """
    vectors, states = [t["hidden.start"]], [machine.start]
    number = {(vectors[0].tobytes(), machine.start): 0}
    follow = list[list[int]]()
    while len(follow) < len(states):
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
        few = len(states) <= MOST_VECTORS and len(states) * v.size <= MOST_ENTRIES
        demand(few, "the network remembers too much to be written for Coq")
        follow.append(row)
    return np.concatenate(vectors), states, follow
