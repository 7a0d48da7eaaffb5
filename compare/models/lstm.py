"""The LSTM as a network that answers after every letter."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from krohn.compare.models.architecture import Lstm, Specification
from krohn.compare.models.network import Inside, Network
from krohn.compare.models.recording import recording


@contextmanager
def portable() -> Iterator[None]:
    """Run LSTMs by torch's own code, whose results do not depend on the processor.

    oneDNN has no LSTM in bfloat16 for some processors, and rounds otherwise in inference.
    """
    backend: Any = torch.backends.mkldnn
    before, backend.enabled = backend.enabled, False
    try:
        yield
    finally:
        backend.enabled = before


class LstmNetwork(Network):
    """An embedding, LSTMs one above the other, and a read-out; words of any length.

    Attributes:
        embedding: Of the letters.
        recurrent: The LSTMs.
        given: What each of them gives passes through one of these, with dropout above
            all but the last.
        head: The read-out.
    """

    def __init__(self, specification: Specification, architecture: Lstm) -> None:
        super().__init__(specification)
        self.embedding = nn.Embedding(specification.letters, architecture.embedding)
        layers, hidden = architecture.layers, architecture.hidden
        widths = [architecture.embedding, *[hidden] * (layers - 1)]
        self.recurrent = nn.ModuleList(
            nn.LSTM(width, hidden, batch_first=True) for width in widths
        )
        drops = [*[architecture.dropout] * (layers - 1), 0.0]
        self.given = nn.ModuleList(nn.Dropout(drop) for drop in drops)
        self.head = nn.Linear(hidden, specification.classes)

    def forward(self, letters: Tensor, shift: int = 0) -> Tensor:
        """Logits ``(count, length, classes)``; there are no positions to shift."""
        return self.further(letters)[0]

    def further(
        self, letters: Tensor, memory: Any = None, shift: int = 0
    ) -> tuple[Tensor, Any]:
        """Logits for letters that follow others; memory holds the states of the LSTMs."""
        x: Tensor = self.embedding(letters)
        before = memory or [None] * len(self.recurrent)
        after = []
        for recurrent, given, state in zip(
            self.recurrent, self.given, before, strict=True
        ):
            with portable():
                x, state = recurrent(x, state)
            x = given(x)
            after.append(state)
        logits: Tensor = self.head(x)
        return logits, after

    def inside(self, letters: Tensor, shift: int = 0) -> Inside:
        """Logits, the embedding, and what each layer gives; no attention."""
        with recording(self.layers()) as hidden:
            logits = self(letters, shift)
        return Inside(logits, tuple(hidden), ())

    def layers(self) -> tuple[nn.Module, ...]:
        """The embedding, and what gives the hidden states of each layer.

        What is changed there reaches the layers above, not the memory of the layer.
        """
        return (self.embedding, *self.given)
