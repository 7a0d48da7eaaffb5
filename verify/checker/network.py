"""The whole proof: a model file and its evidence, sublayer by sublayer."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from program.chain_of_thought import ChainOfThought
from program.errors import Refused, demand
from program.statement import Channel, Statement, parse, whole
from verify.checker import generation, generator, recurrent, refinement
from verify.checker.affine_arithmetic import ACTIVATIONS, INFLATION, Noisy, exact
from verify.checker.attention import Heads, Look
from verify.checker.mlp import Mlp
from verify.checker.model_file import (
    LARGEST_FLOAT64,
    FloatArray,
    Format,
    Machine,
    Model,
    StrArray,
    loads,
    read,
)
from verify.checker.residual_stream import FEATURE, FREE, Stream, owners

Noise = dict[str, FloatArray]
Readings = dict[tuple[int, ...], int]


@dataclass(frozen=True)
class Established:
    """Every bound that was shown, for all words up to T.

    Attributes:
        streams: What is known of the residual stream, after the embedding and after
            each sublayer.
        looks: Where the head of each channel looks that a head writes.
        readings: For each tuple of output values that occurs the class that it means.
        logits: ``(readings, classes)``: the logits of each tuple, in that order.
        margin: How far the right logit stays above every other one, at worst; 0 before
            the read-out is reached.
    """

    streams: tuple[Stream, ...]
    looks: Mapping[str, Look]
    readings: Readings
    logits: Noisy
    margin: float

    @property
    def program(self) -> Statement:
        """What the network computes."""
        return self.streams[0].program

    @property
    def form(self) -> Format:
        """The format that is computed in."""
        return self.logits.form

    def facts(self) -> dict[str, Any]:
        """In numbers: the noise of each channel, the leak of each head, the margin."""
        noise = {n: float(x.max()) for s in self.streams for n, x in s.noise.items()}
        return {
            "covers": f"all words of up to {self.program.length} letters",
            "length": self.program.length,
            "dtype": self.form.name,
            "readings": len(self.readings),
            "margin": self.margin,
            "noise": noise,
            "leak": {name: look.leak for name, look in self.looks.items()},
        }


def recheck(data: bytes, evidence: bytes, machine: Machine | None = None) -> "Shown":
    """What a model file and its evidence show.

    Args:
        data: The model file.
        evidence: The evidence, as JSON.
        machine: What it must compute; that of the file's own header if absent.

    Returns:
        What was established.

    Raises:
        Refused: If that does not show that the network computes the machine from its
            start state, on every word of up to T letters, of any length if it is an RNN,
            in the format of the file; or, of a generator, that it says the law of the
            next letter on legal prefixes.
    """
    try:
        with np.errstate(all="ignore"):  # what is not a number fails every demand
            said = loads(evidence)
            demand(said["format"] == "krohn-evidence", "this is no evidence")
            demand(said["version"] == 1, "the evidence has an unknown version")
            digest = hashlib.sha256(data).hexdigest()
            demand(said["model"] == digest, "the evidence is for another model file")
            model = read(data)
            return check_of(model)(model, said, machine)
    except Refused:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {str(error)[:200]}"
        raise Refused(f"the evidence cannot be followed ({reason})") from None


def check_of(model: Model) -> "Check":
    """The check of the networks of a kind; as `recheck`, raises other errors, too."""
    kind = model.header["architecture"]["kind"]
    demand(kind in CHECKS, f"there is no evidence for a network of kind {kind!r}")
    return CHECKS[kind]


def established(
    model: Model, said: Any, machine: Machine | None, progress: "Progress | None" = None
) -> Established:
    """What the file of a Transformer and its evidence show.

    ``progress`` is called after each step, with all that is shown up to there.
    """
    streams, looks = list[Stream](), dict[str, Look]()

    def report() -> None:
        if progress is not None:
            none = exact(np.zeros((0, 0)), model.format)
            progress(Established(tuple(streams), dict(looks), readings, none, 0.0))

    program, readings = _referenced(model, said, machine)
    report()
    streams.append(embedding(model, program))
    report()
    for block in range(len(model.header["architecture"]["blocks"])):
        stream, found = attention(model, streams[-1], block)
        streams.append(stream)
        looks |= found
        report()
        mlp = mlp_of(model, stream, block)
        new = born(stream, 2 * block + 2)
        noise = {c.name: mlp.written(c) for c in new}
        streams.append(after(stream, mlp, 2 * block + 2, noise))
        report()
    logits, margin = _read_out(model, streams[-1], readings)
    demand(margin > 0, f"the read-out can confuse two states (margin {margin:.2g})")
    shown = Established(tuple(streams), looks, readings, logits, margin)
    facts = shown.facts()
    for kind in ("noise", "leak"):
        for name, claimed in said.get(kind, {}).items():
            demand(facts[kind][name] <= claimed, f"the {kind} of {name!r} is not shown")
    demand(margin >= said.get("margin", 0), "the margin is not shown")
    if progress is not None:
        progress(shown)
    return shown


def _referenced(
    model: Model, said: Any, machine: Machine | None
) -> tuple[Statement, Readings]:
    """The stated Program, which computes what the file claims; and what it can show."""
    source, claim = model.header.get("source"), model.header["claim"]
    if source is None:
        demand(claim.get("kind", "exact") == "exact", "of a machine the claim is exact")
        machine = machine or model.machine
        program = stated(model, len(machine.transitions))
        return program, refinement.check(program, said["program"], machine)
    alone = machine is None and "machine" not in model.header
    demand(alone, "the file claims to compute no machine")
    demand(source["kind"] in SOURCES, "the file is about a source of an unknown kind")
    return SOURCES[source["kind"]](model, source)


def _generated(model: Model, source: Any) -> tuple[Statement, Readings]:
    """The same of a chain of thought."""
    demand(model.header["claim"].get("kind") == "generates", "the claim is another one")
    chain = ChainOfThought.from_wire(source)
    program = stated(model, len(chain.tokens))
    return program, generation.check(program, chain)


def stated(model: Model, letters: int) -> Statement:
    """The Program that a Transformer claims to compute."""
    length = model.header["claim"].get("length")
    demand(type(length) is int and length > 0, "the file claims no length")
    demand(length < model.header["architecture"]["positions"], "too few positions")
    demand(
        model.header["architecture"]["vocabulary"] == letters + 1,
        "the file has another number of letters than the machine",
    )
    demand(
        type(model.header.get("program")) is dict,
        "the file does not say what its channels are",
    )
    shapes = {name: tensor.shape for name, tensor in model.tensors.items()}
    demand(shapes == _shapes(model.header["architecture"]), "other tensors than stated")
    return parse(model.header["program"], letters, length)


def _shapes(said: Any) -> dict[str, tuple[int, ...]]:
    """The tensors of an architecture, as docs/model-format.md lists them."""
    d, outputs = said["d_model"], said["outputs"]
    found: dict[str, tuple[int, ...]] = {"embed.token": (said["vocabulary"], d)}
    found |= {"embed.position": (said["positions"], d)}
    found |= {"unembed.weight": (d, outputs), "unembed.bias": (outputs,)}
    for b, block in enumerate(said["blocks"]):
        h, k, v, widths = (block[n] for n in ("heads", "d_qk", "d_v", "mlp"))
        for name in ("query", "key", "value", "out") if h else ():
            shape = {"value": (h, d, v), "out": (h, v, d)}.get(name, (h, d, k))
            found[f"blocks.{b}.attention.{name}"] = shape
        for j, pair in enumerate(pairwise([d, *widths, d]) if widths else ()):
            found[f"blocks.{b}.mlp.{j}.weight"] = pair
            found[f"blocks.{b}.mlp.{j}.bias"] = pair[1:]
        if not said["strict"]:
            found[f"blocks.{b}.mlp.residual"] = (d,)
    return found


def embedding(model: Model, program: Statement) -> Stream:
    """The stream after the embedding."""
    token, position = model.tensors["embed.token"], model.tensors["embed.position"]
    owner, names = owners(program, 0, token.shape[1])
    position = position[: program.length + 1]
    demand(token[:, owner < 0] == 0, "the embedding writes where no channel is")
    demand(position[:, owner == FREE] == 0, "the embedding writes where nothing is")
    for channel in map(program.channels.__getitem__, names):
        first, own, other = next(iter(program.channels)), token, position
        if channel.op == "position":
            own, other, codes = position, token, channel.code(channel.given)
        else:
            demand(channel.op == "table" and channel.inputs == (first,), "not embedded")
            codes = channel.code(channel.table.values)
        right = np.array_equal(own[:, channel.span], codes)
        demand(
            right and not other[:, channel.span].any(),
            f"{channel.name!r} is embedded wrongly",
        )
    noise = {n: np.zeros(len(program.channels[n].domain)) for n in names}
    features = position * (owner == FEATURE)
    return Stream(program, model.format, features, owner, noise, np.zeros(len(owner)))


def attention(
    model: Model, stream: Stream, block: int
) -> tuple[Stream, dict[str, Look]]:
    """The stream after the heads of a block, and where they look."""
    new, snapshot = born(stream, 2 * block + 1), 2 * block + 1
    parts = [f"blocks.{block}.attention.{n}" for n in ("query", "key", "value", "out")]
    noise: Noise = {}
    looks: dict[str, Look] = {}
    if parts[0] in model.tensors:
        query, key, value, out = (model.tensors[n] for n in parts)
        heads = Heads(stream, query, key, value, out, {})
        heads.copies(new)
        for channel in new:
            noise[channel.name], looks[channel.name] = heads.noise(channel)
    _, names = owners(stream.program, snapshot, len(stream.owner))
    demand(stream.noise.keys() <= set(names), "a channel ends where nothing clears it")
    return _next(stream, snapshot, noise, stream.free), looks


def mlp_of(model: Model, stream: Stream, block: int) -> Mlp:
    """The MLP of a block; one without layers if it has none."""
    shape, at = model.header["architecture"]["blocks"][block], f"blocks.{block}.mlp."
    count, tensors = len(shape["mlp"]) + 1 if shape["mlp"] else 0, model.tensors
    layers = [
        (tensors[f"{at}{j}.weight"], tensors[f"{at}{j}.bias"]) for j in range(count)
    ]
    mask = tensors.get(f"{at}residual", np.ones(len(stream.owner)))
    demand(np.isin(mask, (0, 1)), "a residual mask has other entries than 0 and 1")
    return Mlp(layers, _activations(shape, model.header["version"]), mask, stream)


def _activations(shape: Any, version: int) -> list[StrArray]:
    """The activation of each unit of each hidden layer, stated as runs of units.

    Files of version 2 state of each layer how many units, the first ones, are sines.
    """
    told = shape.keys() & {"sine", "activation"}
    known = told <= {{2: "sine", 4: "activation"}.get(version)}
    demand(known, "activations are stated as a file of its version does not do it")
    widths, sines = shape["mlp"], shape.get("sine", [0] * len(shape["mlp"]))
    first = [[["sine", n], ["relu", w - n]] for n, w in zip(sines, widths, strict=True)]
    found = []
    for width, runs in zip(widths, shape.get("activation", first), strict=True):
        names, counts = zip(*runs, strict=True)
        demand(set(names) <= ACTIVATIONS.keys(), "an activation of an unknown name")
        demand(whole(counts, 1).sum() == width, "a unit has not one activation")
        found.append(np.repeat(names, counts))
    return found


def after(stream: Stream, mlp: Mlp, snapshot: int, noise: Noise) -> Stream:
    """The stream after an MLP, which writes some channels and keeps the others."""
    owner, names = owners(stream.program, snapshot, len(stream.owner))
    mlp.check_reads()
    lives = [stream.program.channels[n].span for n in names if n in stream.noise]
    for span in lives:
        demand(mlp.keeps(span), "an MLP changes a channel that lives on")
    for low, high in stream.program.features.values():
        demand(mlp.keeps(range(low, high)), "an MLP changes a position feature")
    return _next(stream, snapshot, noise, mlp.cleared(owner == FREE))


def born(stream: Stream, snapshot: int) -> list[Channel]:
    """The channels that are first there at a snapshot."""
    return [
        c for c in stream.program.channels.values() if c.stored and c.born == snapshot
    ]


def _next(stream: Stream, snapshot: int, written: Noise, free: FloatArray) -> Stream:
    owner, names = owners(stream.program, snapshot, len(stream.owner))
    known = {**stream.noise, **written}
    demand(set(names) <= known.keys(), "nothing writes a channel that is there")
    noise = {n: known[n] for n in names}
    left = free * (owner == FREE)
    return Stream(stream.program, stream.form, stream.positions, owner, noise, left)


def _read_out(model: Model, stream: Stream, readings: Readings) -> tuple[Noisy, float]:
    """All logits; and how far the right one stays above every other one, at worst."""
    weight, bias = model.tensors["unembed.weight"], model.tensors["unembed.bias"]
    outputs = [stream.channel(n) for n in stream.program.outputs]
    used = [d for channel in outputs for d in channel.span]
    demand(np.delete(weight, used, axis=0) == 0, "the read-out reads too much")
    columns = np.array(list(readings)).T
    values = {c.name: column for c, column in zip(outputs, columns, strict=True)}
    x = stream.at(values, np.zeros((len(readings), len(weight))))
    logits, right = x.affine(weight, bias), np.array(list(readings.values()))
    demand(right < len(bias), "the network has no logit for a state")
    row = np.arange(len(right))
    ahead = logits.value[row, right][:, None] - logits.value
    apart = logits.slopes[:, row, right][:, :, None] - logits.slopes
    off = np.abs(apart).sum(axis=0) + logits.rest + logits.rest[row, right][:, None]
    slack = ahead - off * INFLATION - (INFLATION - 1) * np.abs(ahead)
    slack[row, right] = np.inf
    return logits, float(np.minimum(slack.min(), LARGEST_FLOAT64))


Progress = Callable[[Established], None]
Source = Callable[[Model, Any], tuple[Statement, Readings]]
SOURCES: dict[str, Source] = {"chain-of-thought": _generated}
Shown = Established | recurrent.Established | generator.Established
Check = Callable[[Model, Any, Machine | None], Shown]
CHECKS: dict[str, Check] = {
    "transformer": established,
    "rnn": recurrent.established,
    "generator": generator.established,
}
