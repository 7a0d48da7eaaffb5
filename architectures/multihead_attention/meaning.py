"""Attention heads over real vectors and the codes of their positions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic

from krohn.architectures.multihead_attention.statement import (
    MultiheadAttention as Declared,
)
from krohn.network.architecture import Kind, declare
from krohn.network.meaning.attention import PROJECT, SCORES, WRITE, Points
from krohn.network.meaning.engine import Engine
from krohn.network.meaning.net import A, every_tensor
from krohn.program.attention import Sight, Softmax


@dataclass(frozen=True)
class MultiheadAttention(Generic[A]):
    """ŷ_t = Σ_h (Σ_{s≤t} softmax_s[(f_t Q_h)·(f_s K_h)] f_s V_h) O_h, f_s = (x_s, c_s).

    Position 0 has the features f_0 instead, which are the same for all inputs.

    Attributes:
        code: ``(length, codes)``: c_1, c_2, ….
        start: ``(1, inputs + codes)``: f_0.
        query: ``(heads, inputs + codes, k)``.
        key: ``(heads, inputs + codes, k)``.
        value: ``(heads, inputs + codes, v)``.
        output: ``(heads, v, outputs)``.
    """

    code: A
    start: A
    query: A
    key: A
    value: A
    output: A

    @classmethod
    def of(cls, shape: Declared, tensors: Mapping[str, A]) -> "MultiheadAttention[A]":
        """The network of an architecture and its tensors.

        Raises:
            ModelFileError: If a tensor is not there, or there is another one.
        """
        del shape

        def make_heads(left: dict[str, A]) -> "MultiheadAttention[A]":
            parts = ("query", "key", "value", "output")
            matrices = [left.pop(f"attention.{name}") for name in parts]
            return cls(left.pop("code"), left.pop("start"), *matrices)

        return every_tensor(make_heads, tensors)


def through(o: Engine, net: MultiheadAttention[Any], x: Any, points: Points) -> Any:
    """``(batch, n, outputs)`` for inputs ``(batch, n, d)`` at points from 0 on."""
    features = o.join([x, o.spread(o.gather(net.code, points.index), x)])
    start = o.spread(net.start, x)
    query = o.contract(PROJECT, features, net.query)
    key, value = (
        o.append(
            o.contract(PROJECT, start, matrix), o.contract(PROJECT, features, matrix)
        )
        for matrix in (net.key, net.value)
    )
    seen = points.visibility(o, Softmax(), (Sight.CAUSAL,))
    # All positions see the first one, and the start likewise.
    seen = o.join([seen[:, :1], seen])
    weights = o.softmax(o.contract(SCORES, query, key), seen)
    return o.contract(WRITE, o.combine(weights, value, seen), net.output)


KIND = declare(
    Kind(
        Declared,
        title="attention layer of several heads",
        width_of=lambda layer: layer.inputs + layer.codes,
        runtime="krohn.architectures.multihead_attention.engine:MultiheadAttention",
        layers_of=lambda layer: [{"heads": layer.heads, "mlp": []}],
        answers="reals",
    )
)
