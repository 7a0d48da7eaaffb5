"""Functions that see, and may change, what a network computes on the way."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from torch import Tensor

from krohn.network.errors import ModelFileError

Hook = Callable[[Tensor], Tensor | None]
"""Takes what stands at a place, and returns another, or None to leave it."""


@dataclass(frozen=True)
class Hooks:
    """Functions at places by name, each called when its place is reached.

    Attributes:
        at: For each place its functions, in order.
    """

    at: Mapping[str, Iterable[Hook]] = field(default_factory=dict)

    def __call__(self, place: str, value: Tensor) -> Tensor:
        """What stands at a place from here on.

        Raises:
            ModelFileError: If a function returns what does not fit there.
        """
        for hook in self.at.get(place, ()):
            found = hook(value)
            if found is None:
                continue
            if not isinstance(found, Tensor) or found.shape != value.shape:
                shape = getattr(found, "shape", type(found).__name__)
                raise ModelFileError(
                    f"the hook at {place} returned {shape}; there stands a tensor "
                    f"{tuple(value.shape)}"
                )
            value = found.to(value)
        return value

    def asks(self, place: str) -> bool:
        """Whether there is a function at a place."""
        return place in self.at

    def check(self, known: Collection[str]) -> None:
        """Refuse places that there are not.

        Raises:
            ModelFileError: If there is one.
        """
        for place in self.at:
            if place not in known:
                raise ModelFileError(
                    f"there is no place {place!r}; `model.hook_places()` lists them"
                )
