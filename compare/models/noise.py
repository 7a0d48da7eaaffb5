"""Noise on derived weights, from which training may find back."""

import torch
from torch import Generator, Tensor

from krohn.compare.models.architecture import Noisy


def disturbed(weight: Tensor, size: float, noisy: Noisy, rng: Generator) -> Tensor:
    """A tensor of the same shape with Gaussian noise.

    Args:
        weight: Any float tensor on the CPU.
        size: Standard deviation of the noise, relative to what it is added to.
        noisy: ``"nonzero"``: each entry w becomes w·(1 + size·z). ``"all"``: w + size·r·z,
            where r is the root mean square of the entries that are not 0.
        rng: Where the z come from.
    """
    z = torch.randn(weight.shape, generator=rng, dtype=weight.dtype)
    if noisy == "nonzero":
        return weight * (1 + size * z)
    here = weight[weight != 0]
    scale = here.square().mean().sqrt() if len(here) else weight.new_tensor(0.0)
    return weight + size * scale * z
