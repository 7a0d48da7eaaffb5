"""Block chain of thought: a network that reads its own answer after every b letters.

Hu et al. 2024, section 4.4, leaves open how an answer is fed back. Here a linear map of
it is added to the embedding of the letter after the block. Gradients stop at the answer.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from krohn.algebra.errors import KrohnError
from krohn.compare.models import (
    Architecture,
    Gpt,
    Inside,
    Network,
    Specification,
    build,
)
from krohn.compare.tasks.beliefs import BeliefTask


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
                said = logits[:, -1:].float()
                law = said.softmax(dim=-1) if self.probabilities else said
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
