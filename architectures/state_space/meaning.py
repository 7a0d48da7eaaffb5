"""State space models: layers of diagonal recurrences, each read by a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic

from krohn.architectures.state_space.statement import (
    Layer as DeclaredLayer,
    StateSpace as Declared,
)
from krohn.network.architecture import Kind, declare
from krohn.network.meaning.engine import Engine
from krohn.network.meaning.forward import feed
from krohn.network.meaning.net import A, Affine, affines, every_tensor, relus
from krohn.network.meaning.step import Step


@dataclass(frozen=True)
class Layer(Generic[A]):
    """h_t = a ⊙ h_{t−1} + b(x_t); what it says is a table of x_t and of h_{t−1}.

    Attributes:
        selective: Whether each letter has its own decays.
        initial: ``(coordinates,)``: h_0.
        decay: a ``(coordinates,)``, or that of each letter ``(symbols, coordinates)``.
        input: ``(symbols, coordinates)``: b of each letter.
        decode: What the table reads of h.
        table: What makes ``(…, symbols)`` of the letter and of that.
    """

    selective: bool
    initial: A
    decay: A
    input: A
    decode: tuple[Affine[A], ...]
    table: tuple[Affine[A], ...]


@dataclass(frozen=True)
class StateSpace(Generic[A]):
    """Layers of diagonal recurrences; the last one says the logits.

    Attributes:
        letters: How many letters it reads.
        layers: In order: a layer reads what the one before says.
    """

    letters: int
    layers: tuple[Layer[A], ...]

    @classmethod
    def of(cls, shape: Declared, tensors: Mapping[str, A]) -> "StateSpace[A]":
        """The network of an architecture and its tensors.

        Raises:
            ModelFileError: If a tensor is not there, or there is another one.
        """

        def make_model(left: dict[str, A]) -> "StateSpace[A]":
            each = enumerate(shape.layers)
            layers = (_layer(f"layers.{i}", layer, shape, left) for i, layer in each)
            return cls(shape.vocabulary, tuple(layers))

        return every_tensor(make_model, tensors)


def _layer(
    at: str, layer: DeclaredLayer, shape: Declared, left: dict[str, A]
) -> Layer[A]:
    initial, decay, given = (left.pop(f"{at}.{n}") for n in ("start", "decay", "input"))
    decode = affines(f"{at}.decode", relus(layer.decode), left)
    table = affines(f"{at}.table", [*relus([layer.hidden]), ()], left)
    return Layer(shape.selective, initial, decay, given, decode, table)


# The recurrence, and its reading: what is remembered are h of all layers.


def after(
    o: Engine, net: StateSpace[Any], letters: Any, held: Sequence[Any]
) -> tuple[Any, tuple[Any, ...]]:
    """Logits ``(batch, classes)`` of letters ``(batch,)``, and all h after them."""
    x, now = symbols(o, net, letters), []
    for layer, h in zip(net.layers, held, strict=True):
        a, b = recurrence(layer, x)
        x = say_symbols(o, layer, x, h)
        now.append(a * h + b)
    return x, tuple(now)


def many(
    o: Engine, net: StateSpace[Any], letters: Any, held: Sequence[Any]
) -> tuple[Any, tuple[Any, ...]]:
    """The same of letters ``(batch, n)``: a layer reads all before the next one does."""
    x, now = symbols(o, net, letters), []
    for layer, h in zip(net.layers, held, strict=True):
        a, b = recurrence(layer, x)
        before = []
        for t in range(b.shape[1]):
            before.append(h)
            h = (a[:, t] if layer.selective else a) * h + b[:, t]
        x = say_symbols(o, layer, x, o.stack(before))
        now.append(h)
    return x, tuple(now)


def symbols(o: Engine, net: StateSpace[Any], letters: Any) -> Any:
    """Unit vectors of letters, ``(…, letters)``."""
    return o.one_hot(letters, net.letters, net.layers[0].input)


def recurrence(layer: Layer[Any], x: Any) -> tuple[Any, Any]:
    """Decays and addends ``(…, coordinates)`` for symbols ``(…, symbols)``."""
    b = x @ layer.input
    return (x @ layer.decay if layer.selective else layer.decay), b


def say_symbols(o: Engine, layer: Layer[Any], x: Any, before: Any) -> Any:
    """``(…, symbols)``: what a layer says to the next one."""
    return feed(o, layer.table, o.join([x, feed(o, layer.decode, before)]))


def _step(shape: Declared) -> Step:
    """The step of a network; its last layer says the logits as they are."""
    starts = tuple(f"layers.{i}.start" for i in range(len(shape.layers)))
    made = partial(StateSpace.of, shape)
    return Step(starts, after, lambda o, net, logits: logits, made, many)


KIND = declare(
    Kind(
        Declared,
        title="state space model",
        width_of=lambda ssm: max(layer.coordinates for layer in ssm.layers),
        runtime="krohn.architectures.state_space.engine:StateSpace",
        layers_of=lambda ssm: [
            {"heads": 0, "mlp": [*layer.decode, layer.hidden]} for layer in ssm.layers
        ],
        step_of=_step,
        recurrent=True,
        bounded=True,
    )
)
