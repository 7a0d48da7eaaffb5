"""Attention heads: one for every way of looking back."""

from dataclasses import asdict
from typing import Any

import numpy as np

from compiler.attention import Head, Lowering, look
from compiler.errors import CompileError
from compiler.layout import Layout
from compiler.position_table import Positions
from network.attention_kind import Sparse
from network.precision import FloatArray
from program import Operation


def patterns(layout: Layout, block: int) -> dict[Operation, list[str]]:
    """The channels of a block by how they look; each way becomes one head."""
    grouped: dict[Operation, list[str]] = {}
    for name in layout.plan.attention(block):
        operation = layout.plan.program.operations[name]
        grouped.setdefault(look(operation), []).append(name)
    return grouped


def kind(layout: Layout, block: int, sparse: Sparse | None) -> dict[str, Any]:
    """What the architecture says of the kind of the heads of a block, if anything.

    Args:
        layout: What the network computes, and where.
        block: The number of the block.
        sparse: What all heads see; None for everything.

    Raises:
        CompileError: If a head must look where it does not see.
    """
    found = patterns(layout, block)
    linear = {looked.linear for looked in found}
    if len(linear) > 1:
        raise CompileError("a block cannot have linear heads and others")
    if sparse is None:
        return {"attention": {"kind": "linear"}} if True in linear else {}
    for looked, channels in found.items():
        reach = Lowering.of[type(looked)].reach(looked)
        if reach is None or reach >= sparse.window:
            far = "anywhere" if reach is None else f"{reach} positions back"
            raise CompileError(
                f"{channels[0]!r} looks {far}, and sparse heads see the last "
                f"{sparse.window} positions"
            )
    return {"attention": {"kind": "sparse", **asdict(sparse)}} if found else {}


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
