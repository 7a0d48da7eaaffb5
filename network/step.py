"""The step of a recurrent network, in operations that every place it runs at has."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class Functions(Protocol):
    """The functions of numbers, and how a row is cut."""

    def relu(self, x: Any, /) -> Any:
        """max(x, 0)."""

    def sigmoid(self, x: Any, /) -> Any:
        """1 / (1 + e^−x)."""

    def tanh(self, x: Any, /) -> Any:
        """Tanh x."""

    def split(self, x: Any, parts: int, /) -> tuple[Any, ...]:
        """Equal parts of each row."""


@dataclass(frozen=True)
class Step:
    """What a network remembers of the letters so far, and how a letter changes that.

    Attributes:
        starts: The tensors that are remembered before a word.
        after: What is remembered after a letter, of the tensors by name, the letter, all
            that was remembered, and `Functions`. Tensors have ``+``, ``-``, ``*``, ``@``
            and ``T``, and ``tensor[letter]`` is the row of a letter. The first of what is
            remembered is h: logits are h · ``unembed.weight`` + ``unembed.bias``.
    """

    starts: tuple[str, ...]
    after: Callable[
        [Mapping[str, Any], Any, tuple[Any, ...], Functions], tuple[Any, ...]
    ]
