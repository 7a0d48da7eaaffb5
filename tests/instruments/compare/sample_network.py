"""Networks of which all is known, to be looked into: an embedding, a block, an answer."""

from torch import Tensor, nn

from krohn.instruments.compare.models import (
    Inside,
    Network,
)
from krohn.instruments.compare.models.network import recording


class Layered(Network):
    """A network that answers from its embedding and its block."""

    embedding: nn.Module
    block: nn.Module

    def inside(self, letters: Tensor, shift: int = 0) -> Inside:
        with recording(self.layers()) as hidden:
            logits = self(letters)
        return Inside(logits, tuple(hidden), ())

    def layers(self) -> tuple[nn.Module, ...]:
        return self.embedding, self.block
