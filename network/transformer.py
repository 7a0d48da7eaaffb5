"""The plain causal Transformer that a model file describes, as a torch module."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from network.cache import Cache


class Attention(nn.Module):
    """Multi-head causal attention without biases; scores are plain inner products."""

    def __init__(self, query: Tensor, key: Tensor, value: Tensor, out: Tensor) -> None:
        super().__init__()
        self.query, self.key = nn.Parameter(query), nn.Parameter(key)
        self.value, self.out = nn.Parameter(value), nn.Parameter(out)

    def forward(self, x: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """What the heads add to ``x`` ``(batch, time, d)``, and the keys and values."""
        key, value = _project(x, self.key), _project(x, self.value)
        mixed = F.scaled_dot_product_attention(
            _project(x, self.query), key, value, is_causal=True, scale=1.0
        )
        return self._write(mixed), (key, value)

    def branch(
        self, x: Tensor, past: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """The same at one new position, with several alternatives for what stands there.

        Args:
            x: ``(batch, branches, d)``: the alternatives; they do not see each other.
            past: Keys ``(batch, heads, seen, k)`` and values of the earlier positions.
        """
        key, value = _project(x, self.key), _project(x, self.value)
        query = _project(x, self.query)
        own = (query * key).sum(dim=-1, keepdim=True)
        scores = torch.cat([query @ past[0].transpose(2, 3), own], dim=-1)
        weights = torch.softmax(scores, dim=-1)
        mixed = weights[..., :-1] @ past[1] + weights[..., -1:] * value
        return self._write(mixed), (key, value)

    def _write(self, mixed: Tensor) -> Tensor:
        return torch.einsum("bhtv,hvd->btd", mixed, self.out)


def _project(x: Tensor, matrix: Tensor) -> Tensor:
    """``(batch, time, d)`` by ``(heads, d, k)`` to ``(batch, heads, time, k)``."""
    return torch.einsum("btd,hdk->bhtk", x, matrix)


class Mlp(nn.Module):
    """Affine layers with ReLUs between them, and the residual connection around them.

    Attributes:
        mask: 1 on dimensions that are added to, 0 on those overwritten; None for all 1.
    """

    def __init__(
        self, layers: list[tuple[Tensor, Tensor]], mask: Tensor | None
    ) -> None:
        super().__init__()
        self.weights = nn.ParameterList([weight for weight, _ in layers])
        self.biases = nn.ParameterList([bias for _, bias in layers])
        self.mask = None if mask is None else nn.Parameter(mask)

    def forward(self, x: Tensor) -> Tensor:
        """``mask · x + f(x)``."""
        kept: Tensor = x if self.mask is None else x * self.mask
        if not len(self.weights):
            return kept
        h = x
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            h = torch.relu(h @ weight + bias)
        last: Tensor = h @ self.weights[-1] + self.biases[-1]
        return kept + last


class Transformer(nn.Module):
    """Token and position embedding, blocks, and a linear read-out.

    Position 0 holds the symbol BOS, the last row of the token embedding; `forward` puts
    it there. There is no layer norm and no dropout.
    """

    def __init__(
        self, architecture: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> None:
        super().__init__()
        self.token = nn.Parameter(tensors["embed.token"])
        self.position = nn.Parameter(tensors["embed.position"])
        self.weight = nn.Parameter(tensors["unembed.weight"])
        self.bias = nn.Parameter(tensors["unembed.bias"])
        self.attention = nn.ModuleList()
        self.mlp = nn.ModuleList()
        for i, block in enumerate(architecture["blocks"]):
            self._append(f"blocks.{i}", block, tensors)
        self.requires_grad_(False)

    def _append(
        self, at: str, block: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> None:
        heads = [tensors[f"{at}.attention.{m}"] for m in _MATRICES if block["heads"]]
        self.attention.append(Attention(*heads) if heads else nn.Identity())
        affine = range(len(block["mlp"]) + 1 if block["mlp"] else 0)
        layers = [
            (tensors[f"{at}.mlp.{j}.weight"], tensors[f"{at}.mlp.{j}.bias"])
            for j in affine
        ]
        self.mlp.append(Mlp(layers, tensors.get(f"{at}.mlp.residual")))

    @property
    def length(self) -> int:
        """The longest word that the position table has room for."""
        return int(self.position.shape[0]) - 1

    def embed(self, tokens: Tensor) -> Tensor:
        """``(batch, time)`` token indices from position 0 on, to the stream."""
        return self.token[tokens] + self.position[: tokens.shape[1]]

    def with_bos(self, tokens: Tensor) -> Tensor:
        """``(batch, time)`` to ``(batch, time + 1)``: BOS in front."""
        bos = tokens.new_full((tokens.shape[0], 1), self.token.shape[0] - 1)
        return torch.cat([bos, tokens], dim=1)

    def snapshots(self, tokens: Tensor) -> list[Tensor]:
        """The residual stream after the embedding and after every sublayer.

        Args:
            tokens: ``(batch, time)`` letter indices, without BOS.

        Returns:
            ``2·blocks + 1`` tensors ``(batch, time + 1, d)``; position 0 is BOS.
        """
        x = self.embed(self.with_bos(tokens))
        seen = [x]
        for attention, mlp in zip(self.attention, self.mlp, strict=True):
            if isinstance(attention, Attention):
                x = x + attention(x)[0]
            seen.append(x)
            x = mlp(x)
            seen.append(x)
        return seen

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits ``(batch, time, states)`` for letter indices ``(batch, time)``."""
        return self.read_out(self._through(self.embed(self.with_bos(tokens)))[0][:, 1:])

    def start(self, batch: int = 1) -> Cache:
        """What `step` and `branch` need to remember of BOS."""
        bos = torch.full((batch, 1), self.token.shape[0] - 1, device=self.token.device)
        return Cache(1, self._through(self.embed(bos))[1])

    def _through(self, x: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """All blocks on whole words; the last stream, and keys and values by block."""
        parts: list[Tensor] = []
        for attention, mlp in zip(self.attention, self.mlp, strict=True):
            if isinstance(attention, Attention):
                added, both = attention(x)
                x = x + added
                parts += both
            x = mlp(x)
        return x, tuple(parts)

    def step(self, tokens: Tensor, cache: Cache) -> tuple[Tensor, Cache]:
        """One more letter for every word.

        Args:
            tokens: ``(batch,)`` letter indices.
            cache: What `start` or the step before returned.

        Returns:
            Logits ``(batch, states)`` and the longer cache.
        """
        logits, grow = self.branch(tokens[:, None], cache)
        return logits[:, 0], grow()

    def branch(
        self, tokens: Tensor, cache: Cache
    ) -> tuple[Tensor, Callable[[], Cache]]:
        """Several letters, each as the next one of every word.

        Args:
            tokens: ``(batch, branches)`` letter indices.
            cache: What `start` or an earlier step returned.

        Returns:
            Logits ``(batch, branches, states)``, and a function that makes the longer
            cache of all ``batch · branches`` words, for those who go on.
        """
        x = self.token[tokens] + self.position[cache.seen]
        added: list[Tensor] = []
        for attention, mlp in zip(self.attention, self.mlp, strict=True):
            if isinstance(attention, Attention):
                n = len(added)
                written, both = attention.branch(
                    x, (cache.parts[n], cache.parts[n + 1])
                )
                x = x + written
                added += both
            x = mlp(x)
        return self.read_out(x), partial(_grown, cache, added)

    def read_out(self, x: Tensor) -> Tensor:
        """The stream ``(…, d)`` to logits ``(…, states)``."""
        return x @ self.weight + self.bias


def _grown(cache: Cache, added: list[Tensor]) -> Cache:
    """The cache of every branch: its word's keys and values, and its own."""
    parts = []
    for part, new in zip(cache.parts, added, strict=True):
        branches = new.shape[2]
        old = part.repeat_interleave(branches, dim=0)
        own = new.transpose(1, 2).reshape(-1, new.shape[1], 1, new.shape[3])
        parts.append(torch.cat([old, own], dim=2))
    return Cache(cache.seen + 1, tuple(parts))


_MATRICES = ("query", "key", "value", "out")
