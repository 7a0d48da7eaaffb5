"""The Elman network with ReLU that a model file describes, as a torch module."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from network.cache import Cache, Grow, Tree


class Rnn(nn.Module):
    """h_t = ReLU(h_{t-1} W + x_t U + b), logits h_t R + c; no limit on the length."""

    length = None
    bushy = 16
    """The most nodes below a word that a pass of `branch` should cover at once."""

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
        logits, grow = self.branch(tokens[:, None], cache, Tree(1))
        return logits[:, 0], grow(0, len(tokens))

    def branch(self, tokens: Tensor, cache: Cache, tree: Tree) -> tuple[Tensor, Grow]:
        """All the ways in which a tree continues every word, one step a generation.

        Args:
            tokens: ``(batch, nodes)`` letter indices, or ``(branches,)`` if they
                are the same below every node.
            cache: What `start` or an earlier step returned.
            tree: How the nodes hang together.

        Returns:
            Logits ``(batch, nodes, states)``, and a function that makes the cache of
            all ``batch · leaves`` words.
        """
        if tokens.dim() == 1:
            tokens = tokens[tree.last.to(tokens.device)][None]
        h = cache.parts[0][:, None]
        generations = []
        for letters in torch.split(self.input[tokens], tree.sizes, dim=1):
            before = h @ self.hidden + self.hidden_bias
            siblings = letters.reshape(len(letters), h.shape[1], tree.branches, -1)
            h = torch.relu(before[:, :, None] + siblings).flatten(1, 2)
            generations.append(h)
        logits = torch.cat(generations, dim=1) @ self.weight + self.bias
        seen = cache.seen + tree.generations
        leaves = h.flatten(0, 1)
        return logits, lambda first, last: Cache(seen, (leaves[first:last],))

    def scratch(self, seen: int) -> int:
        """How many numbers a pass of `branch` holds for one node, however many it saw."""
        del seen
        return 6 * self.hidden.shape[0] + 6 * self.weight.shape[1]

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits ``(batch, time, states)`` for letter indices ``(batch, time)``."""
        cache = self.start(tokens.shape[0])
        logits = []
        for t in range(tokens.shape[1]):
            now, cache = self.step(tokens[:, t], cache)
            logits.append(now)
        return torch.stack(logits, dim=1)
