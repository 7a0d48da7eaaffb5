"""The read-out: an affine map of the outputs' codes."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from krohn.program.domains import IntArray
from krohn.program.errors import demand
from krohn.verify.checker.affine_arithmetic import Noisy
from krohn.verify.checker.arithmetic import LARGEST_FLOAT64, Interval, summed
from krohn.verify.checker.model_file import FloatArray, Model
from krohn.verify.checker.residual_stream import Stream

CELLS = 2**20
Readings = dict[tuple[int, ...], int]
"""For each tuple of output values that occurs the class that it means."""


def separated(model: Model, stream: Stream, readings: Readings) -> tuple[Noisy, float]:
    """All logits; and how far the right one stays above every other one, at worst."""
    right, outputs = np.array(list(readings.values())), model.tensors["unembed.bias"]
    classes = len(outputs) - model.rivals
    demand(right < classes, "the network has no logit for a state")
    slack = [LARGEST_FLOAT64]
    value, total = np.empty((2, len(right), len(outputs)))
    for rows, logits in _said(model, stream, np.array(list(readings)).T):
        value[rows], total[rows] = logits.value, logits.total
        slack.append(_ahead(logits, right[rows]))
    every = Noisy(value, np.zeros((0, *value.shape)), total, stream.form)
    return every, float(np.min(slack))  # NaN stays NaN


def said(model: Model, stream: Stream, values: IntArray) -> Noisy:
    """``(values, outputs)``: what is said where the only output channel has a value.

    Raises:
        Refused: If the read-out reads anything but the output.
    """
    value, total = np.empty((2, len(values), len(model.tensors["unembed.bias"])))
    for rows, found in _said(model, stream, values[None]):
        value[rows], total[rows] = found.value, found.total
    return Noisy(value, np.zeros((0, *value.shape)), total, stream.form)


def _said(
    model: Model, stream: Stream, columns: IntArray
) -> Iterator[tuple[IntArray, Noisy]]:
    """Logits at tuples of output values, ``(outputs, rows)``, some at a time."""
    weight, bias = model.tensors["unembed.weight"], model.tensors["unembed.bias"]
    off: FloatArray | float = 0.0
    if model.disguise is not None:
        stream, off = model.disguise.read_out(stream)
    outputs = [stream.channel(n) for n in stream.program.outputs]
    used = [d for channel in outputs for d in channel.span]
    demand(np.delete(weight, used, axis=0) == 0, "the read-out reads too much")
    values = {c.name: column for c, column in zip(outputs, columns, strict=True)}
    count = columns.shape[1]
    x = stream.at(values, np.zeros((count, len(weight))))
    for rows in np.array_split(np.arange(count), count * len(bias) // CELLS + 1):
        found = x.rows(rows).affine(weight, bias)
        if model.disguise is not None:
            found = replace(found, rest=(Interval.of(found.rest) + off).high)
        yield rows, found


def _ahead(logits: Noisy, right: IntArray) -> float:
    """How far the right logit stays above every other one, at worst."""
    row = np.arange(len(right))
    ahead = Interval.of(logits.value[row, right][:, None]) - logits.value
    apart = logits.slopes[:, row, right][:, :, None] - logits.slopes
    rest = logits.rest + logits.rest[row, right][:, None]
    off = summed(np.abs(apart).sum(axis=0) + rest, len(apart) + 2)
    slack = (ahead - off).low
    slack[row, right] = np.inf
    return float(slack.min())
