"""State space models: layers of diagonal recurrences, each read by a table."""

from dataclasses import dataclass

from krohn.program.architecture import Architecture, Shapes, affine
from krohn.program.errors import demand
from krohn.program.stated import Part, Size, Sizes


@dataclass(frozen=True)
class Layer(Part):
    """h_t = a ⊙ h_{t−1} + b(x_t), and a table of x_t and of the decoded h_{t−1}."""

    coordinates: Size
    decode: Sizes
    hidden: Size
    symbols: Size


@dataclass(frozen=True)
class StateSpace(Architecture):
    """The last layer says the logits. Letters choose decays, if it is selective."""

    kind = "ssm"
    check = "state_space"
    vocabulary: Size
    outputs: Size
    selective: bool
    layers: tuple[Layer, ...]

    @property
    def shapes(self) -> Shapes:
        """A layer reads what the one before says."""
        rows, shapes = self.vocabulary, Shapes()
        for i, layer in enumerate(self.layers):
            at, width = f"layers.{i}", layer.coordinates
            shapes |= {f"{at}.start": (width,), f"{at}.input": (rows, width)}
            shapes[f"{at}.decay"] = (rows, width) if self.selective else (width,)
            shapes |= affine(f"{at}.decode", decode := [width, *layer.decode])
            table = rows + decode[-1], layer.hidden, layer.symbols
            shapes |= affine(f"{at}.table", table)
            rows = layer.symbols
        demand(len(self.layers) > 0, "it has no layers")
        demand(rows == self.outputs, "its last layer has other outputs")
        return shapes
