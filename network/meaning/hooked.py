"""The engine of torch with functions at the places of a pass, which see each once."""

from torch import Tensor

from krohn.network.forward_pass import Hooks
from krohn.network.meaning.attention import View, pattern
from krohn.network.meaning.net import Heads
from krohn.network.meaning.tensors import Tensors


class Hooked(Tensors):
    """With care, since functions may put any number anywhere.

    Args:
        hooks: The functions, by the places of `krohn.network.meaning.forward.places`.
    """

    def __init__(self, hooks: Hooks) -> None:
        super().__init__(careful=True)
        self.hooks = hooks

    def at(self, place: str, value: Tensor) -> Tensor:
        """What the functions at a place make of a value."""
        return self.hooks(place, value)

    def attend(
        self,
        heads: Heads[Tensor],
        query: Tensor,
        key: Tensor,
        value: Tensor,
        view: View,
    ) -> Tensor:
        """By a pattern that a function returned; else as without functions."""
        place = view.places.pattern
        if self.hooks.asks(place):
            weights = pattern(self, heads, query, key, view)
            changed = self.hooks(place, weights)
            if changed is not weights:
                return self.combine(changed, value, view.visibility | (changed != 0))
        return super().attend(heads, query, key, value, view)
