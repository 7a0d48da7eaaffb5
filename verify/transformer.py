"""Second half of a proof: the tensors of a Transformer compute the Program."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from algebra.semiautomaton import IntArray
from network.architecture import activations
from network.modelfile import ModelFile
from network.precision import FLOAT64, FloatArray
from verify.errors import Rejected
from verify.heads import Attention, Look
from verify.mlp import Mlp
from verify.noisy import INFLATION, Noisy
from verify.statement import ATTENTION, SUMS, Channel, Reach, Statement
from verify.stream import FEATURE, FREE, Stream, owners
from verify.sums import check_sum
from verify.tables import check_map

Readings = Mapping[tuple[int, ...], int]

MOST_LOGITS = 2**27
"""Of all readings, and of every noise that they carry."""


@dataclass(frozen=True)
class Tensors:
    """The tensors of a model file with what they are to compute.

    Attributes:
        file: The model file.
        statement: Its Program.
        reach: The values of each channel.
    """

    file: ModelFile
    statement: Statement
    reach: Mapping[str, Reach]

    @property
    def d_model(self) -> int:
        """How wide the residual stream is."""
        return int(self.tensor("embed.token").shape[1])

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return len(self.file.header["architecture"]["blocks"])

    def tensor(self, name: str) -> FloatArray:
        """A tensor by its name."""
        return self.file.tensors[name]

    def block(self, index: int, part: str) -> FloatArray | None:
        """A tensor of a block, or None if the block has no such tensor."""
        return self.file.tensors.get(f"blocks.{index}.{part}")

    def born(self, snapshot: int) -> list[Channel]:
        """The channels that first stand at a snapshot."""
        live = self.statement.live.get(snapshot, [])
        return [c for c in live if c.born == snapshot]


def prove(tensors: Tensors, readings: Readings) -> Iterator[dict[str, Any]]:
    """Show, sublayer by sublayer, that every channel holds its value.

    Yields:
        For every sublayer what was established, as certificates state it.

    Raises:
        Rejected: At the first step that cannot be established.
    """
    _check_places(tensors)
    stream, evidence = _embedding(tensors)
    yield evidence
    for block in range(tensors.blocks):
        stream, evidence = _attention(tensors, stream, block)
        yield evidence
        stream, evidence = _mlp(tensors, stream, block)
        yield evidence
    margin = _read_out(tensors, stream, readings)
    yield {"sublayer": "read-out", "margin": min(margin, FLOAT64.largest)}


def _check_places(tensors: Tensors) -> None:
    last = 2 * tensors.blocks
    for channel in tensors.statement.channels.values():
        if channel.dims and not 0 <= channel.born <= channel.dies <= last:
            raise Rejected(f"channel {channel.name!r} lives outside the network")


def _embedding(tensors: Tensors) -> tuple[Stream, dict[str, Any]]:
    token, position = tensors.tensor("embed.token"), tensors.tensor("embed.position")
    owner, names = owners(tensors.statement, 0, tensors.d_model)
    if token[:, owner < 0].any():
        raise Rejected("the embedding writes to a dimension that holds nothing")
    if position[:, owner == FREE].any():
        raise Rejected("the position embedding writes to a free dimension")
    noise = {}
    for channel in tensors.born(0):
        expected = _embedded(tensors.statement, channel)
        for rows, codes in zip((token, position), expected, strict=True):
            if (rows[: len(codes), channel.span] != codes).any():
                raise Rejected(f"channel {channel.name!r} is embedded wrongly")
        noise[channel.name] = np.zeros(len(channel.domain))
    free = np.zeros(tensors.d_model)
    return Stream(0, owner, names, noise, free), {"sublayer": "embedding"}


def _embedded(statement: Statement, channel: Channel) -> tuple[FloatArray, FloatArray]:
    """What token rows and position rows must hold: one of them codes, the other 0."""
    letters, positions = range(statement.letters + 1), range(statement.length + 1)
    nothing = np.zeros((max(len(letters), len(positions)), len(channel.span)))
    if channel.op == "position":
        return nothing[: len(letters)], channel.code(channel.values)
    if channel.op != "table" or not _reads_token(statement, channel):
        raise Rejected(f"channel {channel.name!r} cannot be embedded")
    codes = channel.code([channel.table[(a,)] for a in letters])
    return codes, nothing[: len(positions)]


def _reads_token(statement: Statement, channel: Channel) -> bool:
    return [statement.channels[n].op for n in channel.inputs] == ["token"]


def _after(
    tensors: Tensors, before: Stream, noise: Mapping[str, FloatArray], free: FloatArray
) -> Stream:
    """The next snapshot: what is kept, and what was written."""
    snapshot = before.snapshot + 1
    owner, names = owners(tensors.statement, snapshot, tensors.d_model)
    known = {n: noise[n] if n in noise else before.noise.get(n) for n in names}
    lost = [n for n, bound in known.items() if bound is None]
    if lost:
        raise Rejected(f"nothing writes channel {lost[0]!r}")
    kept = {n: bound for n, bound in known.items() if bound is not None}
    return Stream(snapshot, owner, names, kept, free * (owner == FREE))


def _attention(
    tensors: Tensors, before: Stream, block: int
) -> tuple[Stream, dict[str, Any]]:
    born = tensors.born(before.snapshot + 1)
    freed = _dying(tensors, before.snapshot)
    if freed:
        raise Rejected(f"channel {freed[0].name!r} ends where nothing can clear it")
    query = tensors.block(block, "attention.query")
    noise: dict[str, FloatArray] = {}
    heads = []
    if query is None:
        if born:
            raise Rejected(f"channel {born[0].name!r} is written by no head")
    else:
        attention = _heads(tensors, before, block)
        attention.copies(born)
        looks: dict[object, Look] = {}
        for channel in born:
            look = _look(attention, channel, looks)
            noise[channel.name] = _heard(attention, channel, look)
            heads.append(_evidence(channel, look, noise[channel.name]))
    stream = _after(tensors, before, noise, before.free)
    return stream, {"sublayer": f"attention {block}", "channels": heads}


def _dying(tensors: Tensors, snapshot: int) -> list[Channel]:
    if snapshot == 2 * tensors.blocks:
        return []
    live = tensors.statement.live.get(snapshot, [])
    return [c for c in live if c.dies == snapshot]


def _heads(tensors: Tensors, before: Stream, block: int) -> Attention:
    names = ("query", "key", "value", "out")
    matrices = {n: tensors.tensor(f"blocks.{block}.attention.{n}") for n in names}
    length = tensors.statement.length
    return Attention(
        **matrices,
        # Scores may read channels too, but these are stated by the stream.
        positions=tensors.tensor("embed.position")[: length + 1]
        * (before.owner == FEATURE),
        stream=before,
        statement=tensors.statement,
        reach=tensors.reach,
        precision=tensors.file.precision,
    )


def _look(attention: Attention, channel: Channel, looks: dict[object, Look]) -> Look:
    """Where a head looks; channels that look alike through one head are alike."""
    if channel.op not in ATTENTION:
        raise Rejected(f"channel {channel.name!r} is not what a head can compute")
    alike = (channel.head, channel.op, channel.by, channel.inputs[1:])
    if alike not in looks:
        looks[alike] = attention.look(channel)
    return looks[alike]


def _heard(attention: Attention, channel: Channel, look: Look) -> FloatArray:
    """The noise of each value of a channel that a head writes."""
    if channel.op in SUMS:
        return attention.counted(channel)
    return attention.carried(channel, look)


def _evidence(channel: Channel, look: Look, noise: FloatArray) -> dict[str, Any]:
    return {
        "channel": channel.name,
        "gap": look.gap,
        "leak": look.leak,
        "score_error": look.score_error,
        "noise": float(noise.max()),
    }


def _mlp(tensors: Tensors, before: Stream, block: int) -> tuple[Stream, dict[str, Any]]:
    born = tensors.born(before.snapshot + 1)
    mlp = _network(tensors, before, block)
    noise: dict[str, FloatArray] = {}
    free = before.free.copy()
    if mlp is not None:
        owner, names = owners(tensors.statement, before.snapshot + 1, tensors.d_model)
        mlp.check_idle()
        _check_untouched(tensors, mlp, names)
        for channel in born:
            if channel.op not in ("table", "select", "sum"):
                raise Rejected(
                    f"channel {channel.name!r} is not what an MLP can compute"
                )
            check = check_sum if channel.op == "sum" else check_map
            noise[channel.name] = check(mlp, channel)
        for dimension in np.flatnonzero(owner == FREE):
            span = range(dimension, dimension + 1)
            if not (mlp.untouched(span) and before.owner[dimension] == FREE):
                free[dimension] = mlp.check_free(span)
    else:
        silent = born or _dying(tensors, before.snapshot)
        if silent:
            raise Rejected(f"channel {silent[0].name!r} needs an MLP that is not there")
    channels = [{"channel": n, "noise": float(b.max())} for n, b in noise.items()]
    stream = _after(tensors, before, noise, free)
    return stream, {"sublayer": f"mlp {block}", "channels": channels}


def _network(tensors: Tensors, before: Stream, block: int) -> Mlp | None:
    mask = tensors.block(block, "mlp.residual")
    mask = np.ones(tensors.d_model) if mask is None else mask
    if not np.isin(mask, (0.0, 1.0)).all():
        raise Rejected("a residual mask has an entry that is neither 0 nor 1")
    shape = tensors.file.header["architecture"]["blocks"][block]
    widths, layers = shape["mlp"], []
    waves = tuple(names == "sine" for names in activations(shape))
    for j in range(len(widths) + 1 if widths else 0):
        at = f"blocks.{block}.mlp.{j}"
        layers.append((tensors.tensor(f"{at}.weight"), tensors.tensor(f"{at}.bias")))
    if not layers and (mask == 1).all():
        return None
    if not layers:
        raise Rejected("a block without an MLP has a residual mask")
    precision = tensors.file.precision
    return Mlp(tuple(layers), mask, before, tensors.statement, precision, waves)


def _check_untouched(tensors: Tensors, mlp: Mlp, names: tuple[str, ...]) -> None:
    """Everything that lives on is left exactly as it is."""
    for name in set(names) & set(mlp.stream.names):
        if not mlp.untouched(tensors.statement.channels[name].span):
            raise Rejected(f"an MLP changes channel {name!r}")
    for low, high in tensors.statement.features.values():
        if not mlp.untouched(range(low, high)):
            raise Rejected("an MLP changes a position feature")


def _read_out(tensors: Tensors, stream: Stream, readings: Readings) -> float:
    """The right state has the largest logit for every tuple of output values."""
    weight, bias = tensors.tensor("unembed.weight"), tensors.tensor("unembed.bias")
    channels = [tensors.statement.channels[n] for n in tensors.statement.outputs]
    for channel in channels:
        if channel.name not in stream.names:
            raise Rejected(f"the output {channel.name!r} is not there at the end")
    used = np.array(sorted({d for c in channels for d in c.span}))
    others = np.delete(weight, used, axis=0)
    if others.any():
        raise Rejected("the read-out depends on more than the outputs")
    x = _readings(tensors, stream, used, readings)
    states = np.array(list(readings.values()))
    logits = x.affine(weight[used], bias)
    margin = _margin(logits, states)
    if not margin > 0:
        raise Rejected(f"the read-out can confuse two states (margin {margin:.2g})")
    return margin


def _readings(
    tensors: Tensors, stream: Stream, used: IntArray, readings: Readings
) -> Noisy:
    """``(readings, used)``: what stands in the dimensions that are read out."""
    outputs = [tensors.statement.channels[n] for n in tensors.statement.outputs]
    tuples = np.array(list(readings), dtype=np.int64)
    noises = [stream.noise_at(c, v) for c, v in zip(outputs, tuples.T, strict=True)]
    noisy = sum(len(c.span) for c, n in zip(outputs, noises, strict=True) if n.any())
    width = len(used) + tensors.tensor("unembed.bias").size
    if len(tuples) * width * (1 + noisy) > MOST_LOGITS:
        raise Rejected("the read-out tells too many tuples of values apart")
    x = np.zeros((len(tuples), len(used)))
    slopes = []
    for channel, column, noise in zip(outputs, tuples.T, noises, strict=True):
        span = np.searchsorted(used, channel.span)
        x[:, span] = channel.code(column)
        for dimension in span if noise.any() else ():
            slopes.append(np.zeros_like(x))
            slopes[-1][:, dimension] = noise
    ones = (1.0,) * len(slopes)
    rest = np.zeros_like(x)
    return Noisy(x, tuple(slopes), ones, rest, tensors.file.precision)


def _margin(logits: Noisy, states: FloatArray) -> float:
    """How far the right logit stays above every other one, at worst."""
    rows = np.arange(len(states))
    ahead = logits.value[rows, states][:, None] - logits.value
    error = logits.rest + logits.rest[rows, states][:, None]
    for slope, noise in zip(logits.slopes, logits.noises, strict=True):
        error = error + np.abs(slope[rows, states][:, None] - slope) * noise
    slack = ahead - error * INFLATION - (INFLATION - 1) * np.abs(ahead)
    slack[rows, states] = np.inf
    return float(slack.min(initial=np.inf))
