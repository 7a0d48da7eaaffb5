"""Linear RNNs on real inputs as a torch module."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from krohn.architectures.linear_recurrence.meaning import (
    LinearRecurrence as LinearNet,
    after as after_input,
)
from krohn.network.architecture import kind_of
from krohn.network.forward_pass import in_full
from krohn.network.meaning.tensors import FAST
from krohn.network.named_tensors import NamedTensors


class LinearRecurrence(NamedTensors):
    """A linear recurrence, dense or banded; no limit on the length."""

    length = None

    def __init__(
        self, architecture: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> None:
        super().__init__(tensors)
        self.shape = kind_of(architecture).sizes(architecture)
        _ = self.net  # or the tensors are those of another one

    @property
    def net(self) -> LinearNet[Tensor]:
        """The network as data, of the parameters as they are now."""
        return LinearNet.of(self.shape, self.tensors)

    @in_full
    def forward(self, inputs: Tensor) -> Tensor:
        """``(batch, time, outputs)`` for real inputs ``(batch, time, inputs)``."""
        net, outputs = self.net, []
        start = inputs.new_zeros(net.input.shape[1]) if net.start is None else net.start
        hidden = start.expand(len(inputs), -1)
        for x in inputs.unbind(1):
            output, hidden = after_input(FAST, net, x, hidden)
            outputs.append(output)
        return torch.stack(outputs, dim=1)
