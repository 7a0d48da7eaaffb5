"""What a network remembers of the letters it has read, and how words go on from there."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import torch
from torch import Tensor


@dataclass(frozen=True)
class Cache:
    """The memory of a batch of words that are read letter by letter.

    Attributes:
        seen: How many positions have been read, BOS included where there is one.
        parts: Tensors whose first axis is the batch.
    """

    seen: int
    parts: tuple[Tensor, ...]


Grow = Callable[[int, int], Cache]
"""Makes the memory of some words, from the first on and up to the last."""


@dataclass(frozen=True)
class Tree:
    """All ways to go on from a word: the same number of branches from every node.

    Its nodes are numbered generation by generation, the children of a node together and
    in the order of their parents. The word itself is not a node.

    Attributes:
        branches: How many children the word has, and every node but the leaves.
        generations: How many letters lead from the word to a leaf.
    """

    branches: int
    generations: int = 1

    @property
    def sizes(self) -> list[int]:
        """How many nodes there are in each generation."""
        return [self.branches**i for i in range(1, self.generations + 1)]

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return sum(self.sizes)

    @cached_property
    def depth(self) -> Tensor:
        """``(nodes,)``: how many letters lead to the node's parent."""
        return torch.arange(self.generations).repeat_interleave(
            torch.tensor(self.sizes)
        )

    @cached_property
    def last(self) -> Tensor:
        """``(nodes,)``: which of the branches of its parent a node is."""
        return torch.arange(self.nodes) % self.branches

    @cached_property
    def paths(self) -> Tensor:
        """``(leaves, generations)``: the nodes from a child of the word to each leaf."""
        leaves = torch.arange(self.sizes[-1])
        steps, first = [], 0
        for size in self.sizes:
            steps.append(first + leaves // (len(leaves) // size))
            first += size
        return torch.stack(steps, dim=1)

    @cached_property
    def above(self) -> Tensor:
        """``(nodes, generations)``: the path to a node, with itself where it has ended."""
        nodes = torch.arange(self.nodes)
        descent = [nodes]
        for _ in range(self.generations - 1):
            parent = torch.div(descent[-1], self.branches, rounding_mode="floor") - 1
            descent.append(torch.where(parent < 0, descent[-1], parent))
        return torch.stack(descent, dim=1)

    @cached_property
    def ended(self) -> Tensor:
        """``(nodes, generations)``: −∞ where `above` repeats what it has had, else 0."""
        repeated = torch.arange(self.generations) > self.depth[:, None]
        return torch.zeros(repeated.shape).masked_fill(repeated, -torch.inf)

    @cached_property
    def kind(self) -> Tensor:
        """``(nodes,)``: nodes of the same depth and branch are of one kind."""
        return self.depth * self.branches + self.last

    @cached_property
    def kinds(self) -> Tensor:
        """``(branches · generations,)``: the first node of each kind."""
        firsts = torch.tensor([0, *accumulate(self.sizes[:-1])])
        return (firsts[:, None] + torch.arange(self.branches)).flatten()

    @cached_property
    def strangers(self) -> Tensor:
        """``(nodes, nodes)``: whether the second is neither the first nor above it."""
        apart = torch.ones((self.nodes, self.nodes), dtype=torch.bool)
        apart[torch.arange(self.nodes)[:, None], self.above] = False
        return apart
