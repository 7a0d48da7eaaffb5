"""The Elman network with ReLU that a model file describes, as a torch module."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from network.cache import Cache


class Rnn(nn.Module):
    """h_t = ReLU(h_{t-1} W + x_t U + b), logits h_t R + c; no limit on the length."""

    length = None

    def __init__(
        self, architecture: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> None:
        super().__init__()
        self.initial = nn.Parameter(tensors["hidden.start"])
        self.hidden = nn.Parameter(tensors["hidden.weight"])
        self.hidden_bias = nn.Parameter(tensors["hidden.bias"])
        self.input = nn.Parameter(tensors["input.weight"])
        self.weight = nn.Parameter(tensors["unembed.weight"])
        self.bias = nn.Parameter(tensors["unembed.bias"])
        self.requires_grad_(False)

    def start(self, batch: int = 1) -> Cache:
        """What `step` needs: the hidden state ``(batch, hidden)`` before a word."""
        return Cache(0, (self.initial.expand(batch, -1),))

    def step(self, tokens: Tensor, cache: Cache) -> tuple[Tensor, Cache]:
        """One more letter ``(batch,)`` for every word: logits and the new cache."""
        logits, grow = self.branch(tokens[:, None], cache)
        return logits[:, 0], grow()

    def branch(
        self, tokens: Tensor, cache: Cache
    ) -> tuple[Tensor, Callable[[], Cache]]:
        """Several letters ``(batch, branches)``, each as the next one of every word.

        Returns:
            Logits ``(batch, branches, states)``, and a function that makes the cache of
            all ``batch · branches`` words.
        """
        before = cache.parts[0] @ self.hidden + self.hidden_bias
        h = torch.relu(before[:, None] + self.input[tokens])
        logits = h @ self.weight + self.bias
        return logits, lambda: Cache(cache.seen + 1, (h.flatten(0, 1),))

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits ``(batch, time, states)`` for letter indices ``(batch, time)``."""
        cache = self.start(tokens.shape[0])
        logits = []
        for t in range(tokens.shape[1]):
            now, cache = self.step(tokens[:, t], cache)
            logits.append(now)
        return torch.stack(logits, dim=1)
