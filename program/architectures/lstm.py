"""LSTMs, as torch has them."""

from dataclasses import dataclass
from typing import ClassVar

from krohn.program.architecture import Architecture, Shapes, Size


@dataclass(frozen=True)
class Gated(Architecture):
    """One layer of torch's, by its names and in its layout, and logits h_t R + c.

    Attributes:
        gates: A letter for each of them, which stand one below the other.
        starts: What is remembered before a word.
    """

    check = "gated_recurrent"
    gates: ClassVar[str]
    starts: ClassVar[tuple[str, ...]]
    hidden: Size
    vocabulary: Size
    outputs: Size

    @property
    def shapes(self) -> Shapes:
        """Weights of torch have outputs as rows."""
        n, rows = self.hidden, len(self.gates) * self.hidden
        shapes: Shapes = dict.fromkeys(self.starts, (n,))
        shapes |= {"recurrent.weight_ih_l0": (rows, self.vocabulary)}
        shapes |= {"recurrent.weight_hh_l0": (rows, n)}
        shapes |= {f"recurrent.bias_{part}_l0": (rows,) for part in ("ih", "hh")}
        outputs = self.outputs
        return shapes | {"unembed.weight": (n, outputs), "unembed.bias": (outputs,)}


class Lstm(Gated):
    """h and a cell."""

    kind, gates, starts = "lstm", "ifgo", ("start.hidden", "start.cell")
