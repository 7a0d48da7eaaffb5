"""One attention layer over real inputs, as a torch module.

What it computes `krohn.architectures.attention_layer.meaning` says.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from krohn.architectures.attention_layer import meaning as meaning
from krohn.architectures.attention_layer.statement import AttentionLayer as Declared
from krohn.network import ModelFileError
from krohn.network.forward_pass import in_full
from krohn.network.meaning.tensors import CAREFUL, FAST, Tensors, points, with_care
from krohn.network.named_tensors import NamedTensors


class AttentionLayer(NamedTensors):
    """One head over real inputs, or over the slots of a memory.

    Attributes:
        shape: Its sizes.
        length: The longest input.
        remembers: Whether it looks at the slots of a memory.
    """

    def __init__(
        self, architecture: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> None:
        super().__init__(tensors)
        self.shape = Declared.of(architecture)
        self.length, self.remembers = self.shape.length, self.shape.memory > 0
        _ = self.net  # or the tensors are those of another one

    @property
    def net(self) -> meaning.AttentionLayer[Tensor]:
        """The network as data, of the parameters as they are now."""
        return meaning.AttentionLayer.of(self.shape, self.tensors)

    def encode_inputs(self, x: Tensor) -> Tensor:
        """``(batch, time, n)``: f̂ of the inputs and of their positions."""
        return torch.as_tensor(meaning.encode_inputs(FAST, self.net, x, points(x)))

    def weights(self, features: Tensor) -> Tensor:
        """``(batch, time, time)``, or ``(batch, time, slots)``: what is looked at."""
        weights, _ = meaning.weigh_positions(
            CAREFUL, self.net, features, points(features)
        )
        return torch.as_tensor(weights)

    @in_full
    def forward(self, x: Tensor) -> Tensor:
        """Outputs ``(batch, time, outputs)`` of inputs ``(batch, time, d)``.

        Raises:
            ModelFileError: If the inputs have another shape, or are too long.
        """
        inputs = self.shape.inputs
        if x.ndim != 3 or x.shape[2] != inputs or not 0 < x.shape[1]:
            raise ModelFileError(
                f"takes (batch, time, {inputs}) numbers, not {tuple(x.shape)}"
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
