"""Transformers: blocks of heads and an MLP on a residual stream."""

from dataclasses import dataclass, replace

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
class Disguise(Part):
    """A plain network that a disguised one computes the same as (docs/disguise.md).

    Attributes:
        d_model: The width of its stream.
        waste: In how many directions more something is written.
        blocks: Its blocks.
        heads: For each block and head of the disguised network, the number of the head
            that it stands for, from 1 on, or 0.
        units: The same of hidden units.
    """

    d_model: Size
    waste: Count
    blocks: tuple[Block, ...]
    heads: tuple[tuple[Count, ...], ...]
    units: tuple[tuple[Count, ...], ...]


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
    disguise: Disguise | None = None

    @property
    def shapes(self) -> Shapes:
        """A block that is not strict has a residual mask."""
        d, shapes = self.d_model, self._shapes
        if self.disguise is None:
            return shapes
        told, own = self.disguise, (self.disguise.d_model, self.disguise.blocks)
        heads = tuple(block.heads for block in self.blocks)
        units = tuple(sum(block.mlp) for block in self.blocks)
        right = tuple(map(len, told.heads)), tuple(map(len, told.units))
        demand(right == (heads, units), "a disguise is of another network")
        demand(len(told.blocks) == len(heads), "a disguise is of another network")
        plain = replace(self, d_model=own[0], blocks=own[1], disguise=None).shapes
        both = told.d_model + told.waste
        shapes |= {f"plain.{name}": shape for name, shape in plain.items()}
        for b, (own_block, block) in enumerate(
            zip(told.blocks, self.blocks, strict=True)
        ):
            turn = block.heads, own_block.d_qk, block.d_qk
            shapes |= {f"disguise.blocks.{b}.attention": turn} if block.heads else {}
        return {**shapes, "disguise.directions": (both, d)}

    @property
    def _shapes(self) -> Shapes:
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
