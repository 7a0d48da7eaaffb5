"""Units that pass no noise on: the MLPs of the plain network of a disguise in float32.

A table of one-hot variables adds up units that are 0 or one number, as what they read is;
so its noise is that of all that it reads together. What a turned stream is rounded by
would grow from block to block. Two units whose difference is the same number beyond a
ramp do not pass it on, as in a table of an integer (section 3 of docs/soundness.md).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from krohn.compiler.disguise_layout import Tensors, code, stored
from krohn.network.precision import FloatArray
from krohn.program.domains import BoolArray

MOST = 2**12
"""Units that can hold more different numbers stay as they are."""


def stepped(
    header: Mapping[str, Any], tensors: Tensors
) -> tuple[dict[str, Any], Tensors]:
    """The same network, with steps in the place of units that are 0 or one number."""
    architecture, found = header["architecture"], dict(tensors)
    blocks = [dict(block) for block in architecture["blocks"]]
    for b, block in enumerate(blocks):
        if block["mlp"]:
            block["mlp"] = [_step(header["program"], found, b)]
    return {**header, "architecture": {**architecture, "blocks": blocks}}, found


def _step(program: Mapping[str, Any], tensors: Tensors, block: int) -> int:
    """Replace units of a block in ``tensors``, where they write new variables.

    What they erase stays as it is: it must be as far off as it was. A ramp is in the
    middle of the two numbers, and at most half as wide as they are apart.

    Returns:
        How many units there are then.
    """
    at, snapshot = f"blocks.{block}.mlp", 2 * block + 1
    names = [f"{at}.0.weight", f"{at}.0.bias", f"{at}.1.weight"]
    weight, bias, out = (tensors[name] for name in names)
    born = np.zeros(len(weight), bool)
    for c in program["channels"]:
        if "dims" in c and c["snapshots"][0] == snapshot + 1:
            born[slice(*c["dims"])] = True
    ends = dict[int, tuple[float, float]]()
    for unit in np.flatnonzero(_passing(weight, out * born)).tolist():
        values = _values(program, snapshot, weight[:, unit], bias[unit])
        if (values > 0).sum() == 1 < len(values):
            ends[unit] = values[-2], values[-1]
    each = list(ends)
    low, high = np.array(list(ends.values())).reshape(-1, 2).T
    ramp = 2.0 ** np.floor(np.log2((high - low) / 2))
    gain, middle, rows = high / ramp, (low + high) / 2, out[each] * born
    left = out.copy()
    left[each] *= ~born
    kept = left.any(axis=1) | ~np.isin(np.arange(len(out)), each)
    reads, starts = weight[:, each] * gain, (middle - ramp / 2, middle + ramp / 2)
    more = [gain * (bias[each] - start) for start in starts]
    tensors[names[0]] = np.hstack([weight[:, kept], reads, reads])
    tensors[names[1]] = np.hstack([bias[kept], *more])
    tensors[names[2]] = np.vstack([left[kept], rows, -rows])
    return len(tensors[names[1]])


def _passing(weight: FloatArray, out: FloatArray) -> BoolArray:
    """``(units,)``: those that pass on noise, as no others which read the same take it."""
    _, of = np.unique(weight, axis=1, return_inverse=True)
    total = np.zeros((weight.shape[1], out.shape[1]))
    np.add.at(total, of.reshape(-1), out)
    passed = np.asarray(total.any(axis=1))[of.reshape(-1)]
    return np.asarray(passed & out.any(axis=1))


def _values(
    program: Mapping[str, Any], snapshot: int, weight: FloatArray, bias: float
) -> FloatArray:
    """All numbers that can be in a unit, ascending; none if they are too many."""
    values = np.array([bias])
    for c in stored(program, snapshot):
        reads = weight[slice(*c["dims"])]
        if reads.any():
            each = np.unique(code(c) @ reads)
            if len(values) * len(each) > MOST:
                return np.zeros(0)
            values = np.unique(values[:, None] + each)
    return values
