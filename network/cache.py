"""What a network remembers of the letters it has read."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Cache:
    """The memory of a batch of words that are read letter by letter.

    Attributes:
        seen: How many positions have been read, BOS included where there is one.
        parts: Tensors whose first axis is the batch.
    """

    seen: int
    parts: tuple[Tensor, ...]
