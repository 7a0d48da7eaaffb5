"""The residual stream from one sublayer to the next (docs/proofs/network.md)."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from krohn.program.architectures.transformer import Transformer
from krohn.program.domains import IntArray, Matrices
from krohn.program.errors import demand
from krohn.program.statement import Channel, Statement
from krohn.verify.checker.affine_arithmetic import ACTIVATIONS, Noisy
from krohn.verify.checker.arithmetic import LARGEST_FLOAT64, Interval, enclose_sum
from krohn.verify.checker.heads import Heads, Look
from krohn.verify.checker.mlp import Mlp
from krohn.verify.checker.model_file import FloatArray, Model
from krohn.verify.checker.residual_stream import (
    FEATURE,
    FREE,
    RealErrors,
    Stream,
    owners,
)

CELLS = 2**20
Readings = dict[tuple[int, ...], int]
"""For each tuple of output values that occurs the class that it means."""


Noise = dict[str, FloatArray]


def follow_sublayers(
    model: Model, stream: Stream, said: Any
) -> Iterator[tuple[Stream, dict[str, Look]]]:
    """The stream after the embedding and after each sublayer, and where heads look.

    Evidence says which ``cases`` decide what MLPs compute.
    """
    stream, shown = _read(model, stream, None, 0), dict[Any, FloatArray]()
    yield stream, {}
    for block in range(len(model.network(Transformer).blocks)):
        before = stream
        stream, looks = attention(model, stream, block)
        stream = _read(model, stream, before, 2 * block + 1)
        yield stream, looks
        mlp = mlp_of(model, stream, block, said.get("cases", {}), shown)
        before, new = stream, born(stream, 2 * block + 2)
        noise = {c.name: mlp.bound_noise(c) for c in new}
        stream = after(stream, mlp, 2 * block + 2, noise)
        stream = _read(model, stream, before, 2 * block + 2)
        yield stream, {}


def collect_streams(
    model: Model, program: Statement, said: Any, matrices: RealErrors | None = None
) -> tuple[tuple[Stream, ...], dict[str, Look]]:
    """The stream after the embedding and after each sublayer, and where all heads look."""
    known = list(follow_sublayers(model, embedding(model, program, matrices), said))
    looks = {name: look for _, heads in known for name, look in heads.items()}
    return tuple(stream for stream, _ in known), looks


def _read(model: Model, stream: Stream, before: Stream | None, snapshot: int) -> Stream:
    """The stream with what readers see of it, and what a disguise does to it."""
    if model.disguise is not None:
        return model.disguise.follow_sublayer(stream, before, snapshot)
    if model.norms is None:
        return stream
    return replace(stream, reader=model.norms.reader(stream, snapshot))


def embedding(
    model: Model, program: Statement, matrices: RealErrors | None = None
) -> Stream:
    """The stream after the embedding; with how errors of matrices are measured."""
    token, position = model.tensors["embed.token"], model.tensors["embed.position"]
    owner, names = owners(program, 0, token.shape[1])
    position = position[: program.length + 1]
    demand(token[:, owner < 0] == 0, "the embedding writes beside all channels")
    demand(position[:, owner == FREE] == 0, "the embedding writes to a free place")
    for channel in map(program.channels.__getitem__, names):
        first, own, other = next(iter(program.channels)), token, position
        if matrices is not None and isinstance(channel.values, Matrices):
            codes = matrices.codes(channel)
        elif channel.op == "position":
            own, other, codes = (
                position,
                token,
                channel.code(channel.values_by_position),
            )
        else:
            demand(channel.op == "table" and channel.inputs == (first,), "not embedded")
            codes = channel.code(channel.table.values)
        right = np.array_equal(own[:, channel.span], codes)
        demand(
            right and not other[:, channel.span].any(),
            f"{channel.name!r} is embedded wrongly",
        )
    noise = {n: np.zeros(max(1, len(program.channels[n].domain))) for n in names}
    if matrices is not None:
        real = (n for n in names if isinstance(program.channels[n].values, Matrices))
        noise |= {n: matrices.bound_embedding() for n in real}
    features, nowhere = position * (owner == FEATURE), np.zeros(len(owner))
    return Stream(program, model.format, features, owner, noise, nowhere, matrices)


def attention(
    model: Model, stream: Stream, block: int
) -> tuple[Stream, dict[str, Look]]:
    """The stream after the heads of a block, and where they look."""
    new, snapshot = born(stream, 2 * block + 1), 2 * block + 1
    parts = [f"blocks.{block}.attention.{n}" for n in ("query", "key", "value", "out")]
    noise: Noise = {}
    looks: dict[str, Look] = {}
    shape = model.network(Transformer).blocks[block]
    if parts[0] in model.tensors:
        query, key, value, out = (model.tensors[n] for n in parts)
        unsure = np.zeros(len(query))
        if model.disguise is not None:
            unsure = model.disguise.scores(stream, block)
        heads = Heads(stream, query, key, value, out, shape, unsure, model.gain, {})
        heads.copies(new)
        for channel in new:
            noise[channel.name], looks[channel.name] = heads.noise(channel)
    _, names = owners(stream.program, snapshot, len(stream.owner))
    demand(stream.noise.keys() <= set(names), "no layer clears a channel that ends")
    return _next(stream, snapshot, noise, stream.free), looks


def mlp_of(
    model: Model,
    stream: Stream,
    block: int,
    cases: Mapping[str, Any],
    shown: dict[Any, FloatArray],
) -> Mlp:
    """The MLP of a block; one without layers if it has none."""
    shape, at = model.network(Transformer).blocks[block], f"blocks.{block}.mlp."
    count, tensors = len(shape.mlp) + 1 if shape.mlp else 0, model.tensors
    layers = [
        (tensors[f"{at}{j}.weight"], tensors[f"{at}{j}.bias"]) for j in range(count)
    ]
    mask = tensors.get(f"{at}residual", np.ones(len(stream.owner)))
    demand(np.isin(mask, (0, 1)), "a residual mask has other entries than 0 and 1")
    named = {str(name) for layer in shape.activations for name in layer}
    known = {*ACTIVATIONS} - (set() if model.norms else {"gelu_new"})
    others = ", ".join(sorted(named - known))
    demand(not others, f"the checker is not about {others!r} units")
    return Mlp(layers, list(shape.activations), mask, stream, cases, shown)


def after(stream: Stream, mlp: Mlp, snapshot: int, noise: Noise) -> Stream:
    """The stream after an MLP, which writes some channels and keeps the others."""
    owner, names = owners(stream.program, snapshot, len(stream.owner))
    mlp.check_reads()
    lives = [stream.program.channels[n].span for n in names if n in stream.noise]
    for span in lives:
        demand(mlp.keeps(span), "an MLP changes a channel that goes on")
    for low, high in stream.program.features.values():
        demand(mlp.keeps(range(low, high)), "an MLP changes a position feature")
    return _next(stream, snapshot, noise, mlp.bound_residue(owner == FREE))


def born(stream: Stream, snapshot: int) -> list[Channel]:
    """The channels that are first there at a snapshot."""
    return [
        c for c in stream.program.channels.values() if c.stored and c.born == snapshot
    ]


def _next(stream: Stream, snapshot: int, written: Noise, free: FloatArray) -> Stream:
    owner, names = owners(stream.program, snapshot, len(stream.owner))
    known = {**stream.noise, **written}
    demand(set(names) <= known.keys(), "no layer writes a stated channel")
    noise = {n: known[n] for n in names}
    left = free * (owner == FREE)
    return replace(stream, owner=owner, noise=noise, free=left)


def separate_logits(
    model: Model, stream: Stream, readings: Readings
) -> tuple[Noisy, float]:
    """All logits; and how far the right one stays above every other one, at worst."""
    right, outputs = np.array(list(readings.values())), model.tensors["unembed.bias"]
    classes = len(outputs) - model.rivals
    demand(right < classes, "the network has no logit for a state")
    slack = [LARGEST_FLOAT64]
    value, total = np.empty((2, len(right), len(outputs)))
    for rows, logits in _iterate_logits(model, stream, np.array(list(readings)).T):
        value[rows], total[rows] = logits.value, logits.total
        slack.append(_ahead(logits, right[rows]))
    every = Noisy(value, np.zeros((0, *value.shape)), total, stream.form)
    return every, float(np.min(slack))  # NaN stays NaN


def values_said(model: Model, stream: Stream, values: IntArray) -> Noisy:
    """``(values, outputs)``: what is said where the only output channel has a value.

    Raises:
        Refused: If the read-out reads anything but the output.
    """
    value, total = np.empty((2, len(values), len(model.tensors["unembed.bias"])))
    for rows, logits in _iterate_logits(model, stream, values[None]):
        value[rows], total[rows] = logits.value, logits.total
    return Noisy(value, np.zeros((0, *value.shape)), total, stream.form)


def _iterate_logits(
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
        logits = x.rows(rows).affine(weight, bias)
        if model.disguise is not None:
            logits = replace(logits, rest=(Interval.of(logits.rest) + off).high)
        yield rows, logits


def _ahead(logits: Noisy, right: IntArray) -> float:
    """How far the right logit stays above every other one, at worst."""
    row = np.arange(len(right))
    ahead = Interval.of(logits.value[row, right][:, None]) - logits.value
    apart = logits.slopes[:, row, right][:, :, None] - logits.slopes
    rest = logits.rest + logits.rest[row, right][:, None]
    off = enclose_sum(np.abs(apart).sum(axis=0) + rest, len(apart) + 2)
    slack = (ahead - off).low
    slack[row, right] = np.inf
    return float(slack.min())
