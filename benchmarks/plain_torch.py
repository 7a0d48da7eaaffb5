"""A Transformer written plainly in torch: the yardstick of Krohn's runtimes.

The weights are those of a model file, heads are torch's `scaled_dot_product_attention` on
queries, keys and values from one product, and texts are written with a cache of keys and
values. Nothing is checked, and nothing can be watched.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from krohn.network.meaning.net import Heads, Net
from krohn.network.model import Model
from krohn.program.attention import Sight, Softmax


class _Block(NamedTuple):
    """A block: what makes queries, keys and values, what heads write, and the MLP."""

    heads: int
    widths: list[int]
    project: Tensor
    write: Tensor
    layers: list[tuple[Tensor, Tensor]]
    mask: Tensor | None


class PlainTransformer:
    """A causal Transformer of softmax heads and ReLUs.

    Args:
        model: Its weights; the format is theirs, too.

    Raises:
        ValueError: If it has something else.
    """

    def __init__(self, model: Model) -> None:
        net: Net[Tensor] = model.network.net  # type: ignore[assignment]
        self.token, self.position, self.out = net.token, net.position, net.out
        self.blocks = [
            _Block(
                *_heads(block.heads),
                [(layer.weight, layer.bias) for layer in block.layers],
                block.mask,
            )
            for block in net.blocks
        ]

    def whole(self, words: Tensor) -> Tensor:
        """Logits ``(batch, time, classes)`` of words ``(batch, time)``."""
        bos = words.new_full((len(words), 1), len(self.token) - 1)
        tokens = torch.cat([bos, words], dim=1)
        x = self.token[tokens] + self.position[: tokens.shape[1]]
        for block in self.blocks:
            if block.heads:
                query, key, value = _split(block, x)
                taken = F.scaled_dot_product_attention(
                    query, key, value, is_causal=True, scale=1.0
                )
                x = x + taken.transpose(1, 2).flatten(2) @ block.write
            x = _mlp(block, x)
        return x[:, 1:] @ self.out.weight + self.out.bias

    def step(self, tokens: Tensor, at: int, cache: list[list[Tensor]]) -> Tensor:
        """Logits ``(batch, classes)`` after tokens ``(batch,)`` at one position.

        The cache is a list for each block, empty at position 0, which grows.
        """
        x = (self.token[tokens] + self.position[at])[:, None]
        for block, held in zip(self.blocks, cache, strict=True):
            if block.heads:
                query, *new = _split(block, x)
                held[:] = (
                    [torch.cat(both, dim=2) for both in zip(held, new, strict=True)]
                    if held
                    else new
                )
                taken = F.scaled_dot_product_attention(
                    query, held[0], held[1], scale=1.0
                )
                x = x + taken.transpose(1, 2).flatten(2) @ block.write
            x = _mlp(block, x)
        return x[:, 0] @ self.out.weight + self.out.bias

    @torch.inference_mode()
    def write(self, prompts: Tensor, length: int) -> Tensor:
        """Texts ``(batch, length)`` that begin with prompts, by the largest logit."""
        cache: list[list[Tensor]] = [[] for _ in self.blocks]
        texts = [*prompts.T]
        self.step(torch.full_like(texts[0], len(self.token) - 1), 0, cache)
        for at in range(1, length):
            logits = self.step(texts[at - 1], at, cache)
            if at >= len(texts):
                texts.append(logits.argmax(dim=1))
        return torch.stack(texts, dim=1)


def _heads(heads: Heads[Tensor] | None) -> tuple[int, list[int], Tensor, Tensor]:
    if heads is None:
        nothing = torch.zeros(0)
        return 0, [], nothing, nothing
    if heads.kind != Softmax() or {*heads.sights} != {Sight.CAUSAL}:
        raise ValueError("other heads than those of a plain Transformer")
    sides: Sequence[Tensor] = heads.query, heads.key, heads.value
    flat = [side.transpose(0, 1).flatten(1) for side in sides]
    widths = [side.shape[1] for side in flat]
    return (
        len(heads.query),
        widths,
        torch.cat(flat, dim=1),
        heads.out.flatten(0, 1),
    )


def _split(block: _Block, x: Tensor) -> list[Tensor]:
    parts = torch.split(x @ block.project, block.widths, dim=2)
    return [part.view(*x.shape[:2], block.heads, -1).transpose(1, 2) for part in parts]


def _mlp(block: _Block, x: Tensor) -> Tensor:
    kept = x if block.mask is None else x * block.mask
    if not block.layers:
        return kept
    hidden = x
    *inner, (weight, bias) = block.layers
    for w, b in inner:
        hidden = torch.relu(hidden @ w + b)
    return kept + hidden @ weight + bias
