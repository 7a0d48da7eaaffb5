"""The interface of every network that is trained or probed."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from krohn.algebra.errors import KrohnError
from krohn.compare.models.architecture import Specification


@dataclass(frozen=True)
class Inside:
    """The inside of a network during one pass.

    Attributes:
        logits: ``(count, length, classes)``.
        hidden: After the embedding and after each layer, ``(count, length, width)`` each;
            for position t the state at the place that read letter t.
        attention: For each layer ``(count, heads, length, length)``, rows are queries;
            empty for networks without. A compiled network has one column more, the
            first one: the weight on BOS.
    """

    logits: Tensor
    hidden: tuple[Tensor, ...]
    attention: tuple[Tensor, ...]


class Network(nn.Module):
    """Letter indices ``(count, length)`` in, logits ``(count, length, classes)`` out.

    Attributes:
        specification: All that it is but its weights.
        longest: The longest word, with its shift, that it can read; None if there is no
            limit.
    """

    longest: int | None = None

    def __init__(self, specification: Specification) -> None:
        super().__init__()
        self.specification = specification

    @abstractmethod
    def forward(self, letters: Tensor, shift: int = 0) -> Tensor:
        """Logits for words; positions, if it has any, count from `shift`."""

    def further(
        self, letters: Tensor, memory: Any = None, shift: int = 0
    ) -> tuple[Tensor, Any]:
        """Logits for letters that follow others, without reading those again.

        Args:
            letters: Letter indices ``(count, length)``.
            memory: Of the letters before, as this gave it; None where words begin. It
                serves once, as it may grow in place.
            shift: Where positions of the whole words begin.

        Returns:
            Logits ``(count, length, classes)``, and the memory of all letters so far.

        Raises:
            KrohnError: If this network reads whole words only.
        """
        raise KrohnError("this network reads whole words only")

    @abstractmethod
    def inside(self, letters: Tensor, shift: int = 0) -> Inside:
        """Logits for words, with the hidden states and the attention before them."""

    @abstractmethod
    def layers(self) -> tuple[nn.Module, ...]:
        """The module whose output is ``hidden[i]``, for each i (to intervene there).

        They run in this order. A forward hook that gives another tensor changes the
        later ones, and `inside` then shows that tensor.
        """
