"""One attention layer over real inputs, as a torch module."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from krohn.network import ModelFileError
from krohn.network.forward_pass import in_full
from krohn.program.architectures.attention_layer import AttentionLayer as Declared


class ReluNetwork(nn.Module):
    """Affine layers with a ReLU between any two of them."""

    def __init__(self, tensors: Mapping[str, Tensor], at: str, layers: int) -> None:
        super().__init__()
        parts = ("weight", "bias")
        for name in parts:
            found = [
                nn.Parameter(tensors[f"{at}.{j}.{name}"], requires_grad=False)
                for j in range(layers)
            ]
            setattr(self, name, nn.ParameterList(found))

    def forward(self, x: Tensor) -> Tensor:
        """``(…, inputs)`` to ``(…, outputs)``."""
        layers = zip(self.weight, self.bias, strict=True)  # type: ignore[arg-type]
        for j, (weight, bias) in enumerate(layers):
            x = (torch.relu(x) if j else x) @ weight + bias
        return x


class AttentionLayer(nn.Module):
    """ŷ_t = F̂(Σ_s softmax_s[(W_Q f̂(x_t))·(W_K f̂(x_s))] W_V f̂(x_s)), x_s ∈ R^d.

    f̂ and F̂ are ReLU networks; f̂ sees the code of the position beside the input. The sum
    is over all positions, or over s ≤ t; or over the slots of a memory instead, which are
    constant keys, values and biases of the logits (Jiang and Li, eq. 5).

    Attributes:
        length: The longest input.
        inputs: d.
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
        self.causal, self.remembers = shape.causal, shape.memory > 0
        held = "memory" if self.remembers else "attention"
        places = {
            "code": "code",
            "query": "attention.query",
            "key": f"{held}.key",
            "value": f"{held}.value",
            "bias": "memory.bias",
        }
        for name, at in places.items():
            tensor = tensors.get(at)
            kept = None if tensor is None else nn.Parameter(tensor, requires_grad=False)
            self.register_parameter(name, kept)
        self.features, self.output = (
            ReluNetwork(tensors, at, len(units) + 1)
            for at, units in (
                ("features", shape.features_units),
                ("output", shape.output_units),
            )
        )

    def encoded(self, x: Tensor) -> Tensor:
        """``(batch, time, n)``: f̂ of the inputs and of their positions."""
        if self.code is not None:
            code = self.code[: x.shape[1]].expand(len(x), -1, -1)
            x = torch.cat([x, code], dim=2)
        return self.features(x)  # type: ignore[no-any-return]

    def weights(self, features: Tensor) -> Tensor:
        """``(batch, time, time)``, or ``(batch, time, slots)``: what is looked at."""
        asked = features @ self.query
        if self.bias is not None:
            scores = asked @ self.key.T + self.bias
        else:
            scores = asked @ (features @ self.key).transpose(1, 2)
        if self.causal:
            later = torch.ones(scores.shape[1:], device=scores.device).triu(1).bool()
            scores = scores.masked_fill(later, -torch.inf)
        return torch.softmax(scores, dim=2)

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
        features = self.encoded(x)
        held = self.value if self.remembers else features @ self.value
        return self.output(self.weights(features) @ held)  # type: ignore[no-any-return]
