"""The step of a recurrent network, in operations that every place it runs at has."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from krohn.network.meaning.engine import Engine
from krohn.network.meaning.net import Affine

ByName = Mapping[str, Any]
"""The tensors of a network by their names on file; those of an engine have ``T`` here."""


Read = Callable[[Engine, Any, Any, tuple[Any, ...]], tuple[Any, tuple[Any, ...]]]
"""What says the logits after letters, and what is remembered then."""


def unembed(o: Engine, tensors: ByName, h: Any) -> Any:
    """Logits h · ``unembed.weight`` + ``unembed.bias``."""
    return o.affine(h, Affine(tensors["unembed.weight"], tensors["unembed.bias"]))


@dataclass(frozen=True)
class Step:
    """The memory of a recurrent network, and how a letter changes it.

    Attributes:
        starts: The tensors that are remembered before a word.
        after: What says the logits after a letter, and what is remembered then: of an
            engine, the network, the letter, and all that was remembered.
        said: The logits, of an engine, the network, and what says them.
        net: Makes the network, as these read it, of its tensors.
        many: As `after`, of letters ``(batch, n)`` in one pass; None if nothing is faster
            than one after the other.
    """

    starts: tuple[str, ...]
    after: Read
    said: Callable[[Engine, Any, Any], Any] = unembed
    net: Callable[[ByName], Any] = dict
    many: Read | None = None
