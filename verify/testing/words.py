"""Words as the nodes of a tree of prefixes: their states, memories and next passes."""

from dataclasses import dataclass

import torch
from torch import Tensor

from krohn.network.cache import Cache, Grow, Tree
from krohn.verify.testing.counterexample import Pair

Word = tuple[int, ...]


@dataclass(frozen=True)
class Block:
    """Nodes of one depth, in lexicographic order.

    Attributes:
        grow: Makes the network's memory of some of their words.
        states: ``(nodes,)``: the states of the machine.
        origin: The pass of which they are the last generation; None for the root.
        depth: The length of the words.
        root: The word of the root.
    """

    grow: Grow
    states: Tensor
    origin: "Pass | None" = None
    depth: int = 0
    root: Word = ()

    def word(self, node: int) -> Word:
        """The letters of a node."""
        if self.origin is None:
            return self.root
        return self.origin.word(self.origin.tree.generations, node)


@dataclass(frozen=True)
class Pass:
    """Some nodes of a block, and all words by which a tree of letters continues them.

    Attributes:
        above: The block.
        row: The first of its nodes.
        rows: How many of them.
        first: The letter of a first branch; the others follow.
        tree: What stands below each node.
    """

    above: Block
    row: int
    rows: int
    first: int
    tree: Tree

    @property
    def cache(self) -> Cache:
        """The network's memory of the nodes' words."""
        return self.above.grow(self.row, self.row + self.rows)

    def word(self, generation: int, node: int) -> Word:
        """The letters of a node of a generation, counted from 1."""
        letters: list[int] = []
        for _ in range(generation):
            node, branch = divmod(node, self.tree.branches)
            letters.append(self.first + branch)
        return (*self.above.word(self.row + node), *reversed(letters))


@dataclass(frozen=True)
class Way:
    """The effect of the letters of a tree on a machine.

    Attributes:
        tree: The shape of the tree.
        tokens: ``(branches,)``: the network's letters.
        states: ``(states, nodes)``: the state at each node, from each state.
        answers: ``(states, nodes)``: the class that the network is to say there.
    """

    tree: Tree
    tokens: Tensor
    states: Tensor
    answers: Tensor


def way_of(judge: Pair, first: int, tree: Tree) -> Way:
    """The effect of a tree of letters, from a letter of the machine on."""
    device = judge.table.device
    onward = judge.table[first : first + tree.branches].T
    now = torch.arange(judge.table.shape[1], device=device)[:, None]
    generations = []
    for _ in range(tree.generations):
        now = onward[now].flatten(1)
        generations.append(now)
    states = torch.cat(generations, dim=1)
    tokens = judge.tokens[first : first + tree.branches]
    return Way(tree, tokens, states, judge.answers[states])
