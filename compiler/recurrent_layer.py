"""One layer of a state space model: a recurrence, and a table that reads it."""

from dataclasses import dataclass

import numpy as np

from krohn.compiler.errors import CompileError
from krohn.compiler.held_components import Affine, Held
from krohn.network.precision import FloatArray

MOST_UNITS = 4_096


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer: a recurrence, its reader, and a table of letters and states.

    Attributes:
        held: The recurrence; its rows are the letters of the layer.
        table: Two affine layers with a ReLU between them.
    """

    held: Held
    table: tuple[Affine, Affine]

    def shape(self) -> dict[str, object]:
        """How an architecture says it."""
        inner, outer = self.table
        return {
            "coordinates": len(self.held.start),
            "decode": [layer.weight.shape[1] for layer in self.held.decode],
            "hidden": inner.weight.shape[1],
            "symbols": outer.weight.shape[1],
        }

    def tensors(self, selective: bool) -> dict[str, FloatArray]:
        """Its tensors by name."""
        held = self.held
        found = {
            "start": held.start,
            "decay": held.decay if selective else held.decay[0],
            "input": held.addend,
        }
        every = {f"decode.{j}": layer for j, layer in enumerate(held.decode)}
        for name, layer in {
            **every,
            "table.0": self.table[0],
            "table.1": self.table[1],
        }.items():
            found |= {f"{name}.weight": layer.weight, f"{name}.bias": layer.bias}
        return found


def table(
    symbols: int, patterns: FloatArray, rows: dict[tuple[int, int], int], width: int
) -> tuple[Affine, Affine]:
    """1 at the output that the rows give a symbol and a state, 0 elsewhere.

    A unit is on at one symbol and one state; or at a symbol, where the state is all one.

    Args:
        symbols: How many there are.
        patterns: ``(states, units)``: as `Held` has them.
        rows: From a symbol and a state to a number below ``width``.
        width: How many outputs there are.
    """
    every: dict[int, dict[int, int]] = {}
    for (s, q), to in rows.items():
        every.setdefault(s, {})[q] = to
    units: list[tuple[int, FloatArray, int]] = []
    for s, told in every.items():
        if len(told) == len(patterns) and len({*told.values()}) == 1:
            units.append((s, 0 * patterns[0], told[0]))
        else:
            units.extend((s, patterns[q], to) for q, to in told.items())
    if len(units) > MOST_UNITS:
        raise CompileError(
            f"a layer would have {len(units):,} units, and {MOST_UNITS:,} is the most; "
            "take --arch rnn"
        )
    weight = np.zeros((symbols + patterns.shape[1], len(units)))
    outer = np.zeros((len(units), width))
    bias = np.zeros(len(units))
    for u, (s, pattern, to) in enumerate(units):
        weight[s, u], weight[symbols:, u], outer[u, to] = 1, pattern, 1
        bias[u] = -(pattern > 0).sum()
    return Affine(weight, bias), Affine(outer, np.zeros(width))
