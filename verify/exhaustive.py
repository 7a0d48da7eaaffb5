"""Every word up to a length, by a walk through the tree of their prefixes.

A causal network has the same memory of two words while they agree, so each node of the
tree needs one step of the network, made from the memory of its parent. The walk goes
breadth first while a generation fits a batch, and depth first by whole batches then;
those are in lexicographic order, so the first wrong node of a batch is its least word.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from algebra.automaton import Automaton
from algebra.semiautomaton import IntArray
from network.cache import Cache
from network.model import Model
from verify.counterexample import Counterexample, Pair, pair
from verify.simulation import Progress, Simulation

BLOCK = {"cpu": 4096, "cuda": 65536}
BUDGET = 2**30


@dataclass(frozen=True)
class _Block:
    """Nodes of one depth, in lexicographic order.

    Attributes:
        grow: Makes what the network remembers of their words.
        states: ``(nodes,)``: where the machine is.
        above: The block of their parents; node i comes from node i // width by the
            letter first + i % width.
        first: The least letter.
        width: How many letters.
        depth: The length of the words.
    """

    grow: Callable[[], Cache]
    states: Tensor
    above: "_Block | None" = None
    first: int = 0
    width: int = 1
    depth: int = 0

    @cached_property
    def cache(self) -> Cache:
        """What the network remembers of their words; leaves never need it."""
        return self.grow()

    def word(self, node: int) -> IntArray:
        """The letters ``(depth,)`` from the root to a node."""
        letters: list[int] = []
        block: _Block | None = self
        while block is not None and block.depth:
            node, letter = divmod(node, block.width)
            letters.append(block.first + letter)
            block = block.above
        return np.array(letters[::-1], dtype=np.int64)


@dataclass(frozen=True, order=True)
class _Found:
    """A wrong node, in the order of preference: shortest first, then lexicographic."""

    length: int
    word: tuple[int, ...]
    said: str


class _Walk:
    """The state of a walk: the blocks yet to be entered, and the best word found."""

    def __init__(self, judge: Pair, length: int, block: int) -> None:
        self.judge, self.length, self.block = judge, length, block
        self.words = 0
        self.found: _Found | None = None
        start = torch.tensor([judge.machine.start], device=judge.tokens.device)
        self.stack = [(_Block(judge.model.network.start, start), 0)]

    @property
    def limit(self) -> int:
        """No word longer than this one is of interest."""
        return self.length if self.found is None else self.found.length

    def advance(self) -> None:
        """Enter the next block by as many letters as fit a batch."""
        above, first = self.stack.pop()
        if above.depth >= self.limit:
            return
        letters = len(self.judge.machine.letters)
        width = min(max(1, self.block // len(above.states)), letters - first)
        if first + width < letters:
            self.stack.append((above, first + width))
        self._enter(above, first, width)

    def _enter(self, above: _Block, first: int, width: int) -> None:
        block, logits = self._children(above, first, width)
        self.words += len(block.states)
        wrong = self.judge.wrong(logits, block.states)
        if bool(wrong.any()):
            self._note(block, logits, int(wrong.int().argmax()))
        if block.depth < self.limit:
            self.stack.append((block, 0))

    def _children(self, above: _Block, first: int, width: int) -> tuple[_Block, Tensor]:
        letters = torch.arange(first, first + width, device=above.states.device)
        tokens = self.judge.tokens[letters].expand(len(above.states), -1)
        logits, grow = self.judge.model.network.branch(tokens, above.cache)
        after = self.judge.table[letters, above.states[:, None]].flatten()
        block = _Block(grow, after, above, first, width, above.depth + 1)
        return block, logits.flatten(0, 1)

    def _note(self, block: _Block, logits: Tensor, node: int) -> None:
        said = self.judge.said(logits[node : node + 1])[0]
        found = _Found(block.depth, tuple(block.word(node).tolist()), said)
        self.found = found if self.found is None else min(self.found, found)

    def counterexample(self) -> Counterexample | None:
        """The best word found, replayed by a plain forward pass.

        A network so near a tie that it is wrong only when it reads letter by letter
        passes the replay; what the walk saw stands then.
        """
        if self.found is None:
            return None
        word = np.array(self.found.word, dtype=np.int64)
        replayed = self.judge.replay(word)
        if replayed is not None:
            return replayed
        right = self.judge.counterexample(word, ()).expected
        return self.judge.counterexample(word, (*right[:-1], self.found.said))


def exhaustive(
    model: Model,
    machine: Automaton,
    length: int,
    progress: Progress | None = None,
    block: int | None = None,
    budget: int = BUDGET,
) -> Simulation:
    """Run every word of 1 to ``length`` letters, sharing prefixes.

    Args:
        model: The network; it runs where its parameters are.
        machine: What it should compute; letters and states are matched by name.
        length: Of the longest words.
        progress: Called after every batch.
        block: The most words in a batch; None to suit the device.
        budget: How many bytes the network's memory of the words may take; smaller
            batches are used to keep to it.

    Returns:
        Its ``words`` are Σ lettersⁱ for i from 1 to ``length`` if all of them pass.
        Otherwise its counterexample is the shortest there is, and of those the first in
        the order of the machine's letters.

    Raises:
        CheckError: If the letters differ, or the network has no room for the words.
    """
    judge = pair(model, machine, length)
    total = sum(len(machine.letters) ** i for i in range(1, length + 1))
    with torch.inference_mode():
        wanted = block or BLOCK.get(judge.tokens.device.type, BLOCK["cpu"])
        walk = _Walk(judge, length, min(wanted, _affordable(judge, length, budget)))
        while walk.stack:
            walk.advance()
            if progress is not None:
                progress(walk.words, total)
        return Simulation(walk.words, length, walk.counterexample())


def _affordable(judge: Pair, length: int, budget: int) -> int:
    """The widest block with which one block of every depth fits the budget."""
    network = judge.model.network
    before = network.start()
    after = network.step(judge.tokens[:1], before)[1]
    growth = _bytes(after) - _bytes(before)
    # The deepest block is there three times over: its parents' memory, what is selected
    # of it, and the new one.
    every = _bytes(before) * (length + 3) + growth * length * (length + 6) // 2
    return max(1, budget // max(1, every))


def _bytes(cache: Cache) -> int:
    return sum(part.numel() * part.element_size() for part in cache.parts)
