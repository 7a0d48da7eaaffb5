"""Running a network on one word with a part of its hidden state from another one."""

import numpy as np
import torch
from torch import Tensor

from krohn.algebra.errors import KrohnError
from krohn.algebra.semiautomaton import IntArray
from krohn.compare.models.network import Network
from krohn.compare.probes.hidden import WORDS_AT_ONCE
from krohn.compare.probes.pairs import Pairs
from krohn.network.evaluation_mode import evaluation_mode
from krohn.network.precision import FloatArray


def exchange(
    network: Network, pairs: Pairs, layer: int, basis: Tensor, device: torch.device
) -> Tensor:
    """Logits ``(count, length, classes)`` for base words, with a part of the source.

    At the positions of `pairs.where`, the component of the base's output of `layer` in a
    subspace is replaced by the source's; everything after it is run.

    Args:
        network: In evaluation mode.
        pairs: The words.
        layer: Index into ``hidden``: 0 is the embedding.
        basis: ``(width, dimensions)`` orthonormal; gradients flow through it.
        device: Where the network is.

    Raises:
        KrohnError: If the network has a scratchpad.
    """
    base, source = (torch.from_numpy(w).to(device) for w in (pairs.base, pairs.source))
    where = torch.from_numpy(pairs.where).to(device)[..., None]
    with torch.no_grad():
        other = network.inside(source).hidden[layer]
    projector = (basis @ basis.T).to(other)

    def swap(module: object, arguments: object, states: Tensor) -> Tensor:
        if states.shape != other.shape:
            raise KrohnError(
                "hidden states can be exchanged only in networks that read all words in "
                "one pass, letter by letter; one with a scratchpad does not"
            )
        return states + where * ((other - states) @ projector)

    handle = network.layers()[layer].register_forward_hook(swap)
    try:
        logits: Tensor = network(base)
    finally:
        handle.remove()
    return logits


def answers(network: Network, pairs: Pairs, layer: int, basis: FloatArray) -> IntArray:
    """The classes ``(count, length)`` that the largest of these logits choose."""
    device = next(network.parameters()).device
    found = []
    with evaluation_mode(network), torch.no_grad():
        for start in range(0, len(pairs), WORDS_AT_ONCE):
            part = pairs.some(slice(start, start + WORDS_AT_ONCE))
            logits = exchange(network, part, layer, torch.from_numpy(basis), device)
            found.append(logits.argmax(dim=-1).cpu().numpy())
    return np.concatenate(found)
