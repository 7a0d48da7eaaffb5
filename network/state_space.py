"""Diagonal state space models and linear recurrent networks, as torch modules."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from krohn.network.cache import Cache
from krohn.network.forward_pass import in_full
from krohn.network.recurrent import Parts, Stepping
from krohn.program.architectures.linear_recurrence import (
    BANDS,
    LinearRecurrence as DeclaredRecurrence,
)

# Diagonal state space models that a model file describes, as a torch module.


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
        """All hidden states ``(batch, coordinates)`` before a word, which `step` needs."""
        return Cache(0, tuple(x.initial.expand(batch, -1) for x in self._each))

    @property
    def _each(self) -> list[Layer]:
        return [layer for layer in self.layers if isinstance(layer, Layer)]

    def advance(self, tokens: Tensor, parts: Parts) -> tuple[Tensor, Parts]:
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
        """The logits by scans of depth ⌈log₂ T⌉; nothing is claimed of them.

        Sums of whole numbers are the same; what is held by rounding is not.
        """
        x = self._symbols(tokens)
        for layer in self._each:
            x = layer.said(x, layer.scanned(x))
        return x


# Linear recurrent networks that a model file describes, as torch modules.


class LinearRecurrence(nn.Module):
    """h_t = W h_{t−1} + U x_t, y_t = C h_t + D x_t, from h_0 = 0; no limit on the length.

    W is dense, or banded: each unit reads itself and its two neighbours, where the first
    and the last unit are neighbours. So modes are diagonal, pairs of complex modes blocks
    of two units, and registers pass what they hold to the next unit.
    """

    length = None

    def __init__(
        self, architecture: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> None:
        super().__init__()
        self.input = nn.Parameter(tensors["input.weight"])
        self.output = nn.Parameter(tensors["unembed.weight"])
        self.skip = nn.Parameter(tensors["skip.weight"])
        self.banded = DeclaredRecurrence.of(architecture).form == "banded"
        names = BANDS if self.banded else ("hidden.weight",)
        self.matrix = nn.ParameterList(tensors[name] for name in names)
        self.requires_grad_(False)

    def moved(self, hidden: Tensor) -> Tensor:
        """``(batch, n)``: W h."""
        if not self.banded:
            dense: Tensor = hidden @ self.matrix[0]
            return dense
        own, before, after = self.matrix
        near = before * hidden.roll(1, -1) + after * hidden.roll(-1, -1)
        banded: Tensor = own * hidden + near
        return banded

    @in_full
    def forward(self, inputs: Tensor) -> Tensor:
        """``(batch, time, outputs)`` for real inputs ``(batch, time, inputs)``."""
        hidden = inputs.new_zeros((len(inputs), self.input.shape[1]))
        outputs = []
        for x in inputs.unbind(1):
            hidden = self.moved(hidden) + x @ self.input
            outputs.append(hidden @ self.output + x @ self.skip)
        return torch.stack(outputs, dim=1)
