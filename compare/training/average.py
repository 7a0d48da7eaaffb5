"""The exponential moving average of weights, which is what is measured."""

from copy import deepcopy

import torch
from torch import Tensor

from krohn.compare.models.network import Network


class Average:
    """A copy of a network whose weights follow those of the network.

    Attributes:
        network: The copy; the network itself if there is nothing to average.
    """

    def __init__(self, network: Network, decay: float) -> None:
        """Start at the weights of the network.

        Args:
            network: What is trained.
            decay: How much of the average stays at each step (thesis: 0.9); 0 for none.
        """
        self.decay = decay
        self.network = deepcopy(network) if decay else network
        self._followed = _weights(network)
        self._averages = _weights(self.network)

    def follow(self) -> None:
        """Take in what the weights are now."""
        if self.decay:
            torch._foreach_lerp_(self._averages, self._followed, 1 - self.decay)


def _weights(network: Network) -> list[Tensor]:
    """Those that are trained; what is frozen is alike in both."""
    return [p.detach() for p in network.parameters() if p.requires_grad]
