"""The hidden states of a network after the embedding and each layer, on given words."""

import numpy as np
import torch
from torch import Tensor

from krohn.algebra.semiautomaton import IntArray
from krohn.compare.models.network import Network
from krohn.network.evaluation_mode import evaluation_mode
from krohn.network.precision import FloatArray

WORDS_AT_ONCE = 128
"""Of a pass; 128 words of 100 letters through 16 layers of width 512 are 420 MB."""


def hidden_states(
    network: Network, words: IntArray
) -> tuple[list[FloatArray], IntArray]:
    """Hidden states by layer, and answers, without dropout.

    Args:
        network: The network to look into.
        words: ``(count, length)`` letter indices.

    Returns:
        For each layer ``(count, length, width)`` in float32, or float64 if the network
        is, and ``(count, length)`` the classes that the largest logits choose.
    """
    parts: list[list[FloatArray]] = []
    said: list[IntArray] = []
    device = next(network.parameters()).device
    with evaluation_mode(network), torch.no_grad():
        for some in torch.split(torch.from_numpy(words), WORDS_AT_ONCE):
            seen = network.inside(some.to(device))
            parts.append([_numbers(h) for h in seen.hidden])
            said.append(seen.logits.argmax(dim=-1).cpu().numpy())
    return [
        np.concatenate(layer) for layer in zip(*parts, strict=True)
    ], np.concatenate(said)


def _numbers(states: Tensor) -> FloatArray:
    wide = states if states.dtype.itemsize >= 4 else states.float()
    return np.asarray(wide.cpu().numpy())
