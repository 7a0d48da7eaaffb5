"""Attention heads over real vectors, as a torch module."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from krohn.architectures.multihead_attention import meaning
from krohn.architectures.multihead_attention.statement import (
    MultiheadAttention as Declared,
)
from krohn.network import ModelFileError
from krohn.network.forward_pass import in_full
from krohn.network.meaning.tensors import Tensors, points, with_care
from krohn.network.named_tensors import NamedTensors


class MultiheadAttention(NamedTensors):
    """Several heads over real inputs; `meaning` says what they compute.

    Attributes:
        shape: Its sizes.
        length: The longest input.
    """

    def __init__(
        self, architecture: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> None:
        super().__init__(tensors)
        self.shape = Declared.of(architecture)
        self.length = self.shape.length
        _ = self.net  # or the tensors are those of another one

    @property
    def net(self) -> meaning.MultiheadAttention[Tensor]:
        """The network as data, of the parameters as they are now."""
        return meaning.MultiheadAttention.of(self.shape, self.tensors)

    @in_full
    def forward(self, x: Tensor) -> Tensor:
        """Outputs ``(batch, time, outputs)`` of inputs ``(batch, time, d)``.

        Raises:
            ModelFileError: If the inputs have another shape, or are too long.
        """
        inputs = self.shape.inputs
        if x.ndim != 3 or x.shape[2] != inputs or not 0 < x.shape[1] <= self.length:
            raise ModelFileError(
                f"takes (batch, time, {inputs}) numbers, up to {self.length} vectors, "
                f"not {tuple(x.shape)}; compile it again for more"
            )
        net = self.net

        def outputs(o: Tensors) -> Tensor:
            return torch.as_tensor(meaning.through(o, net, x, points(x)))

        return with_care(outputs)
