"""The tensors of a model file as the parameters of a torch module."""

from collections.abc import Mapping

from torch import Tensor, nn


class NamedTensors(nn.Module):
    """Holds tensors by their names on file, and is the base of those who run them."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        super().__init__()
        # In one order, whatever that of a file is.
        self.names, self.held = sorted(tensors), nn.ParameterDict()
        for name in self.names:
            # No name of a parameter has a dot.
            key = name.replace(".", "/")
            self.held[key] = nn.Parameter(tensors[name], requires_grad=False)

    @property
    def tensors(self) -> dict[str, Tensor]:
        """The tensors by their names, as they are now."""
        return dict(zip(self.names, self.held.values(), strict=True))
