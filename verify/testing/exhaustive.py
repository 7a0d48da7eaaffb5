"""Every word up to a length, by a walk through the tree of their prefixes."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from krohn.algebra.automaton import Automaton
from krohn.network.cache import Cache, Grow, Tree
from krohn.network.model import Model, Network
from krohn.verify.testing.counterexample import Counterexample, Pair, differs, pair
from krohn.verify.testing.simulation_result import Progress, Simulation
from krohn.verify.testing.word_counts import words_below

# Words as the nodes of a tree of prefixes: their states, memories and next passes.


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


# Every word up to a length, by a walk through the tree of their prefixes.
#
# A causal network has the same memory of two words while they agree, so each node of
# the tree is computed once, from the memory of the node above it. A pass of the network
# covers a few generations below a batch of nodes; memory is copied only for the last of
# them, and for none if it is the last of all. The walk goes breadth first while a batch
# has room, and depth first by whole batches then; in a pass, nodes of one generation
# are in lexicographic order, so the first wrong one is its least word.


BLOCK = {"cpu": 8192, "cuda": 65536}
BUDGET = 2**30
INDEX = 8
"""The bytes of a state."""


@dataclass(frozen=True, order=True)
class _Found:
    """A wrong node, in the order of preference: shortest first, then lexicographic."""

    length: int
    word: tuple[int, ...]
    said: str


class _Walk:
    """The state of a walk: the nodes yet to be entered, and the best word found.

    Attributes:
        stack: Blocks, each with its first node and letter that are yet to be entered.
        nodes: The most nodes below one word in a pass of several generations.
        ways: By first letter, branches and generations.
    """

    def __init__(
        self, judge: Pair, network: Network, length: int, block: int, below: Word
    ) -> None:
        self.judge, self.network = judge, network
        self.length, self.block = length, block
        self.nodes = network.bushy
        self.words = 0
        self.found: _Found | None = None
        self.stack = [(_root(judge, network, below), 0, 0)]
        self.ways: dict[tuple[int, int, int], Way] = {}

    @property
    def limit(self) -> int:
        """No word longer than this one is of interest."""
        return self.length if self.found is None else self.found.length

    def advance(self) -> None:
        """Enter the nodes below as many nodes of the next block as fit a batch."""
        above, row, first = self.stack.pop()
        if above.depth >= self.limit:
            return
        entered, way = self._next(above, row, first)
        logits, grow = self.network.branch(way.tokens, entered.cache, way.tree)
        now = above.states[row : row + entered.rows]
        answers = way.answers[now]
        logits = logits.expand(*answers.shape, -1)
        wrong = differs(logits, answers)
        if wrong is not None and self._alone(logits, way.tree):
            self.stack.append((above, row, first))
            return
        self._leave(entered)
        self.words += entered.rows * way.tree.nodes
        if wrong is not None:
            self._note(entered, logits, wrong)
        depth = above.depth + way.tree.generations
        if depth < self.limit:
            states = way.states[now, -way.tree.sizes[-1] :].flatten()
            self.stack.append((Block(grow, states, entered, depth), 0, 0))

    def _next(self, above: Block, row: int, first: int) -> tuple[Pass, Way]:
        letters = len(self.judge.machine.letters)
        width = min(self.block, letters - first)
        generations = self._generations(above.depth) if width == letters else 1
        way, rows = self._way(first, width, generations), 1
        if width == letters:
            rows = min(self.block // way.tree.nodes, len(above.states) - row)
        return Pass(above, row, rows, first, way.tree), way

    def _generations(self, depth: int) -> int:
        """How many generations to enter below a node; the last pass is as large as any."""
        letters, most = len(self.judge.machine.letters), min(self.nodes, self.block)
        generations = 1
        while Tree(letters, generations + 1).nodes <= most:
            generations += 1
        return (self.limit - depth - 1) % generations + 1

    def _alone(self, logits: Tensor, tree: Tree) -> bool:
        """Whether to go on by single generations: infinite numbers or NaN spoil others."""
        if tree.generations == 1 or bool(logits.isfinite().all()):
            return False
        self.nodes = 1
        return True

    def _leave(self, entered: Pass) -> None:
        """Put aside the rest of the block beside a pass, to come back later."""
        above, row = entered.above, entered.row + entered.rows
        letter = entered.first + entered.tree.branches
        if letter < len(self.judge.machine.letters):
            self.stack.append((above, entered.row, letter))
        elif row < len(above.states):
            self.stack.append((above, row, 0))

    def _way(self, first: int, branches: int, generations: int) -> Way:
        """The effect of a tree of letters, from a letter on; each is worked out once."""
        key = first, branches, generations
        if key not in self.ways:
            self.ways[key] = way_of(self.judge, first, Tree(branches, generations))
        return self.ways[key]

    def _note(self, entered: Pass, logits: Tensor, wrong: Tensor) -> None:
        """Remember the first wrong node of the first generation that has one."""
        sizes = entered.tree.sizes
        by = zip(
            torch.split(wrong, sizes, 1), torch.split(logits, sizes, 1), strict=True
        )
        for generation, (bad, answers) in enumerate(by, start=1):
            if bool(bad.any()):
                node = int(bad.flatten().int().argmax())
                answer = self.judge.answer_names(
                    answers.flatten(0, 1)[node : node + 1]
                )[0]
                word = entered.word(generation, node)
                failure = _Found(len(word), word, answer)
                self.found = failure if self.found is None else min(self.found, failure)
                return

    def counterexample(self) -> Counterexample | None:
        """The best word found, replayed by itself.

        A network so near a tie that it is wrong only among other words passes the
        replay; the answer in the walk is returned then, and marked.
        """
        if self.found is None:
            return None
        word = np.array(self.found.word, dtype=np.int64)
        replayed = self.judge.replay(word)
        if replayed is not None:
            return replayed
        answers = (*self.judge.expected_answers(word)[:-1], self.found.said)
        return self.judge.counterexample(word, answers, "among others")


def _root(judge: Pair, network: Network, word: Word) -> Block:
    cache, state = network.start(), judge.machine.start
    for letter in word:
        cache = network.step(judge.tokens[letter : letter + 1], cache)[1]
        state = int(judge.machine.transitions[letter, state])
    states = torch.tensor([state], device=judge.tokens.device)
    return Block(lambda _, __: cache, states, depth=len(word), root=word)


def exhaustive(
    model: Model,
    machine: Automaton,
    length: int,
    progress: Progress | None = None,
    block: int | None = None,
    budget: int = BUDGET,
    below: tuple[int, ...] = (),
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
        below: Letters of the machine: only words that go on from these are run.

    Returns:
        Its ``words`` are Σ lettersⁱ for i from 1 to ``length`` if all of them pass, and
        up to ``length − len(below)`` if they go on from a word.
        Otherwise its counterexample is the shortest there is, and of those the first in
        the order of the machine's letters.

    Raises:
        CheckError: If the letters differ, or the network has no room for the words.
    """
    judge = pair(model, machine, length)
    total = words_below(len(machine.letters), length - len(below))
    with torch.inference_mode():
        wanted = block or BLOCK.get(judge.tokens.device.type, BLOCK["cpu"])
        most = min(wanted, _affordable(judge, model.network, length, budget))
        walk = _Walk(judge, model.network, length, most, below)
        while walk.stack:
            walk.advance()
            if progress is not None:
                progress(walk.words, total)
        counterexample = walk.counterexample()
        return Simulation(walk.words, length, counterexample, every=not below)


def _affordable(judge: Pair, network: Network, length: int, budget: int) -> int:
    """The widest block with which one block of every depth and a pass fit the budget."""
    before = network.start()
    after = network.step(judge.tokens[:1], before)[1]
    start, growth = _bytes(before), _bytes(after) - _bytes(before)
    # Of every depth there is the memory of the words of one pass, each with as many nodes
    # as there are letters at least; of the deepest also what it is selected from.
    words = start * (length + 2) + growth * length * (length + 5) // 2
    every = -(-words // len(judge.machine.letters))
    # Every node has its own part of that, or all of it; states; and room in a pass.
    every += length * ((growth or start) + INDEX) + 4 * INDEX
    every += next(network.parameters()).element_size() * network.scratch(length + 1)
    return max(1, budget // max(1, every))


def _bytes(cache: Cache) -> int:
    return sum(part.numel() * part.element_size() for part in cache.parts)
