"""What a network computed on the way, by named places and by names of variables."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torch import Tensor

from krohn.algebra.errors import KrohnError
from krohn.algebra.near_names import near
from krohn.algebra.wording import count
from krohn.network.places import VariablePlace


@dataclass(frozen=True, repr=False)
class Activations(Mapping[str, Tensor]):
    """Tensors by name: places as `Model.hook_places` lists them, and variables.

    Position 0 is the start symbol, BOS. ``activations["blocks.0.attention.pattern"]`` is
    ``(batch, heads, time + 1, time + 1)``: how much each position takes of each;
    ``activations["stream.3"]`` is ``(batch, time + 1, d)``: the residual stream after the
    third sublayer; a variable, where it is first stored, is ``(batch, time + 1)``.

    Attributes:
        seen: What stood at each place.
        variables: Where each variable lies.
        lengths: ``(batch,)``: how many letters each word has; what stands after them
            means nothing.
    """

    seen: Mapping[str, Tensor]
    variables: Mapping[str, VariablePlace]
    lengths: Tensor

    def __getitem__(self, name: str) -> Tensor:
        """What stood at a place, or the values of a variable.

        Raises:
            KrohnError: If there is neither of that name.
        """
        if name in self.seen:
            return self.seen[name]
        if name not in self.variables:
            raise KrohnError(
                f"there is no place or variable {name!r}{near(name, self)}"
            )
        place = self.variables[name]
        return place.read(self.seen[f"stream.{place.snapshots[0]}"])

    def __contains__(self, name: object) -> bool:
        return name in self.seen or name in self.variables

    def __iter__(self) -> Iterator[str]:
        yield from self.seen
        yield from (name for name in self.variables if name not in self.seen)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        words = count(len(self.lengths), "word")
        return (
            f"<Activations of {words}: {count(len(self.seen), 'place')}, "
            f"{count(len(self.variables), 'variable')}>"
        )
