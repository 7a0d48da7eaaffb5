"""Networks without dropout for a while."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def evaluation_mode(network: object) -> Iterator[None]:
    """A torch module in evaluation mode; afterwards each of its parts as it was.

    Anything else is left alone.
    """
    parts = list(network.modules()) if isinstance(network, nn.Module) else []
    training = [part.training for part in parts]
    if isinstance(network, nn.Module):
        network.eval()
    try:
        yield
    finally:
        for part, was in zip(parts, training, strict=True):
            part.training = was
