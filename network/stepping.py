"""Networks that read letter by letter and remember as much after every word."""

from typing import ClassVar

import torch
from torch import Tensor, nn

from krohn.network.cache import Cache, Grow, Tree
from krohn.network.full_precision import in_full

Parts = tuple[Tensor, ...]
"""What is remembered, each ``(batch, …)``."""


class Stepping(nn.Module):
    """A recurrent network: `heard` reads a letter, `said` makes logits; no longest word.

    Attributes:
        bushy: The most nodes below a word that a pass of `branch` should cover at once.
    """

    length = None
    bushy: ClassVar[int] = 16

    def heard(self, tokens: Tensor, parts: Parts) -> tuple[Tensor, Parts]:
        """What logits are made of after a letter ``(batch,)``, and what is remembered."""
        raise NotImplementedError

    def said(self, outputs: Tensor) -> Tensor:
        """Logits ``(batch, nodes, classes)`` of what `heard` returned at nodes."""
        return outputs

    def step(self, tokens: Tensor, cache: Cache) -> tuple[Tensor, Cache]:
        """One more letter ``(batch,)`` for every word: logits and the new cache."""
        logits, grow = self.branch(tokens[:, None], cache, Tree(1))
        return logits[:, 0], grow(0, len(tokens))

    @in_full
    def branch(self, tokens: Tensor, cache: Cache, tree: Tree) -> tuple[Tensor, Grow]:
        """All the ways in which a tree continues every word, one step a generation.

        Args:
            tokens: ``(batch, nodes)`` letter indices, or ``(branches,)`` if they
                are the same below every node.
            cache: What `start` or an earlier step returned.
            tree: How the nodes hang together.

        Returns:
            Logits ``(batch, nodes, classes)``, and a function that makes the cache of
            all ``batch · leaves`` words.
        """
        if tokens.dim() == 1:
            tokens = tokens[tree.last.to(tokens.device)][None]
        parts, words = cache.parts, len(cache.parts[0])
        generations = []
        for letters in torch.split(tokens, tree.sizes, dim=1):
            parts = tuple(p.repeat_interleave(tree.branches, dim=0) for p in parts)
            outputs, parts = self.heard(letters.expand(words, -1).reshape(-1), parts)
            generations.append(outputs.reshape(words, -1, outputs.shape[-1]))
        seen, leaves = cache.seen + tree.generations, parts
        return self.said(torch.cat(generations, dim=1)), lambda first, last: Cache(
            seen, tuple(part[first:last] for part in leaves)
        )
