"""Generators, which say laws of letters: attention, LayerNorm and an MLP.

layer(X) = g(LN_C(A X V) + X) with A = softmax(mask + X Q (X K)ᵀ) (thesis, section 3.6,
there with columns instead of rows). There is no residual connection around g.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic

from krohn.architectures.generator import statement as declared
from krohn.network.architecture import Kind, declare
from krohn.network.meaning.attention import SCORES, Points
from krohn.network.meaning.engine import Engine
from krohn.network.meaning.forward import feed
from krohn.network.meaning.net import A, Affine, affines, every_tensor, relus
from krohn.program.attention import Sight, Softmax


@dataclass(frozen=True)
class Layer(Generic[A]):
    """A head, its normalisation, and the affine maps of g with ReLUs.

    Attributes:
        query: ``(d, k)``.
        key: ``(d, k)``.
        value: ``(d, d)``.
        norm: ``(1,)``: C; None if nothing is normalised.
        maps: g.
    """

    query: A
    key: A
    value: A
    norm: A | None
    maps: tuple[Affine[A], ...]


@dataclass(frozen=True)
class Generator(Generic[A]):
    """A network that says how likely each letter is to come next.

    Attributes:
        letter: ``(letters, depths, d)``.
        start: ``(d,)``: what stands in front of the letters.
        layers: In order; the last one says the laws.
    """

    letter: A
    start: A
    layers: tuple[Layer[A], ...]

    @classmethod
    def of(cls, shape: declared.Generator, tensors: Mapping[str, A]) -> "Generator[A]":
        """The network of an architecture and its tensors.

        Raises:
            ModelFileError: If a tensor is not there, or there is another one.
        """

        def make_generator(left: dict[str, A]) -> "Generator[A]":
            each = enumerate(shape.layers)
            layers = tuple(_layer(f"layers.{i}", layer, left) for i, layer in each)
            return cls(left.pop("embed.letter"), left.pop("embed.start"), layers)

        return every_tensor(make_generator, tensors)


def _layer(at: str, layer: declared.Layer, left: dict[str, A]) -> Layer[A]:
    names = ("query", "key", "value")
    query, key, value = (left.pop(f"{at}.attention.{name}") for name in names)
    norm = left.pop(f"{at}.constant") if layer.norm == "layer" else None
    maps = affines(f"{at}.mlp", [*relus(layer.mlp), ()], left)
    return Layer(query, key, value, norm, maps)


def through(o: Engine, net: Generator[Any], x: Any, points: Points) -> tuple[Any, Any]:
    """What stands at points after all layers, and the pattern of each.

    Args:
        o: The engine.
        net: The network.
        x: ``(batch, n, d)``: the start and the letters, embedded.
        points: Where they are: the start is at position 0.

    Returns:
        Laws ``(batch, n, letters)``, and ``(batch, n, n)`` for each layer: how much a
        point takes of each.
    """
    patterns = []
    for layer in net.layers:
        seen = points.visibility(o, Softmax(), (Sight.CAUSAL,))
        scores = o.contract(SCORES, x @ layer.query, x @ layer.key)
        patterns.append(o.softmax(scores, seen))
        taken = o.combine(patterns[-1], x @ layer.value, seen)
        if layer.norm is not None:
            taken = o.layer_norm(taken, layer.norm)
        x = feed(o, layer.maps, o.add(taken, x))
    return x, patterns


KIND = declare(
    Kind(
        declared.Generator,
        title="generator",
        width_of=lambda generator: max(layer.d for layer in generator.layers),
        runtime="krohn.architectures.generator.engine:Generator",
        layers_of=lambda generator: [
            {"heads": 1, "mlp": list(layer.mlp)} for layer in generator.layers
        ],
        answers="laws",
    )
)
