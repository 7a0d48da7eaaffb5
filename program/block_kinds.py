"""The kinds of blocks that somebody is about, listed one by one; others are refused."""

from dataclasses import dataclass

from krohn.program.architectures.transformer import Transformer
from krohn.program.attention import Attention, Linear, Rectified, Sight, Softmax, Sparse
from krohn.program.errors import demand


@dataclass(frozen=True)
class BlockKinds:
    """What blocks may have for somebody who reads them.

    What is added to the format is in none of these lists until somebody writes it there.

    Attributes:
        who: Who reads them, as a message begins.
        attention: How heads may weigh positions.
        sights: What heads may see.
        units: The functions that hidden units may have.
        instead: What to do, as a message ends.
    """

    who: str
    attention: tuple[type[Attention], ...] = (Softmax,)
    sights: tuple[Sight, ...] = (Sight.CAUSAL,)
    units: tuple[str, ...] = ("relu",)
    instead: str = ""

    def check(self, shape: object) -> None:
        """Refuse an architecture with other blocks; one without blocks has none.

        Raises:
            Refused: Which names what it is that nobody has said anything about.
        """
        if not isinstance(shape, Transformer):
            return
        for block in (
            *shape.blocks,
            *(shape.disguise.blocks if shape.disguise else ()),
        ):
            named = {str(unit) for layer in block.activations for unit in layer}
            known = type(block.attention) in self.attention
            self._demand(known, block.attention.kind)
            for sight in block.sights:
                self._demand(sight in self.sights, f"{sight} heads")
            for unit in sorted(named):
                self._demand(unit in self.units, f"{unit} units")

    def _demand(self, known: bool, name: str) -> None:
        demand(known, f"{self.who} is not about {name!r}{self.instead}")


def whatever_blocks_do(who: str) -> BlockKinds:
    """The kinds for somebody who says the same of every block, as the format is now."""
    return BlockKinds(
        who,
        (Softmax, Linear, Sparse, Rectified),
        (Sight.CAUSAL, Sight.WHOLE),
        ("relu", "sine", "gelu", "gelu_new"),
    )
