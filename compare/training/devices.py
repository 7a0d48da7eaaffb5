"""Devices by name."""

import torch

from krohn.algebra.errors import KrohnError


def usable(name: str) -> torch.device:
    """A device on which torch can compute here.

    Raises:
        KrohnError: If there is none of this name.
    """
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError):  # the latter: a torch without CUDA
        raise KrohnError(
            f"torch cannot compute on {name!r} here; name a device that it has, as cpu"
        ) from None
    return device
