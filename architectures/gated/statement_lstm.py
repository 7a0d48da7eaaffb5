"""LSTMs, as torch has them."""

from dataclasses import dataclass
from typing import ClassVar

from krohn.program.architecture import Architecture, Shapes
from krohn.program.stated import Size


@dataclass(frozen=True)
class Gated(Architecture):
    """One layer of torch's, by its names and in its layout, and logits h_t R + c.

    Attributes:
        gates: A letter for each of them, which stand one below the other.
        starts: What is remembered before a word.
        embedding: How many numbers stand for a letter; None if it is a unit vector.
    """

    check = "gated_recurrent"
    gates: ClassVar[str]
    starts: ClassVar[tuple[str, ...]]
    hidden: Size
    vocabulary: Size
    outputs: Size
    embedding: Size | None = None

    @property
    def version(self) -> int:
        """Embeddings are new."""
        return 1 if self.embedding is None else 5

    @property
    def shapes(self) -> Shapes:
        """Weights of torch have outputs as rows."""
        n, rows = self.hidden, len(self.gates) * self.hidden
        shapes: Shapes = dict.fromkeys(self.starts, (n,))
        if self.embedding is not None:
            shapes["embed.token"] = (self.vocabulary, self.embedding)
        width = self.embedding or self.vocabulary
        shapes |= {"recurrent.weight_ih_l0": (rows, width)}
        shapes |= {"recurrent.weight_hh_l0": (rows, n)}
        shapes |= {f"recurrent.bias_{part}_l0": (rows,) for part in ("ih", "hh")}
        outputs = self.outputs
        return shapes | {"unembed.weight": (n, outputs), "unembed.bias": (outputs,)}


class Lstm(Gated):
    """h and a cell."""

    kind, gates, starts = "lstm", "ifgo", ("start.hidden", "start.cell")
