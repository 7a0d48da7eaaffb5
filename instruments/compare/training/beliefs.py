"""Training on beliefs, and block chains of thought."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import ceil, log2
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.measures.beliefs import (
    THRESHOLDS,
    Errors,
    by_position,
    distances,
)
from krohn.instruments.compare.models import (
    Architecture,
    Gpt,
    Inside,
    Specification,
    build,
)
from krohn.instruments.compare.models.network import Network
from krohn.instruments.compare.tasks.beliefs import BeliefTask
from krohn.instruments.compare.training.objective import forward_format
from krohn.instruments.compare.training.provenance import (
    Purpose,
    stream,
)
from krohn.instruments.compare.training.recipe import Recipe
from krohn.network.precision import FloatArray

# Training on beliefs: its loss, its measure, and words that double in length.


@dataclass(frozen=True)
class BeliefRecipe(Recipe):
    """How a network is trained on beliefs.

    Attributes:
        stages: The lengths of training words, each for as many steps, the last for the
            remaining steps; empty for `length` all the time. Evaluations are at `length`.
        block: After so many letters the network reads its own answer (block chain of
            thought, section 4.4); 0 for never.

    Raises:
        KrohnError: If a number makes no sense, or a regulariser is asked for.
    """

    stages: tuple[int, ...] = ()
    block: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(not 1 <= stage <= self.length for stage in self.stages):
            raise KrohnError(f"stages are words of 1 to {self.length} letters")
        if len(self.stages) > self.steps:
            raise KrohnError(
                f"words have {len(self.stages)} lengths one after the other, and "
                f"{self.steps} steps are too few; say --steps {len(self.stages)} or more"
            )
        if self.block < 0:
            raise KrohnError(f"a block has at least one letter, not {self.block}")
        if self.scratchpad or self.sharpening or self.balance or self.shift:
            raise KrohnError(
                "training on beliefs takes no scratchpad and no regulariser"
            )

    def for_trial(self, steps: int) -> tuple[Self, tuple[int, ...]]:
        """A recipe of a few steps of each stage, and how many steps each stage has."""
        counts = Counter(map(self.length_at, range(self.steps)))
        recipe = replace(self, stages=tuple(counts), steps=max(self.steps, len(counts)))
        short, _ = super(BeliefRecipe, recipe).for_trial(steps * len(counts))
        return short, tuple(counts.values())

    def length_at(self, step: int) -> int:
        """How many letters the words of a step have, counted from 0."""
        if not self.stages:
            return self.length
        each = self.steps // len(self.stages)
        return self.stages[min(step // each, len(self.stages) - 1)]


def doubling(depth: int, longest: int) -> tuple[int, ...]:
    """The curriculum of section 4.2: words of 2^L letters for L blocks, then doubled.

    For words of 120 letters these are 8 − L stages.

    Args:
        depth: L, the blocks of the Transformer.
        longest: The length of words in the end.
    """
    stages = max(1, ceil(log2(longest)) - depth + 1)
    return tuple(min(longest, 2 ** (depth + i)) for i in range(stages))


class BeliefObjective:
    """The loss of a step, and errors on fresh words: functions of seed and step."""

    def __init__(self, task: BeliefTask, recipe: Recipe, seed: int) -> None:
        """Check that the recipe is one for beliefs.

        Raises:
            KrohnError: If it is not.
        """
        if not isinstance(recipe, BeliefRecipe):
            raise KrohnError(
                f"{task.name} asks for vectors; its recipe is a BeliefRecipe"
            )
        self.task, self.recipe, self.seed = task, recipe, seed

    def network(self, architecture: Architecture) -> Network:
        """A network with fresh weights, which reads its answers if the recipe says so.

        Raises:
            KrohnError: If there is no such network for the task.
        """
        if self.recipe.block:
            block = self.recipe.block
            return block_chain(self.task, architecture, block, self.longest, self.seed)
        letters, classes = len(self.task.letters), len(self.task.classes)
        return build(architecture, letters, classes, self.longest, self.seed)

    @property
    def longest(self) -> int:
        """The longest word that a network must have positions for."""
        return self.recipe.reads

    def __call__(self, network: Network, step: int, device: torch.device) -> Tensor:
        """Mean cross entropy to the labels; mean square error if they are no laws."""
        words = stream(self.seed, step, Purpose.WORDS)
        length = self.recipe.length_at(step)
        read, labels = self.task.lesson(words, self.recipe.batch, length)
        letters = torch.tensor(read).to(device)
        wanted = torch.tensor(labels, dtype=torch.float32).to(device)
        with forward_format(self.recipe, device):
            answers = network(letters)
        flat = answers.float().flatten(0, 1), wanted.flatten(0, 1)
        return cross_entropy(*flat) if self.task.probabilities else mse_loss(*flat)

    def evaluate(
        self, network: Network, step: int, device: torch.device
    ) -> tuple[float, Errors]:
        """The share of outputs within 0.05 of the truth, and el_t, on fresh words."""
        rng = stream(self.seed, step, Purpose.EVALUATION)
        words = self.task.batch(rng, self.recipe.probe, self.recipe.length)
        with forward_format(self.recipe, device):
            predictions = outputs(network, self.task, words.letters)
        off = distances(predictions, words.truth, self.task.probabilities)
        near = (off < THRESHOLDS[0])[words.asked]
        share = float(near.mean()) if near.size else 0.0
        return share, by_position(off, words.asked)


def outputs(network: Network, task: BeliefTask, letters: np.ndarray) -> FloatArray:
    """The outputs ``(count, length, classes)`` of a network, as laws if they are."""
    device = next(network.parameters()).device
    with torch.no_grad():
        logits = network(torch.tensor(letters).to(device)).double()
    laws = logits.softmax(dim=-1) if task.probabilities else logits
    array: FloatArray = laws.cpu().numpy()
    return array


# Block chain of thought: a network that reads its own answer after every b letters.
#
# Hu et al. 2024, section 4.4, leaves open how an answer is fed back. Here a linear map of
# it is added to the embedding of the letter after the block. Gradients stop at the
# answer.


class BlockChain(Network):
    """A Transformer in blocks of b letters: ⌈T/b⌉ passes, each over one block.

    Attributes:
        inner: The Transformer.
        fed: The map from an answer to the summand of an embedding.
        block: b.
        probabilities: Whether answers are laws: the softmax of its output is fed back.
    """

    def __init__(
        self,
        specification: Specification,
        inner: Network,
        width: int,
        block: int,
        probabilities: bool,
    ) -> None:
        super().__init__(specification)
        self.inner, self.block, self.probabilities = inner, block, probabilities
        self.fed = nn.Linear(specification.classes, width, bias=False)
        self.longest = inner.longest

    def forward(self, letters: Tensor, shift: int = 0) -> Tensor:
        """Logits ``(count, length, classes)``: one more pass with the answers fed back."""
        with self._feed_back(self.answers(letters)):
            logits: Tensor = self.inner(letters, shift)
        return logits

    def inside(self, letters: Tensor, shift: int = 0) -> Inside:
        """Logits and the states before them, in the pass with the answers fed back."""
        with self._feed_back(self.answers(letters)):
            return self.inner.inside(letters, shift)

    def layers(self) -> tuple[nn.Module, ...]:
        """The layers of the Transformer."""
        return self.inner.layers()

    def answers(self, letters: Tensor) -> Tensor:
        """``(count, ⌈length/b⌉ − 1, classes)``: its answers after whole blocks."""
        training, memory = self.training, None
        count, classes = len(letters), self.specification.classes
        answers = torch.zeros(count, 0, classes, device=letters.device)
        self.inner.eval()  # an answer with dropout would be another one
        with torch.no_grad():
            for start in range(0, letters.shape[1] - self.block, self.block):
                part = letters[:, start : start + self.block]
                with self._feed_back(answers[:, -1:], first=bool(start)):
                    logits, memory = self.inner.further(part, memory)
                last_logits = logits[:, -1:].float()
                law = last_logits.softmax(dim=-1) if self.probabilities else last_logits
                answers = torch.cat([answers, law], dim=1)
        self.inner.train(training)
        return answers

    @contextmanager
    def _feed_back(self, answers: Tensor, first: bool = False) -> Iterator[None]:
        """Add answers to embeddings: at the first place, or after one block and on."""
        begin = 0 if first else self.block

        def add(module: nn.Module, arguments: object, stream: Tensor) -> Tensor:
            added = torch.zeros_like(stream)
            added[:, begin :: self.block][:, : answers.shape[1]] = self.fed(answers)
            return stream + added

        handle = self.inner.layers()[0].register_forward_hook(add)
        try:
            yield
        finally:
            handle.remove()


def block_chain(
    task: BeliefTask, architecture: Architecture, block: int, longest: int, seed: int
) -> BlockChain:
    """A network with block chain of thought and fresh weights.

    Raises:
        KrohnError: If it is no Transformer.
    """
    if not isinstance(architecture, Gpt):
        raise KrohnError("block chain of thought is for Transformers")
    shape = Specification(architecture, len(task.letters), len(task.classes), longest)
    inner = build(architecture, shape.letters, shape.classes, longest, seed)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return BlockChain(shape, inner, architecture.width, block, task.probabilities)
