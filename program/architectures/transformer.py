"""Transformers: blocks of heads and an MLP on a residual stream."""

from dataclasses import dataclass

from krohn.program.architecture import (
    Architecture,
    Count,
    Part,
    Shapes,
    Size,
    Sizes,
    affine,
)
from krohn.program.errors import demand


@dataclass(frozen=True)
class Block(Part):
    """Heads, and the hidden layers of an MLP."""

    heads: Count
    d_qk: Count
    d_v: Count
    mlp: Sizes

    def shapes(self, at: str, d: int) -> Shapes:
        """The shapes of its tensors, without a residual mask."""
        h, k, v = self.heads, self.d_qk, self.d_v
        demand(not h or (k and v), f"{at} has heads without a width")
        heads = {"query": (h, d, k), "key": (h, d, k), "value": (h, d, v)}
        heads["out"] = h, v, d
        shapes = affine(f"{at}.mlp", [d, *self.mlp, d]) if self.mlp else {}
        return {**shapes, **{f"{at}.attention.{n}": s for n, s in heads.items() if h}}


@dataclass(frozen=True)
class Transformer(Architecture):
    """Embeddings of tokens and positions, blocks, and a linear read-out."""

    kind = "transformer"
    check = "transformer"
    d_model: Size
    vocabulary: Size
    positions: Size
    outputs: Size
    blocks: tuple[Block, ...]
    strict: bool = False

    @property
    def shapes(self) -> Shapes:
        """A block that is not strict has a residual mask."""
        d = self.d_model
        shapes: Shapes = {"embed.token": (self.vocabulary, d)}
        shapes["embed.position"] = self.positions, d
        for i, block in enumerate(self.blocks):
            shapes |= block.shapes(f"blocks.{i}", d)
            shapes |= {} if self.strict else {f"blocks.{i}.mlp.residual": (d,)}
        return {
            **shapes,
            "unembed.weight": (d, self.outputs),
            "unembed.bias": (self.outputs,),
        }
