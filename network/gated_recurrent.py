"""LSTMs and GRUs that a model file describes: torch's own modules with its tensors."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from network.cache import Cache, Grow, Tree
from network.full_precision import in_full

MODULES = {"lstm": nn.LSTM, "gru": nn.GRU}
PREFIX = "recurrent."
"""What the tensors of torch's module are called by, before their own names."""


class GatedRecurrent(nn.Module):
    """One layer that reads letters as unit vectors, and logits h_t R + c.

    What it remembers is h, and of an LSTM the cell c, too. No limit on the length.
    """

    length = None
    bushy = 16
    """The most nodes below a word that a pass of `branch` should cover at once."""

    def __init__(
        self, architecture: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> None:
        super().__init__()
        self.letters: int = architecture["vocabulary"]
        self.hidden: int = architecture["hidden"]
        start = [n for n in ("start.hidden", "start.cell") if n in tensors]
        self.initial = nn.ParameterList([nn.Parameter(tensors[n]) for n in start])
        self.weight = nn.Parameter(tensors["unembed.weight"])
        self.bias = nn.Parameter(tensors["unembed.bias"])
        module = MODULES[architecture["kind"]]
        self.recurrent: nn.LSTM | nn.GRU = module(
            self.letters, self.hidden, batch_first=True, dtype=self.weight.dtype
        )
        own = {n.removeprefix(PREFIX): t for n, t in tensors.items() if PREFIX in n}
        self.recurrent.load_state_dict(own)
        self.requires_grad_(False)

    def start(self, batch: int = 1) -> Cache:
        """What `step` needs: h ``(batch, hidden)`` before a word, and the cell."""
        return Cache(0, tuple(part.expand(batch, -1) for part in self.initial))

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
            read = letters.expand(words, -1).reshape(-1, 1)
            h, parts = self._read(read, parts)
            generations.append(h.view(words, -1, self.hidden))
        logits = torch.cat(generations, dim=1) @ self.weight + self.bias
        seen, leaves = cache.seen + tree.generations, parts
        return logits, lambda first, last: Cache(
            seen, tuple(part[first:last] for part in leaves)
        )

    def _read(
        self, tokens: Tensor, parts: tuple[Tensor, ...]
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """All h ``(batch, time, hidden)``, and what is remembered at the end."""
        x = nn.functional.one_hot(tokens, self.letters).to(self.weight.dtype)
        held = tuple(part[None].contiguous() for part in parts)
        h, last = self.recurrent(x, held if len(held) > 1 else held[0])
        return h, tuple(p[0] for p in (last if len(held) > 1 else [last]))

    def scratch(self, seen: int) -> int:
        """How many numbers a pass of `branch` holds for one node, however many it saw."""
        del seen
        return 16 * self.hidden + 6 * self.weight.shape[1] + self.letters

    @in_full
    def forward(self, tokens: Tensor) -> Tensor:
        """Logits ``(batch, time, classes)`` for letter indices ``(batch, time)``."""
        h, _ = self._read(tokens, self.start(tokens.shape[0]).parts)
        return h @ self.weight + self.bias
