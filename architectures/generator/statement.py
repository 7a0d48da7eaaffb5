"""Generators: layers of one head, LayerNorm and an MLP, which say laws of letters."""

from dataclasses import dataclass
from typing import Literal

from krohn.program.architecture import Architecture, Shapes, affine
from krohn.program.errors import demand
from krohn.program.stated import Part, Size, Sizes


@dataclass(frozen=True)
class Layer(Part):
    """A head, LN_C or nothing behind it, and affine maps with ReLUs between them."""

    d: Size
    d_qk: Size
    mlp: Sizes
    norm: Literal["layer", "none"] = "layer"


@dataclass(frozen=True)
class Generator(Architecture):
    """Letters that open or close are embedded, alone or with the depth after each."""

    kind = "generator"
    check = "generator"
    terms = "opening", "tolerance"
    vocabulary: Size
    outputs: Size
    depths: Size
    moves: tuple[Literal[1, -1], ...]
    layers: tuple[Layer, ...]

    @property
    def shapes(self) -> Shapes:
        """The maps of a layer lead to the width of the next one, or to the outputs."""
        demand(len(self.moves) == self.vocabulary, "not each letter opens or closes")
        demand(len(self.layers) > 0, "it has no layers")
        widths = [*(layer.d for layer in self.layers), self.outputs]
        shapes: Shapes = {"embed.letter": (self.vocabulary, self.depths, widths[0])}
        shapes["embed.start"] = (widths[0],)
        for i, layer in enumerate(self.layers):
            at, d, k = f"layers.{i}", layer.d, layer.d_qk
            shapes |= {f"{at}.attention.{name}": (d, k) for name in ("query", "key")}
            shapes |= {f"{at}.attention.value": (d, d)}
            shapes |= {f"{at}.constant": (1,)} if layer.norm == "layer" else {}
            shapes |= affine(f"{at}.mlp", [d, *layer.mlp, widths[i + 1]])
        return shapes
