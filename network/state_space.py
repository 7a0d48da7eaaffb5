"""Diagonal state space models that a model file describes, as a torch module."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from krohn.network.cache import Cache
from krohn.network.full_precision import in_full
from krohn.network.stepping import Parts, Stepping


class Affine(nn.Module):
    """x ↦ x · weight + bias, in two operations."""

    def __init__(self, tensors: Mapping[str, Tensor], name: str) -> None:
        super().__init__()
        self.weight = nn.Parameter(tensors[f"{name}.weight"])
        self.bias = nn.Parameter(tensors[f"{name}.bias"])

    def forward(self, x: Tensor) -> Tensor:
        """``(…, rows)`` to ``(…, columns)``."""
        return x @ self.weight + self.bias


class Layer(nn.Module):
    """h_t = a ⊙ h_{t−1} + b(x_t); what it says is a table of x_t and of h_{t−1}.

    The decays a are those of all letters, or each letter's own.
    """

    def __init__(
        self, shape: Mapping[str, Any], tensors: Mapping[str, Tensor], name: str
    ) -> None:
        super().__init__()
        self.initial = nn.Parameter(tensors[f"{name}.start"])
        self.decay = nn.Parameter(tensors[f"{name}.decay"])
        self.input = nn.Parameter(tensors[f"{name}.input"])
        decode = range(len(shape["decode"]))
        self.decode = nn.ModuleList(
            Affine(tensors, f"{name}.decode.{j}") for j in decode
        )
        self.table = nn.ModuleList(
            Affine(tensors, f"{name}.table.{j}") for j in range(2)
        )

    def recurrence(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Decays and addends ``(…, coordinates)`` for symbols ``(…, symbols)``."""
        b = x @ self.input
        return (x @ self.decay if self.decay.dim() > 1 else self.decay.expand_as(b)), b

    def said(self, x: Tensor, before: Tensor) -> Tensor:
        """``(…, symbols)``: what it says to the next layer."""
        for affine in self.decode:
            before = torch.relu(affine(before))
        inner, outer = self.table
        said: Tensor = outer(torch.relu(inner(torch.cat([x, before], dim=-1))))
        return said

    def scanned(self, x: Tensor) -> Tensor:
        """All h_{t−1} ``(batch, time, coordinates)``, in ⌈log₂ T⌉ steps.

        Maps h ↦ A h + B are composed by doubling; that rounds otherwise than `recurrence`
        letter by letter (Theorem D6).
        """
        a, b = (part.clone() for part in self.recurrence(x))
        by = 1
        while by < x.shape[1]:
            later = a[:, by:] * b[:, :-by] + b[:, by:]
            a = torch.cat([a[:, :by], a[:, by:] * a[:, :-by]], dim=1)
            b = torch.cat([b[:, :by], later], dim=1)
            by *= 2
        h = a * self.initial + b
        return torch.cat([self.initial.expand_as(h[:, :1]), h[:, :-1]], dim=1)


class StateSpace(Stepping):
    """Layers of diagonal recurrences; the last one says the logits. No longest word."""

    def __init__(
        self, architecture: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> None:
        super().__init__()
        self.letters: int = architecture["vocabulary"]
        shapes = architecture["layers"]
        self.layers = nn.ModuleList(
            Layer(shape, tensors, f"layers.{i}") for i, shape in enumerate(shapes)
        )
        self.sizes: list[int] = [shape["coordinates"] for shape in shapes]
        self.widest: int = max(
            max(shape["symbols"], shape["hidden"], *shape["decode"]) for shape in shapes
        )
        self.requires_grad_(False)

    def start(self, batch: int = 1) -> Cache:
        """What `step` needs: all h ``(batch, coordinates)`` before a word."""
        return Cache(0, tuple(x.initial.expand(batch, -1) for x in self._each))

    @property
    def _each(self) -> list[Layer]:
        return [layer for layer in self.layers if isinstance(layer, Layer)]

    def heard(self, tokens: Tensor, parts: Parts) -> tuple[Tensor, Parts]:
        """Logits ``(batch, classes)`` of a letter ``(batch,)``, and all h after it."""
        x, after = self._symbols(tokens), []
        for layer, h in zip(self._each, parts, strict=True):
            a, b = layer.recurrence(x)
            x = layer.said(x, h)
            after.append(a * h + b)
        return x, tuple(after)

    def _symbols(self, tokens: Tensor) -> Tensor:
        dtype = self._each[0].input.dtype
        return nn.functional.one_hot(tokens, self.letters).to(dtype)

    def scratch(self, seen: int) -> int:
        """How many numbers a pass of `branch` holds for one node, however many it saw."""
        del seen
        return 6 * self.widest + 4 * sum(self.sizes) + self.letters

    @in_full
    def forward(self, tokens: Tensor) -> Tensor:
        """Logits ``(batch, time, classes)`` for letter indices ``(batch, time)``.

        Letter by letter within a layer, and layer after layer: this is what is claimed.
        """
        x = self._symbols(tokens)
        for layer in self._each:
            a, b = layer.recurrence(x)
            h, before = layer.initial.expand(len(tokens), -1), list[Tensor]()
            for t in range(tokens.shape[1]):
                before.append(h)
                h = a[:, t] * h + b[:, t]
            x = layer.said(x, torch.stack(before, dim=1))
        return x

    @in_full
    def parallel(self, tokens: Tensor) -> Tensor:
        """The same by scans of depth ⌈log₂ T⌉; nothing is claimed of it.

        Sums of whole numbers are the same; what is held by rounding is not.
        """
        x = self._symbols(tokens)
        for layer in self._each:
            x = layer.said(x, layer.scanned(x))
        return x
