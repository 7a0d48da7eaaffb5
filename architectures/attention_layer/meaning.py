"""Attention layers of real vectors."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic

from krohn.architectures.attention_layer.statement import (
    AttentionLayer as Declared,
    sight,
)
from krohn.network.architecture import Kind, declare
from krohn.network.meaning.attention import SCORES, Points
from krohn.network.meaning.engine import Engine
from krohn.network.meaning.forward import feed
from krohn.network.meaning.net import A, Affine, affines, every_tensor, relus
from krohn.program.attention import Sight, Softmax


@dataclass(frozen=True)
class AttentionLayer(Generic[A]):
    """ŷ_t = F̂(Σ_s softmax_s[(W_Q f̂(x_t))·(W_K f̂(x_s))] W_V f̂(x_s)), x_s ∈ R^d.

    f̂ and F̂ are ReLU networks; f̂ sees the code of the position beside the input. The sum
    is over all positions, or over s ≤ t; or over the slots of a memory instead, which are
    constant keys, values and biases of the logits (Jiang and Li, eq. 5).

    Attributes:
        sight: The positions that the head sees.
        code: ``(length, codes)``; None if positions have none.
        query: ``(features, k)``.
        key: ``(features, k)``, or those of the slots ``(slots, k)``.
        value: ``(features, v)``, or those of the slots ``(slots, v)``.
        bias: ``(slots,)``; None if there is no memory.
        features: f̂.
        output: F̂.
    """

    sight: Sight
    code: A | None
    query: A
    key: A
    value: A
    bias: A | None
    features: tuple[Affine[A], ...]
    output: tuple[Affine[A], ...]

    @classmethod
    def of(cls, shape: Declared, tensors: Mapping[str, A]) -> "AttentionLayer[A]":
        """The network of an architecture and its tensors.

        Raises:
            ModelFileError: If a tensor is not there, or there is another one.
        """

        def make_layer(left: dict[str, A]) -> "AttentionLayer[A]":
            prefix = "memory" if shape.memory else "attention"
            return cls(
                sight(shape.causal),
                left.pop("code") if shape.codes else None,
                left.pop("attention.query"),
                left.pop(f"{prefix}.key"),
                left.pop(f"{prefix}.value"),
                left.pop("memory.bias") if shape.memory else None,
                affines("features", [*relus(shape.features_units), ()], left),
                affines("output", [*relus(shape.output_units), ()], left),
            )

        return every_tensor(make_layer, tensors)


def through(o: Engine, net: AttentionLayer[Any], x: Any, points: Points) -> Any:
    """``(batch, n, outputs)`` for inputs ``(batch, n, d)`` at points from 0 on."""
    features = encode_inputs(o, net, x, points)
    value = net.value if net.bias is not None else features @ net.value
    weights, seen = weigh_positions(o, net, features, points)
    return feed(o, net.output, o.combine(weights, value, seen))


def encode_inputs(o: Engine, net: AttentionLayer[Any], x: Any, points: Points) -> Any:
    """``(batch, n, features)``: f̂ of the inputs and of their positions."""
    if net.code is not None:
        x = o.join([x, o.spread(o.gather(net.code, points.index), x)])
    return feed(o, net.features, x)


def weigh_positions(
    o: Engine, net: AttentionLayer[Any], features: Any, points: Points
) -> tuple[Any, Any]:
    """How much is taken of each position or slot, ``(batch, n, …)``, and what is seen.

    A slot has no position, and all see it.
    """
    scores = o.contract(SCORES, *project_features(net, features))
    if net.bias is None:
        seen = _behind_bos(points).visibility(o, Softmax(), (net.sight,))
    else:
        scores = scores + net.bias
        seen = o.flags([True], features)
    return o.softmax(scores, seen), seen


def project_features(net: AttentionLayer[Any], features: Any) -> tuple[Any, Any]:
    """Queries ``(batch, n, k)``, and keys; those of slots are the same for all."""
    query = features @ net.query
    return query, net.key if net.bias is not None else features @ net.key


def _behind_bos(points: Points) -> Points:
    """Positions from 1 on: there is no BOS, from which nothing else would be seen."""

    def places() -> tuple[Any, Any]:
        i, j = points.places()
        return i + 1, j + 1

    return replace(points, places=places, masks={})


KIND = declare(
    Kind(
        Declared,
        title="attention layer",
        width_of=lambda layer: layer.features,
        runtime="krohn.architectures.attention_layer.engine:AttentionLayer",
        layers_of=lambda layer: [
            {"heads": 1, "mlp": [*layer.features_units, *layer.output_units]}
        ],
        answers="reals",
    )
)
