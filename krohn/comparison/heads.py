"""What compiled heads and trained ones look at, on one word that both read."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from compare.models import Compiled, Network
from compare.tasks.task import Task
from krohn.comparison.contestants import COMPILED, GPT
from krohn.comparison.inside import Attention, Maps

MOST_HEADS = 16
"""So many of each network are shown, from the first layer on."""
START = (
    "Compiled networks put a start in front of every word: the first column of their "
    "patterns."
)


def maps(
    task: Task, length: int, compiled: Compiled, trained: Network | None
) -> Maps | None:
    """The patterns of two networks on a word of the task.

    Args:
        task: Whose words they read.
        length: Of the word.
        compiled: The derived network.
        trained: The other one; None if there is none.

    Returns:
        None if there are no heads to show.
    """
    word = task.inputs.draw(task.machine, np.random.default_rng(0), 1, length)
    letters = torch.from_numpy(word)
    shown = list(_compiled(compiled, letters))
    if trained is not None:
        shown += _trained(trained, letters)
    if not shown:
        return None
    named = tuple(task.letters[a] for a in word[0])
    return Maps(named, tuple(shown), (START,))


def _compiled(network: Compiled, letters: Tensor) -> Iterator[Attention]:
    looks = _looks(network.model.header)
    for layer, head, weights in _patterns(network, letters):
        what = ", ".join(looks.get((layer, head), ()))
        yield Attention(COMPILED, _title(layer, head), weights, what)


def _looks(header: Mapping[str, Any]) -> dict[tuple[int, int], list[str]]:
    """What each head computes, by layer and number, as the file states it."""
    found: dict[tuple[int, int], list[str]] = {}
    for channel in header.get("program", {}).get("channels", ()):
        if "head" in channel:
            at = (channel["snapshots"][0] // 2, channel["head"])
            found.setdefault(at, []).append(f"{channel['name']} ({channel['op']})")
    return found


def _trained(network: Network, letters: Tensor) -> Iterator[Attention]:
    for layer, head, weights in _patterns(network, letters):
        yield Attention(GPT, _title(layer, head), weights)


def _patterns(
    network: Network, letters: Tensor
) -> Iterator[tuple[int, int, tuple[tuple[float, ...], ...]]]:
    """Layer, head and weights, a row for each letter."""
    device = next(network.parameters()).device
    with torch.inference_mode():
        layers = network.inside(letters.to(device)).attention
    found = [(i, h) for i, layer in enumerate(layers) for h in range(layer.shape[1])]
    for layer, head in found[:MOST_HEADS]:
        rows = layers[layer][0, head].double().cpu().numpy().round(6)
        yield layer, head, tuple(tuple(row) for row in rows.tolist())


def _title(layer: int, head: int) -> str:
    return f"layer {layer + 1}, head {head + 1}"
