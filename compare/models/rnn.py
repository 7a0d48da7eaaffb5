"""The plain recurrent network, h_t = ReLU(W x_t + U h_{t−1} + b), with a read-out."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from krohn.compare.models.architecture import Rnn, Specification
from krohn.compare.models.network import Inside, Network
from krohn.compare.models.recording import recording


class RnnNetwork(Network):
    """One recurrent layer that reads letters as unit vectors; words of any length.

    Attributes:
        letters: Letters to unit vectors.
        recurrent: The layer.
        given: What it gives passes through here.
        head: The read-out.
    """

    def __init__(self, specification: Specification, architecture: Rnn) -> None:
        super().__init__(specification)
        units = architecture.hidden
        self.letters = UnitVectors(specification.letters)
        self.recurrent = nn.RNN(
            specification.letters, units, nonlinearity="relu", batch_first=True
        )
        self.given = nn.Identity()
        self.head = nn.Linear(units, specification.classes)

    def forward(self, letters: Tensor, shift: int = 0) -> Tensor:
        """Logits ``(count, length, classes)``; there are no positions to shift."""
        return self.further(letters)[0]

    def further(
        self, letters: Tensor, memory: Any = None, shift: int = 0
    ) -> tuple[Tensor, Any]:
        """Logits for letters that follow others; memory holds the hidden state."""
        x, state = self.recurrent(self.letters(letters), memory)
        logits: Tensor = self.head(self.given(x))
        return logits, state

    def inside(self, letters: Tensor, shift: int = 0) -> Inside:
        """Logits, the unit vectors, and the hidden states; no attention."""
        with recording(self.layers()) as hidden:
            logits = self(letters, shift)
        return Inside(logits, tuple(hidden), ())

    def layers(self) -> tuple[nn.Module, ...]:
        """What gives the unit vectors, and the hidden states."""
        return (self.letters, self.given)


class UnitVectors(nn.Module):
    """Letter indices to unit vectors."""

    def __init__(self, letters: int) -> None:
        super().__init__()
        self.count = letters

    def forward(self, letters: Tensor) -> Tensor:
        """``(…)`` to ``(…, letters)``."""
        return one_hot(letters, self.count).to(torch.get_default_dtype())
