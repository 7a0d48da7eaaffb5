"""Transformers: blocks of heads and an MLP on a residual stream."""

from dataclasses import dataclass, replace
from math import prod
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from krohn.program.architecture import (
    Architecture,
    Shapes,
    affine,
    compressed_rows,
)
from krohn.program.attention import BACKWARD, Attention, Sight, Softmax
from krohn.program.errors import demand
from krohn.program.stated import Count, Part, Size, Sizes

StrArray = npt.NDArray[np.str_]
SOFTMAX = Softmax()
Activation: TypeAlias = Literal["relu", "sine", "gelu", "gelu_new"]


PLAIN, DISGUISE, MASKS = "plain.", "disguise.", "masks."
APART = (PLAIN, DISGUISE, MASKS)
"""Prefixes of the tensors that a disguised or pruned network carries, and does not run."""


@dataclass(frozen=True)
class Block(Part):
    """Heads, and the hidden layers of an MLP.

    Attributes:
        activation: For each hidden layer runs of units with their function; all are
            ReLUs if it is absent.
        sine: In version 2: how many units of each layer, the first ones, are sines.
        causal: For each head whether it sees no position after its own; all if absent.
        attention: How heads weigh positions; by a softmax if it is absent.
    """

    heads: Count
    d_qk: Count
    d_v: Count
    mlp: Sizes
    activation: tuple[tuple[tuple[Activation, Count], ...], ...] | None = None
    sine: tuple[Count, ...] | None = None
    causal: tuple[bool, ...] | None = None
    attention: Attention = SOFTMAX

    def __post_init__(self) -> None:
        named = self.causal is None or len(self.causal) == self.heads
        demand(named, "not every head says what it sees")
        ahead = isinstance(self.attention, BACKWARD) and Sight.WHOLE in self.sights
        demand(not ahead, f"a {self.attention.kind} head sees the whole word")
        stated = [x for x in (self.activation, self.sine) if x is not None]
        demand(len(stated) < 2, "units are named twice")
        alike = all(len(x) == len(self.mlp) for x in stated)
        demand(alike, "not every hidden layer has its activations")
        for layer, width in zip(self._runs, self.mlp, strict=True):
            counts = [count for _, count in layer]
            right = sum(counts) == width and min(counts, default=0) >= 0
            demand(right, "a hidden layer has other units than named")

    @property
    def version(self) -> int:
        """The first version of model files whose readers know such a block."""
        if self.causal is not None or self.attention != SOFTMAX:
            return 5
        if any("gelu" in layer for layer in self.activations):
            return 5
        if self.activation is not None:
            return 4
        return 1 if self.sine is None else 2

    @property
    def sights(self) -> tuple[Sight, ...]:
        """The positions that each head sees."""
        causal = (True,) * self.heads if self.causal is None else self.causal
        return tuple(Sight.CAUSAL if each else Sight.WHOLE for each in causal)

    @property
    def activations(self) -> tuple[StrArray, ...]:
        """The function of each unit of each hidden layer, by name."""
        return tuple(
            np.repeat([name for name, _ in runs], [count for _, count in runs])
            for runs in self._runs
        )

    @property
    def _runs(self) -> tuple[tuple[tuple[str, int], ...], ...]:
        if self.activation is not None:
            return self.activation
        if self.sine is None:
            return tuple((("relu", width),) for width in self.mlp)
        both = zip(self.sine, self.mlp, strict=True)
        return tuple((("sine", n), ("relu", width - n)) for n, width in both)

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
    """A plain network that a disguised one computes the same as.

    docs/architectures/disguise.md says how.

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
class Masks(Part):
    """Masked random matrices, whose products are the matrices of a network.

    docs/architectures/pruned.md says how.

    Attributes:
        seed: Of the random matrices.
        units: For each row of a matrix, or for each column, how many numbers stand
            between its two factors.
        fixed: The factor that is masked alike whatever the network computes.
        entries: How many numbers of each factor are kept.
    """

    seed: Count
    units: Size
    fixed: Literal["left", "right"]
    entries: dict[str, Count]


@dataclass(frozen=True)
class Transformer(Architecture):
    """Embeddings of tokens and positions, blocks, and a linear read-out."""

    kind = "transformer"
    check = "transformer"
    marks = 1
    d_model: Size
    vocabulary: Size
    positions: Size
    outputs: Size
    blocks: tuple[Block, ...]
    strict: bool = False
    disguise: Disguise | None = None
    masks: Masks | None = None

    @property
    def version(self) -> int:
        """Disguises, kinds of attention and units are new."""
        return 6 if self.disguise else max((b.version for b in self.blocks), default=1)

    @property
    def shapes(self) -> Shapes:
        """A block that is not strict has a residual mask."""
        d, shapes = self.d_model, self._shapes
        if self.disguise is None:
            demand(self.masks is None, "masks need a plain network beside them")
            return shapes
        disguise, own = self.disguise, (self.disguise.d_model, self.disguise.blocks)
        heads = tuple(block.heads for block in self.blocks)
        units = tuple(sum(block.mlp) for block in self.blocks)
        right = tuple(map(len, disguise.heads)), tuple(map(len, disguise.units))
        demand(right == (heads, units), "a disguise is of another network")
        demand(len(disguise.blocks) == len(heads), "a disguise is of another network")
        bare = replace(self, d_model=own[0], blocks=own[1], disguise=None, masks=None)
        plain = bare.shapes
        both = disguise.d_model + disguise.waste
        shapes |= {f"{PLAIN}{name}": shape for name, shape in plain.items()}
        if self.masks is not None:
            shapes |= compressed_rows(self.sparse, self.masks.entries)
        for b, (own_block, block) in enumerate(
            zip(disguise.blocks, self.blocks, strict=True)
        ):
            turn = block.heads, own_block.d_qk, block.d_qk
            shapes |= {f"{DISGUISE}blocks.{b}.attention": turn} if block.heads else {}
        return {**shapes, f"{DISGUISE}directions": (both, d)}

    @property
    def maps(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of each matrix; a bias is its last row, heads lie in a row."""
        maps = dict[str, tuple[int, int]]()
        matrices = ((n, s) for n, s in self._shapes.items() if len(s) > 1)
        for name, (*heads, rows, columns) in matrices:
            if name.endswith(".out"):
                maps[name] = prod(heads) * rows, columns
                continue
            more = int(name.endswith(".weight"))
            maps[name.removesuffix(".weight")] = rows + more, prod(heads) * columns
        return maps

    @property
    def sparse(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of each factor of a matrix, if they have any."""
        if self.masks is None:
            return {}
        units, by_row = self.masks.units, self.masks.fixed == "left"
        shapes = dict[str, tuple[int, int]]()
        for name, (rows, columns) in self.maps.items():
            rank = units * (rows if by_row else columns)
            shapes[f"{MASKS}{name}.left"] = rows, rank
            shapes[f"{MASKS}{name}.right"] = rank, columns
        named = self.masks.entries.keys() == shapes.keys()
        demand(named, "'entries' does not name each masked matrix")
        return shapes

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
