"""Diagonal state space models and linear recurrent networks, as torch modules.

They hold the parameters; what a letter does `krohn.network.architectures` says.
"""

from collections.abc import Mapping
from typing import Any, cast

import torch
from torch import Tensor, nn

from krohn.architectures.state_space.meaning import (
    Layer as LayerNet,
    StateSpace as Net,
    after,
    many,
    recurrence,
    say_symbols,
    symbols,
)
from krohn.architectures.state_space.statement import StateSpace as Declared
from krohn.network.cache import Cache
from krohn.network.forward_pass import in_full
from krohn.network.meaning.net import Affine as AffineNet
from krohn.network.meaning.tensors import FAST
from krohn.network.recurrent import Parts, Stepping

# Diagonal state space models that a model file describes, as a torch module.


class Affine(nn.Module):
    """x ↦ x · weight + bias, and the functions of its units."""

    def __init__(self, layer: AffineNet[Tensor]) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(layer.weight), nn.Parameter(layer.bias)
        self.runs = layer.runs

    @property
    def data(self) -> AffineNet[Tensor]:
        """The parameters as they are now."""
        return AffineNet(self.weight, self.bias, self.runs)


class Layer(nn.Module):
    """A diagonal recurrence, and what reads it."""

    def __init__(self, layer: LayerNet[Tensor]) -> None:
        super().__init__()
        self.selective = layer.selective
        self.initial = nn.Parameter(layer.initial)
        self.decay = nn.Parameter(layer.decay)
        self.input = nn.Parameter(layer.input)
        self.decode = nn.ModuleList(map(Affine, layer.decode))
        self.table = nn.ModuleList(map(Affine, layer.table))

    @property
    def data(self) -> LayerNet[Tensor]:
        """The parameters as they are now."""
        parts = (self.selective, self.initial, self.decay, self.input)
        return LayerNet(*parts, _affines(self.decode), _affines(self.table))


def _affines(modules: nn.ModuleList) -> tuple[AffineNet[Tensor], ...]:
    return tuple(cast(Affine, module).data for module in modules)


class StateSpace(Stepping):
    """Layers of diagonal recurrences; the last one says the logits. No longest word."""

    def __init__(
        self, architecture: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> None:
        super().__init__()
        shape = Declared.of(architecture)
        self.letters = shape.vocabulary
        given = Net.of(shape, tensors)
        self.layers = nn.ModuleList(map(Layer, given.layers))
        self.sizes = [layer.coordinates for layer in shape.layers]
        self.widest = max(
            max(layer.symbols, layer.hidden, *layer.decode) for layer in shape.layers
        )
        self.requires_grad_(False)

    @property
    def net(self) -> Net[Tensor]:
        """The network as data, of the parameters as they are now."""
        layers = (cast(Layer, layer).data for layer in self.layers)
        return Net(self.letters, tuple(layers))

    def start(self, batch: int = 1) -> Cache:
        """All hidden states ``(batch, coordinates)`` before a word, which `step` needs."""
        return Cache(0, tuple(x.initial.expand(batch, -1) for x in self.net.layers))

    def advance(self, tokens: Tensor, parts: Parts) -> tuple[Tensor, Parts]:
        """Logits ``(batch, classes)`` of a letter ``(batch,)``, and all h after it."""
        return after(FAST, self.net, tokens, parts)

    def scratch(self, seen: int) -> int:
        """How many numbers a pass of `branch` holds for one node, however many it saw."""
        del seen
        return 6 * self.widest + 4 * sum(self.sizes) + self.letters

    @in_full
    def forward(self, tokens: Tensor) -> Tensor:
        """Logits ``(batch, time, classes)`` for letter indices ``(batch, time)``.

        Letter by letter within a layer, and layer after layer: this is what is claimed.
        """
        if not tokens.shape[1]:
            return self.nothing(tokens)
        return torch.as_tensor(
            many(FAST, self.net, tokens, self.start(len(tokens)).parts)[0]
        )

    @in_full
    def parallel(self, tokens: Tensor) -> Tensor:
        """The logits by scans of depth ⌈log₂ T⌉; nothing is claimed of them.

        Sums of whole numbers are the same; what is held by rounding is not.
        """
        net = self.net
        x: Tensor = symbols(FAST, net, tokens)
        for layer in net.layers:
            x = say_symbols(FAST, layer, x, _scan_states(layer, x))
        return x


def _scan_states(layer: LayerNet[Tensor], x: Tensor) -> Tensor:
    """All h_{t−1} ``(batch, time, coordinates)``, in ⌈log₂ T⌉ steps.

    Maps h ↦ A h + B are composed by doubling; that rounds otherwise than letter by letter
    (Theorem D6).
    """
    a, b = recurrence(layer, x)
    a, by = a.expand_as(b), 1
    while by < x.shape[1]:
        later = a[:, by:] * b[:, :-by] + b[:, by:]
        a = torch.cat([a[:, :by], a[:, by:] * a[:, :-by]], dim=1)
        b = torch.cat([b[:, :by], later], dim=1)
        by *= 2
    h = a * layer.initial + b
    return torch.cat([layer.initial.expand_as(h[:, :1]), h[:, :-1]], dim=1)


# Linear recurrent networks that a model file describes, as torch modules.
