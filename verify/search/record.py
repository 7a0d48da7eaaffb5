"""The established steps of a proof, for people."""

from collections.abc import Iterator, Mapping
from functools import singledispatch
from typing import Any

from krohn.verify.checker import (
    claimed_error,
    generator,
    in_context,
    real_networks,
    recurrent_beliefs,
    simulation,
)
from krohn.verify.checker.arithmetic import LARGEST_FLOAT64
from krohn.verify.checker.heads import Look
from krohn.verify.checker.shown import Shown
from krohn.verify.checker.transformer import Established


@singledispatch
def steps(found: Shown, evidence: Mapping[str, Any]) -> list[dict[str, Any]]:
    """JSON values, one for each step of the proof.

    Args:
        found: What the checker saw.
        evidence: What it was told.
    """
    raise TypeError(f"nothing is said of {type(found)}")


@steps.register
def _(found: generator.Established, evidence: Mapping[str, Any]) -> list[Any]:
    return [{"first layer": found.first}, {"law": found.law}]


@steps.register
def _(found: simulation.Established, evidence: Mapping[str, Any]) -> list[Any]:
    argument = "layers" if "tuples" in found.sizes else "hidden states"
    return [{"argument": argument, **found.sizes, "margin": found.margin}]


@steps.register
def _(found: recurrent_beliefs.Established, evidence: Mapping[str, Any]) -> list[Any]:
    told = {"argument": "hidden states", "pairs": found.pairs, "error": found.error}
    return [{**told, "situations": found.situations}]


@steps.register
def _(found: in_context.Established, evidence: Mapping[str, Any]) -> list[Any]:
    told = {"argument": "gradient descent", "leak": found.leak}
    return [{**told, **found.errors._asdict()}]


@steps.register
def _(found: real_networks.Established, evidence: Mapping[str, Any]) -> list[Any]:
    return [{"argument": "real vectors", **found.parts, "error": found.error}]


@steps.register
def _(found: claimed_error.Established, evidence: Mapping[str, Any]) -> list[Any]:
    """How errors are measured; of a Transformer its sublayers and the read-out."""
    if not found.streams:
        return [{**found.told, "error": found.error}]
    read_out = {"sublayer": "read-out", "error": found.error}
    return [{**found.told}, {"sublayer": "embedding"}, *_sublayers(found), read_out]


@steps.register
def _(found: Established, evidence: Mapping[str, Any]) -> list[Any]:
    """The Program, the embedding, every sublayer and the read-out, as far as it came."""
    embedding, read_out = {"sublayer": "embedding"}, {"sublayer": "read-out"}
    return [
        program_summary(evidence.get("program", {}), found.readings),
        *[embedding][: len(found.streams)],
        *_sublayers(found),
        *([{**read_out, "margin": found.margin}] if found.margin else []),
    ]


def program_summary(
    evidence: Mapping[str, Any], readings: Mapping[tuple[int, ...], int]
) -> dict[str, Any]:
    """The number of abstract states by which a Program was followed, and of its outputs."""
    told = {"readings": len(readings)}
    if "parts" in evidence:
        states = sum(len(part["states"]) for part in evidence["parts"])
        told = {"parts": len(evidence["parts"]), "states": states, **told}
    return {"program": told}


def _sublayers(
    found: Established | claimed_error.Established,
) -> Iterator[dict[str, Any]]:
    for snapshot, stream in enumerate(found.streams[1:], start=1):
        kind = "attention" if snapshot % 2 else "mlp"
        channels = [
            {"channel": name, "noise": float(noise.max()), **_look(found.looks, name)}
            for name, noise in stream.noise.items()
            if stream.program.channels[name].born == snapshot
        ]
        yield {"sublayer": f"{kind} {(snapshot - 1) // 2}", "channels": channels}


def _look(looks: Mapping[str, Look], name: str) -> dict[str, float]:
    """Where the head of a channel looks; nothing if no head writes it."""
    if name not in looks:
        return {}
    look = looks[name]
    gap = min(look.gap, LARGEST_FLOAT64)  # JSON has no infinity
    return {"gap": gap, "leak": look.leak, "score_error": look.error}
