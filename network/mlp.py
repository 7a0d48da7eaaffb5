"""The units of a block: affine layers with activations between them."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from krohn.network.architectures.transformer import StrArray

Affine = Callable[[Tensor, Tensor, Tensor], Tensor]
Function = Callable[[Tensor], Tensor]

FUNCTIONS: Mapping[str, Function] = {
    "relu": torch.relu,
    "sine": torch.sin,
    "gelu": F.gelu,
}


def _affine(x: Tensor, matrix: Tensor, bias: Tensor) -> Tensor:
    return x @ matrix + bias


class Mlp(nn.Module):
    """Affine layers with ReLUs between them, and the residual connection around them.

    Attributes:
        mask: 1 on dimensions that are added to, 0 on those overwritten; None for all 1.
        activations: For each hidden layer how many units in a row have which one.
    """

    def __init__(
        self,
        layers: list[tuple[Tensor, Tensor]],
        mask: Tensor | None,
        names: Sequence[StrArray],
    ) -> None:
        super().__init__()
        self.activations = [
            [(name, len(list(run))) for name, run in groupby(layer.tolist())]
            for layer in names
        ]
        self.weights = nn.ParameterList([weight for weight, _ in layers])
        self.biases = nn.ParameterList([bias for _, bias in layers])
        self.mask = None if mask is None else nn.Parameter(mask)

    def forward(
        self,
        x: Tensor,
        affine: Affine = _affine,
        hidden: Callable[[int, Tensor], Tensor] | None = None,
    ) -> Tensor:
        """``mask · x + f(x)``.

        Args:
            x: ``(…, d)``.
            affine: How to apply an affine map to ``(…, m)``.
            hidden: What becomes of the units of a hidden layer, by its number.
        """
        kept: Tensor = x if self.mask is None else x * self.mask
        if not len(self.weights):
            return kept
        h = x
        inner = zip(self.weights[:-1], self.biases[:-1], self.activations, strict=True)
        for i, (weight, bias, runs) in enumerate(inner):
            h = activated(affine(h, weight, bias), runs, FUNCTIONS)
            h = h if hidden is None else hidden(i, h)
        return kept + affine(h, self.weights[-1], self.biases[-1])


def activated(
    h: Tensor, runs: Sequence[tuple[str, int]], functions: Mapping[str, Function]
) -> Tensor:
    """Units after the functions that their activations name."""
    if len(runs) == 1:
        return functions[runs[0][0]](h)
    parts = torch.split(h, [count for _, count in runs], dim=-1)
    changed = (functions[name](x) for (name, _), x in zip(runs, parts, strict=True))
    return torch.cat(list(changed), dim=-1)


def widths(mlp: nn.Module) -> list[int]:
    """How many units each layer of an MLP has, the one that writes included."""
    return [int(bias.shape[0]) for bias in mlp.biases] if isinstance(mlp, Mlp) else []
