"""What every network that is trained or probed has in common."""

from abc import abstractmethod
from dataclasses import dataclass

from torch import Tensor, nn


@dataclass(frozen=True)
class Inside:
    """What a pass shows of the inside of a network.

    Attributes:
        logits: ``(count, length, classes)``.
        hidden: After the embedding and after each layer, ``(count, length, width)`` each;
            for position t what stands at the place that read letter t.
        attention: For each layer ``(count, heads, length, length)``, rows are queries;
            empty for networks without.
    """

    logits: Tensor
    hidden: tuple[Tensor, ...]
    attention: tuple[Tensor, ...]


class Network(nn.Module):
    """Letter indices ``(count, length)`` in, logits ``(count, length, classes)`` out."""

    @abstractmethod
    def forward(self, letters: Tensor, shift: int = 0) -> Tensor:
        """Logits for words; positions, if it has any, count from `shift`."""

    @abstractmethod
    def inside(self, letters: Tensor, shift: int = 0) -> Inside:
        """Logits for words, and what led to them."""

    @abstractmethod
    def layers(self) -> tuple[nn.Module, ...]:
        """The module whose output is ``hidden[i]``, for each i (to intervene there)."""
