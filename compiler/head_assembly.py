"""Attention heads: one for every way of looking back."""

from dataclasses import asdict
from typing import Any

import numpy as np

from krohn.compiler.attention import Head, Lowering, look
from krohn.compiler.errors import CompileError
from krohn.compiler.layout import Layout
from krohn.compiler.position_table import Positions
from krohn.network.attention_kind import Sparse
from krohn.network.precision import FloatArray
from krohn.program import Operation, Position, Program
from krohn.program.domains import IntArray
from krohn.program.operations.base import LookBack


def patterns(layout: Layout, block: int) -> dict[Operation, list[str]]:
    """The channels of a block by how they look; each way becomes one head."""
    grouped: dict[Operation, list[str]] = {}
    for name in layout.plan.attention(block):
        operation = layout.plan.program.operations[name]
        grouped.setdefault(look(operation), []).append(name)
    return grouped


def kind(layout: Layout, block: int, sparse: Sparse | None) -> dict[str, Any]:
    """The entry of the architecture for the kind of a block's heads, if any.

    Args:
        layout: The channels of the network, and their places.
        block: The number of the block.
        sparse: The positions that all heads see; None for all.

    Raises:
        CompileError: If a head must look where it does not see.
    """
    found = patterns(layout, block)
    linear = {looked.linear for looked in found}
    if len(linear) > 1:
        raise CompileError(
            "a block cannot have both linear heads and heads of another kind"
        )
    if sparse is None:
        return {"attention": {"kind": "linear"}} if True in linear else {}
    program = layout.plan.program
    t = np.arange(program.length + 1)
    for looked, channels in found.items():
        fetched = _looked_at(program, looked)
        hidden = None if fetched is None else t[~sparse.sees(t, fetched)]
        if hidden is None and program.near is not None:
            hidden = t[:0] if program.near < sparse.window else t
        if hidden is None or len(hidden):
            raise CompileError(
                f"{channels[0]!r} looks {_far(t, fetched, hidden)}, and sparse heads see "
                f"the last {sparse.window} positions"
            )
    return {"attention": {"kind": "sparse", **asdict(sparse)}} if found else {}


def _looked_at(program: Program, looked: Operation) -> IntArray | None:
    """Where a head looks from each position, ``(T + 1,)``; None if words decide it."""
    others = [program.operations[name] for name in looked.reads[1:]]
    given = [np.array([x.values]) for x in others if isinstance(x, Position)]
    if not isinstance(looked, LookBack) or len(given) < len(others):
        return None
    return np.ravel(looked.position(given, np.arange(program.length + 1)))


def _far(t: IntArray, fetched: IntArray | None, hidden: IntArray | None) -> str:
    """Where a head looks that sees too little, in words."""
    if fetched is None or hidden is None:
        return "anywhere"
    return f"{(t - fetched)[hidden].max()} positions back"


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
