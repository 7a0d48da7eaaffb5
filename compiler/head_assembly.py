"""Attention heads: one for every way of looking back."""

import numpy as np

from compiler.attention import Head, Lowering, look
from compiler.layout import Layout
from compiler.position_table import Positions
from network.precision import FloatArray
from program import Operation


def patterns(layout: Layout, block: int) -> dict[Operation, list[str]]:
    """The channels of a block by how they look; each way becomes one head."""
    grouped: dict[Operation, list[str]] = {}
    for name in layout.plan.attention(block):
        operation = layout.plan.program.operations[name]
        grouped.setdefault(look(operation), []).append(name)
    return grouped


def build(
    layout: Layout, positions: Positions, looked: Operation, channels: list[str]
) -> Head:
    """The head of a way of looking, copying each channel's source to the channel."""
    lowering = Lowering.of[type(looked)]
    query, key = lowering.matrices(layout, positions, looked)
    gain = lowering.gain(layout.plan.program, looked)
    value, out = _copy(layout, channels, gain)
    return Head(query, key, value, out)


def _copy(
    layout: Layout, channels: list[str], gain: float
) -> tuple[FloatArray, FloatArray]:
    sources: list[int] = []
    targets: list[int] = []
    for name in channels:
        operation = layout.plan.program.operations[name]
        source, target = layout.places[operation.reads[0]], layout.places[name]
        sources += range(source.start, source.stop)
        targets += range(target.start, target.stop)
    value = np.zeros((layout.d_model, len(sources)))
    out = np.zeros((len(sources), layout.d_model))
    value[sources, range(len(sources))] = 1.0
    out[range(len(sources)), targets] = gain
    return value, out
