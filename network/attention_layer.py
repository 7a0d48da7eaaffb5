"""One attention layer over real inputs, as a torch module.

What it computes `krohn.network.architectures.attention_layer` says.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from krohn.network import ModelFileError
from krohn.network.architectures import attention_layer as meaning
from krohn.network.forward_pass import in_full
from krohn.network.meaning.net import Affine
from krohn.network.meaning.tensors import CAREFUL, FAST, Tensors, points, with_care
from krohn.program.architectures.attention_layer import AttentionLayer as Declared

HELD = ("code", "query", "key", "value", "bias")
"""The tensors of the head; a layer need not have all."""


class ReluNetwork(nn.Module):
    """Affine layers with a ReLU between any two of them."""

    def __init__(self, layers: Sequence[Affine[Tensor]]) -> None:
        super().__init__()
        self.runs = [layer.runs for layer in layers]
        for name in ("weight", "bias"):
            found = [
                nn.Parameter(getattr(layer, name), requires_grad=False)
                for layer in layers
            ]
            setattr(self, name, nn.ParameterList(found))

    @property
    def data(self) -> tuple[Affine[Tensor], ...]:
        """The parameters as they are now."""
        each: Any = zip(self.weight, self.bias, self.runs, strict=True)  # type: ignore[arg-type]
        return tuple(Affine(*layer) for layer in each)


class AttentionLayer(nn.Module):
    """One head over real inputs, or over the slots of a memory.

    Attributes:
        length: The longest input.
        inputs: d.
        remembers: Whether it looks at the slots of a memory.
    """

    code: Tensor | None
    query: Tensor
    key: Tensor
    value: Tensor
    bias: Tensor | None

    def __init__(
        self, architecture: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> None:
        super().__init__()
        shape = Declared.of(architecture)
        self.length, self.inputs = shape.length, shape.inputs
        self.remembers = shape.memory > 0
        given = meaning.AttentionLayer.of(shape, tensors)
        self.sight = given.sight
        for name in HELD:
            tensor = getattr(given, name)
            kept = None if tensor is None else nn.Parameter(tensor, requires_grad=False)
            self.register_parameter(name, kept)
        self.features = ReluNetwork(given.features)
        self.output = ReluNetwork(given.output)

    @property
    def net(self) -> meaning.AttentionLayer[Tensor]:
        """The network as data, of the parameters as they are now."""
        code, query, key, value, bias = (getattr(self, name) for name in HELD)
        features, output = self.features.data, self.output.data
        return meaning.AttentionLayer(
            self.sight, code, query, key, value, bias, features, output
        )

    def encoded(self, x: Tensor) -> Tensor:
        """``(batch, time, n)``: f̂ of the inputs and of their positions."""
        return torch.as_tensor(meaning.encoded(FAST, self.net, x, points(x)))

    def weights(self, features: Tensor) -> Tensor:
        """``(batch, time, time)``, or ``(batch, time, slots)``: what is looked at."""
        weights, _ = meaning.looked(CAREFUL, self.net, features, points(features))
        return torch.as_tensor(weights)

    @in_full
    def forward(self, x: Tensor) -> Tensor:
        """Outputs ``(batch, time, outputs)`` of inputs ``(batch, time, d)``.

        Raises:
            ModelFileError: If the inputs have another shape, or are too long.
        """
        if x.ndim != 3 or x.shape[2] != self.inputs or not 0 < x.shape[1]:
            raise ModelFileError(
                f"takes (batch, time, {self.inputs}) numbers, not {tuple(x.shape)}"
            )
        if x.shape[1] > self.length:
            raise ModelFileError(
                f"takes up to {self.length} vectors, not {x.shape[1]}; compile it again "
                "for more"
            )
        net = self.net

        def outputs(o: Tensors) -> Tensor:
            return torch.as_tensor(meaning.through(o, net, x, points(x)))

        return with_care(outputs)
