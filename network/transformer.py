"""The plain causal Transformer that a model file describes, as a torch module."""

from collections.abc import Mapping
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

    def forward(
        self, x: Tensor, past: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """What the heads add to ``x`` ``(batch, new, d)``, and the keys and values.

        Args:
            x: The residual stream at the new positions.
            past: Keys ``(batch, heads, seen, k)`` and values of earlier positions, if
                there are any; then there must be one new position.
        """
        key, value = _project(x, self.key), _project(x, self.value)
        if past is not None:
            key = torch.cat([past[0], key], dim=2)
            value = torch.cat([past[1], value], dim=2)
        mixed = F.scaled_dot_product_attention(
            _project(x, self.query), key, value, is_causal=past is None, scale=1.0
        )
        added = torch.einsum("bhtv,hvd->btd", mixed, self.out)
        return added, (key, value)


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

    def embed(self, tokens: Tensor, first: int = 0) -> Tensor:
        """``(batch, time)`` token indices from position ``first`` on, to the stream."""
        return self.token[tokens] + self.position[first : first + tokens.shape[1]]

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
        x, _ = self._advance(self.embed(self.with_bos(tokens)), None)
        return self.read_out(x[:, 1:])

    def start(self, batch: int = 1) -> Cache:
        """What `step` needs to remember of BOS."""
        bos = torch.full((batch, 1), self.token.shape[0] - 1, device=self.token.device)
        return self._advance(self.embed(bos), None)[1]

    def step(self, tokens: Tensor, cache: Cache) -> tuple[Tensor, Cache]:
        """One more letter for every word.

        Args:
            tokens: ``(batch,)`` letter indices.
            cache: What `start` or the step before returned.

        Returns:
            Logits ``(batch, states)`` and the longer cache.
        """
        x, longer = self._advance(self.embed(tokens[:, None], cache.seen), cache)
        return self.read_out(x[:, 0]), longer

    def _advance(self, x: Tensor, cache: Cache | None) -> tuple[Tensor, Cache]:
        seen = x.shape[1] + (cache.seen if cache else 0)
        past = list(cache.parts) if cache else []
        parts: list[Tensor] = []
        for attention, mlp in zip(self.attention, self.mlp, strict=True):
            if isinstance(attention, Attention):
                known = (past[len(parts)], past[len(parts) + 1]) if past else None
                added, both = attention(x, known)
                x = x + added
                parts += both
            x = mlp(x)
        return x, Cache(seen, tuple(parts))

    def read_out(self, x: Tensor) -> Tensor:
        """The stream ``(…, d)`` to logits ``(…, states)``."""
        return x @ self.weight + self.bias


_MATRICES = ("query", "key", "value", "out")
