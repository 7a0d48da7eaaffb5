"""Linear recurrent networks that a model file describes, as torch modules."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from krohn.network.full_precision import in_full
from krohn.program.architectures.linear_recurrence import BANDS


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
        self.banded = architecture["form"] == "banded"
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
