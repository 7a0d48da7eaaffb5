"""The tensors of a model file as the parameters of a torch module."""

from collections.abc import Mapping

from torch import Tensor, nn


class NamedTensors(nn.Module):
    """Holds tensors by their names on file, and is the base of those who run them."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        super().__init__()
        self.names, self.held = list(tensors), nn.ParameterDict()
        for name, tensor in tensors.items():
            # No name of a parameter has a dot.
            key = name.replace(".", "/")
            self.held[key] = nn.Parameter(tensor, requires_grad=False)

    @property
    def tensors(self) -> dict[str, Tensor]:
        """The tensors by their names, as they are now."""
        return dict(zip(self.names, self.held.values(), strict=True))
