"""The memory that a network has of words, and the running of their continuations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

# The memory of the letters that a network has read, and the ways in which words go on.


@dataclass(frozen=True)
class Cache:
    """The memory of a batch of words that are read letter by letter.

    Attributes:
        seen: How many positions have been read, BOS included where there is one.
        parts: Tensors whose first axis is the batch.
        rooms: For each part the tensor that it is the beginning of, with room for later
            positions; empty where there is none.
        plan: What a network has made of its parameters, once for a text, to read on.
    """

    seen: int
    parts: tuple[Tensor, ...]
    rooms: tuple["Room | None", ...] = ()
    plan: Any = None


@dataclass
class Room:
    """A tensor that caches share as long as each goes on from the last one.

    Attributes:
        whole: ``(batch, heads, positions, width)``.
        filled: How many positions are written.
    """

    whole: Tensor
    filled: int

    @classmethod
    def of(cls, part: Tensor) -> "Room":
        """The part, with room for as many positions again."""
        batch, heads, seen, width = part.shape
        whole = part.new_empty(batch, heads, max(LEAST_ROOM, 2 * seen), width)
        whole[:, :, :seen] = part
        return cls(whole, seen)

    def goes_on(self, seen: int) -> bool:
        """Whether a part of so many positions can be made longer here.

        Another cache may have written the next position, and tensors of inference mode
        cannot be written outside of it.
        """
        writable = torch.is_inference_mode_enabled() or not self.whole.is_inference()
        return self.filled == seen < self.whole.shape[2] and writable

    def add(self, new: Tensor) -> Tensor:
        """The positions written so far, and one more ``(batch, heads, 1, width)``."""
        self.whole[:, :, self.filled : self.filled + 1] = new
        self.filled += 1
        return self.whole[:, :, : self.filled]


LEAST_ROOM = 32
"""Positions of the smallest room."""


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
    def repeat_mask(self) -> Tensor:
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


ONE = Tree(1)
"""One more letter."""


def grow_cache(
    cache: Cache,
    added: Sequence[Tensor],
    running: Sequence[bool],
    tree: Tree,
    first: int,
    last: int,
) -> Cache:
    """The cache of some leaves: their words' keys and values, and those on their paths.

    Args:
        cache: Parts ``(batch, heads, seen, k)``; ``(batch, heads, 1, k)`` if running.
        added: For each part the same of the nodes, ``(batch or 1, heads, nodes, k)``.
        running: For each part whether it is the sum of what nodes add.
        tree: How the nodes hang together.
        first: The leaf to begin with, of the ``batch · leaves`` of all words.
        last: One past the last.
    """
    whole = bool(cache.parts) and last - first == len(cache.parts[0])
    if tree is ONE and whole and not any(running):
        return _step_cache(cache, added)
    leaves = tree.sizes[-1]
    words = slice(first // leaves, -(-last // leaves))
    skipped = first - words.start * leaves
    parts = []
    for part, new, sums in zip(cache.parts, added, running, strict=True):
        more = _more if sums else _longer
        longer = more(part[words], new if len(new) == 1 else new[words], tree)
        parts.append(longer[skipped : skipped + last - first])
    seen = cache.seen + tree.generations
    return Cache(seen, tuple(parts), plan=cache.plan)


def _step_cache(cache: Cache, added: Sequence[Tensor]) -> Cache:
    """The cache of all words after one more letter each."""
    parts, rooms = list[Tensor](), list[Room | None]()
    known = cache.rooms or (None,) * len(added)
    for part, room, new in zip(cache.parts, known, added, strict=True):
        if torch.is_grad_enabled() and (part.requires_grad or new.requires_grad):
            new = new.expand(len(part), -1, -1, -1)
            parts.append(torch.cat([part, new], dim=2))
            rooms.append(None)
            continue
        if room is None or not room.goes_on(part.shape[2]):
            room = Room.of(part)
        parts.append(room.add(new))
        rooms.append(room)
    return Cache(cache.seen + 1, tuple(parts), tuple(rooms), cache.plan)


def _longer(part: Tensor, new: Tensor, tree: Tree) -> Tensor:
    batch, heads, seen, width = part.shape
    leaves = tree.sizes[-1]
    longer = part.new_empty(batch, leaves, heads, seen + tree.generations, width)
    longer[..., :seen, :] = part[:, None]
    path = new[:, :, tree.paths.to(new.device)]
    longer[..., seen:, :] = path.transpose(1, 2)
    return longer.flatten(0, 1)


def _more(part: Tensor, new: Tensor, tree: Tree) -> Tensor:
    path = new[:, :, tree.paths.to(new.device)].sum(dim=3, keepdim=True)
    return (part[:, None] + path.transpose(1, 2)).flatten(0, 1)
