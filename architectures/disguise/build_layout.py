"""The plain network of a disguise: where variables lie, how they are scaled, its units."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from krohn.network.precision import FloatArray
from krohn.program.domains import BoolArray

# The plain network of a disguise: where its variables lie, and how they are scaled.
#
# What numbers are rounded by goes in all directions once the stream is turned, so it is the
# sizes of all numbers that count, and of the sums that write them
# (docs/proofs/disguise.md).

READERS = ("query", "key", "value", "0.weight", "unembed.weight")
WRITERS = ("token", "position", "out", "1.weight", "1.bias")
Tensors = dict[str, FloatArray]
Channel = Mapping[str, Any]


def snapshot_of(name: str, last: int) -> int:
    """The snapshot that a tensor reads, or after which one writes.

    Args:
        name: Of the tensor.
        last: The last snapshot.
    """
    if name.startswith("blocks."):
        return 2 * int(name.split(".")[1]) + (".mlp." in name)
    return last if name.startswith("unembed") else -1


def apart(
    header: Mapping[str, Any], tensors: Mapping[str, FloatArray]
) -> tuple[dict[str, Any], Tensors]:
    """The same network, in which only channels of one grade have dimensions in common."""
    program, last = header["program"], 2 * len(header["architecture"]["blocks"])
    low = max((high for _, high in program["features"].values()), default=0)
    there = [c for c in program["channels"] if "dims" in c]
    each = {c["name"]: grade(c, program, tensors) for c in there}
    spans, top = _place_channels(
        sorted(there, key=lambda c: c["snapshots"][0]), each, low
    )
    moved = [(c, range(*c["dims"]), range(*spans[c["name"]])) for c in there]
    channels = [
        {**c, "dims": spans[c["name"]]} if "dims" in c else c
        for c in program["channels"]
    ]
    features = [i for span in program["features"].values() for i in range(*span)]

    def lying(name: str, tensor: FloatArray) -> FloatArray:
        axis, at = -2 if name.endswith(READERS) else -1, snapshot_of(name, last)
        shape = list(tensor.shape)
        shape[axis] = top
        wide = np.zeros(shape, tensor.dtype)
        old, new = np.moveaxis(tensor, axis, -1), np.moveaxis(wide, axis, -1)
        new[..., features] = old[..., features]
        for c, before, after in moved:
            born, dies = c["snapshots"]
            reads = axis == -2 and born <= at <= dies
            if reads or (axis == -1 and at in (born - 1, dies)):
                new[..., after] = old[..., before]
        return wide

    moved_tensors = {
        name: lying(name, x) if name.endswith((*READERS, *WRITERS)) else x
        for name, x in tensors.items()
    }
    architecture = {**header["architecture"], "d_model": top}
    program = {**program, "channels": channels}
    return {**header, "architecture": architecture, "program": program}, moved_tensors


def list_stored_channels(
    program: Mapping[str, Any], snapshot: int
) -> Iterator[Channel]:
    """The channels that are there at a snapshot."""
    for c in program["channels"]:
        if "dims" in c and c["snapshots"][0] <= snapshot <= c["snapshots"][1]:
            yield c


def code(channel: Channel) -> FloatArray:
    """``(values, dimensions)``: what stands there for each value."""
    values = np.array(channel["domain"])
    one_hot = channel["code"] == "one-hot"
    size = channel["dims"][1] - channel["dims"][0]
    return np.eye(size)[values] if one_hot else 1.0 * values[:, None]


class Grade(NamedTuple):
    """How a variable is written.

    Attributes:
        scale: The power of two that its numbers are divided by.
        rough: Whether what writes it is rounded by much.
    """

    scale: float
    rough: bool


FINE = 4.0
"""From so large numbers on, or roots of sums of terms, what is written is rough."""


def grade(
    channel: Channel, program: Mapping[str, Any], tensors: Mapping[str, FloatArray]
) -> Grade:
    """The grade of a channel.

    A large number makes readers of others round more, a small one its own readers; and
    the same sum of terms is rounded by less of the stream, the more it is divided by.
    8 and 4 were chosen with four machines.
    """
    largest = float(np.abs(code(channel)).max(initial=1.0))
    terms = float(np.sqrt(_terms(channel, program, tensors)))
    rough = max(largest, terms) >= FINE
    return Grade(_power(np.array(max(largest / 8, terms / 4))).item(), rough)


def grades(
    header: Mapping[str, Any], tensors: Mapping[str, FloatArray]
) -> tuple[FloatArray, BoolArray]:
    """``(d,)``: the scale of each dimension, and whether it is rough."""
    program, position = header["program"], tensors["embed.position"]
    scale = _power(np.abs(position).max(axis=0) / 2)
    rough = np.zeros(position.shape[1], bool)
    for c in program["channels"]:
        if "dims" in c:
            at = slice(*c["dims"])
            scale[at], rough[at] = grade(c, program, tensors)
    return scale, rough


def _power(least: FloatArray) -> FloatArray:
    """Powers of two from numbers on, and from 1 on."""
    return np.asarray(2.0 ** np.ceil(np.log2(np.maximum(least, 1.0))))


def _place_channels(
    channels: Iterable[Channel], each: Mapping[str, Grade], low: int
) -> tuple[dict[str, list[int]], int]:
    """The first dimensions from ``low`` on that are free for each, and how many there are.

    A sublayer erases a channel after its last snapshot, and no other is written there.
    """
    spans, owners = dict[str, list[int]](), list[tuple[Grade, int]]()
    for c in channels:
        size, own = c["dims"][1] - c["dims"][0], each[c["name"]]
        free = [g == own and until <= c["snapshots"][0] for g, until in owners]
        free += [True] * size
        start = next(i for i in range(len(free)) if all(free[i : i + size]))
        owners[start : start + size] = [(own, c["snapshots"][1] + 2)] * size
        spans[c["name"]] = [low + start, low + start + size]
    return spans, low + len(owners)


def _terms(
    channel: Channel, program: Mapping[str, Any], tensors: Mapping[str, FloatArray]
) -> float:
    """What the terms of the sum that an MLP writes a channel by add up to, at most."""
    born = channel["snapshots"][0]
    if born == 0 or born % 2:
        return 0.0
    at = f"blocks.{born // 2 - 1}.mlp"
    weight, units = tensors[f"{at}.0.weight"], tensors[f"{at}.0.bias"].copy()
    for c in list_stored_channels(program, born - 1):
        units += (code(c) @ weight[slice(*c["dims"])]).max(axis=0)
    out = np.abs(tensors[f"{at}.1.weight"][:, slice(*channel["dims"])])
    return float((np.maximum(units, 0.0) @ out).max())


# Units that pass no noise on: the MLPs of the plain network of a disguise in float32.
#
# A table of one-hot variables adds up units that are 0 or one number, as what they read is;
# so its noise is that of all that it reads together. What a turned stream is rounded by
# would grow from block to block. Two units whose difference is the same number beyond a
# ramp do not pass it on, as in a table of an integer (docs/proofs/arithmetic.md).

MOST = 2**12
"""Units that can hold more different numbers stay as they are."""


def replace_units_by_steps(
    header: Mapping[str, Any], tensors: Tensors
) -> tuple[dict[str, Any], Tensors]:
    """The same network, with steps in the place of units that are 0 or one number."""
    architecture, new_tensors = header["architecture"], dict(tensors)
    blocks = [dict(block) for block in architecture["blocks"]]
    for b, block in enumerate(blocks):
        if block["mlp"]:
            block["mlp"] = [_step(header["program"], new_tensors, b)]
    return {**header, "architecture": {**architecture, "blocks": blocks}}, new_tensors


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
    for c in list_stored_channels(program, snapshot):
        reads = weight[slice(*c["dims"])]
        if reads.any():
            each = np.unique(code(c) @ reads)
            if len(values) * len(each) > MOST:
                return np.zeros(0)
            values = np.unique(values[:, None] + each)
    return values
