"""Networks that read letter by letter and remember as much after every word."""

from collections.abc import Mapping
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn

from krohn.network.architecture import kind_of
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

    def start(self, batch: int = 1) -> Cache:
        """What `step` needs: all that is remembered ``(batch, …)`` before a word."""
        raise NotImplementedError

    def heard(self, tokens: Tensor, parts: Parts) -> tuple[Tensor, Parts]:
        """What logits are made of after a letter ``(batch,)``, and what is remembered."""
        raise NotImplementedError

    def said(self, outputs: Tensor) -> Tensor:
        """Logits ``(batch, nodes, classes)`` of what `heard` returned at nodes."""
        return outputs

    def scratch(self, seen: int) -> int:
        """How many numbers a pass of `branch` holds for one node, however many it saw."""
        raise NotImplementedError

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits ``(batch, time, classes)`` for letter indices ``(batch, time)``."""
        cache, logits = self.start(tokens.shape[0]), []
        for t in range(tokens.shape[1]):
            now, cache = self.step(tokens[:, t], cache)
            logits.append(now)
        return torch.stack(logits, dim=1)

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


class TorchFunctions:
    """`krohn.network.step.Functions` of torch."""

    relu = staticmethod(torch.relu)
    sigmoid = staticmethod(torch.sigmoid)
    tanh = staticmethod(torch.tanh)

    @staticmethod
    def split(x: Tensor, parts: int) -> tuple[Tensor, ...]:
        """Equal parts of each row."""
        return torch.chunk(x, parts, dim=-1)


class Stepped(Stepping):
    """A recurrent network, by the step of its architecture; no limit on the length."""

    def __init__(
        self, architecture: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> None:
        super().__init__()
        step = kind_of(architecture).step
        assert step is not None
        self.declared = step
        self.names = list(tensors)
        self.held = nn.ParameterList(tensors.values())
        self.requires_grad_(False)

    @property
    def tensors(self) -> dict[str, Tensor]:
        """The tensors by their names in a model file."""
        return dict(zip(self.names, self.held, strict=True))

    @property
    def weight(self) -> Tensor:
        """``(hidden, classes)``: what reads h."""
        return self.tensors["unembed.weight"]

    @property
    def bias(self) -> Tensor:
        """``(classes,)``: what the logits begin with."""
        return self.tensors["unembed.bias"]

    def start(self, batch: int = 1) -> Cache:
        """What `step` needs: all that is remembered ``(batch, …)`` before a word."""
        tensors = self.tensors
        parts = (tensors[name] for name in self.declared.starts)
        return Cache(0, tuple(part.expand(batch, -1) for part in parts))

    def heard(self, tokens: Tensor, parts: Parts) -> tuple[Tensor, Parts]:
        """H ``(batch, hidden)`` after a letter, and what is remembered then."""
        after = self.declared.after(self.tensors, tokens, parts, TorchFunctions())
        return cast(Tensor, after[0]), after

    def said(self, outputs: Tensor) -> Tensor:
        """Logits of h."""
        return outputs @ self.weight + self.bias

    def scratch(self, seen: int) -> int:
        """How many numbers a pass of `branch` holds for one node, however many it saw."""
        del seen
        widest = max(tensor.shape[-1] for tensor in self.held)
        return int(16 * widest + 6 * self.weight.shape[1])
