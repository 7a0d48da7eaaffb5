"""Heads of networks as patterns over the letters of words."""

from dataclasses import dataclass

import numpy as np
import torch

from krohn.algebra.semiautomaton import IntArray
from krohn.compare.models.compiled import Compiled, CompiledTransformer
from krohn.compare.models.network import Network
from krohn.network.evaluation_mode import evaluation_mode
from krohn.network.precision import FloatArray

UNSEEN = 1e-6
"""A row with less weight on letters than float32 can tell from none looks at BOS alone."""


@dataclass(frozen=True, eq=False)
class Head:
    """The attention pattern of a head on some words.

    Attributes:
        layer: Which block, from 0.
        index: Which head of it.
        title: Its name: of a compiled head, the channels that it writes.
        pattern: ``(count, length, length)`` rows are queries and sum to 1.
        weight: ``(count, length)`` the share of the row on letters at first: of a compiled
            head the rest lay on BOS, which trained networks do not have; else 1.
    """

    layer: int
    index: int
    title: str
    pattern: FloatArray
    weight: FloatArray


def heads(network: Network, words: IntArray) -> list[Head]:
    """All heads of a network on words ``(count, length)``.

    A compiled network has a position BOS before the letters. Its column is cut off and
    rows are scaled to sum to 1 again; how much was left says how much a row counts.
    """
    device = next(network.parameters()).device
    with evaluation_mode(network), torch.no_grad():
        seen = network.inside(torch.from_numpy(words).to(device)).attention
    titles = _titles(network) if isinstance(network, CompiledTransformer) else {}
    found = []
    for layer, weights in enumerate(seen):
        for index, given in enumerate(weights.double().cpu().numpy().swapaxes(0, 1)):
            title = titles.get((layer, index), f"head {index} of layer {layer + 1}")
            found.append(Head(layer, index, title, *_without_bos(given)))
    return found


def _without_bos(given: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``(count, length, length)``, or one column more, to a pattern and its weights."""
    pattern = given[:, :, given.shape[2] - given.shape[1] :]
    weight = pattern.sum(axis=2)
    seen = weight > UNSEEN
    scale = np.divide(1, weight, where=seen, out=np.zeros_like(weight))
    return pattern * scale[..., None], np.where(seen, np.minimum(weight, 1), 0)


def _titles(network: Compiled) -> dict[tuple[int, int], str]:
    """For each block and head of a compiled network, the channels that it writes."""
    found: dict[tuple[int, int], list[str]] = {}
    for name, place in network.model.places().items():
        if place.head is not None:
            at = (place.snapshots[0] // 2, place.head)
            family = name.partition("[")[0]
            known = found.setdefault(at, [])
            known += [family] * (family not in known)
    construction = network.model.header.get("construction", "compiled")
    return {at: f"{construction}: {', '.join(n)}" for at, n in found.items()}
