"""A network that reads its own answers between the letters (thesis, section 3.4.5.2.3).

It reads σ₁ q₁ σ₂ q₂ … σ_T and answers at the letters. In training the qᵢ are the labels,
so that one pass teaches all positions. Afterwards they are its own answers q̂ᵢ, one after
the other, with a memory of the letters read.
"""

import torch
from torch import Tensor, nn

from krohn.algebra.errors import KrohnError
from krohn.compare.models import Architecture, Inside, Network, Specification, build
from krohn.compare.tasks.task import Task


class Scratchpad(Network):
    """A network with a scratchpad: letters in, logits of its answers out.

    Attributes:
        inner: What reads letters and answers, one after the other.
    """

    def __init__(self, specification: Specification, inner: Network) -> None:
        super().__init__(specification)
        self.inner = inner
        self.longest = None if inner.longest is None else (inner.longest + 1) // 2

    def forward(self, letters: Tensor, shift: int = 0) -> Tensor:
        """Logits ``(count, length, classes)``, each after its own answers before.

        Raises:
            KrohnError: If there are no positions for words so long.
        """
        read, memory, found = letters[:, :1], None, []
        for t in range(letters.shape[1]):
            logits, memory = self.inner.further(read, memory, shift)
            found.append(logits[:, -1])
            said = found[t].argmax(dim=-1, keepdim=True) + self.specification.letters
            read = torch.cat([said, letters[:, t + 1 : t + 2]], dim=1)
        return torch.stack(found, dim=1)

    def inside(self, letters: Tensor, shift: int = 0) -> Inside:
        """Logits and the states before them, at the letters, after its own answers.

        The weight on a letter is the sum of the weights on its place and on its answer's.
        """
        with torch.no_grad():
            answers = self(letters, shift).argmax(dim=-1)
        return self.taught_inside(letters, answers, shift)

    def layers(self) -> tuple[nn.Module, ...]:
        """The layers of the inner network; of its 2T − 1 places, even ones are letters."""
        return self.inner.layers()

    def logits_after_answers(
        self, letters: Tensor, answers: Tensor, shift: int = 0
    ) -> Tensor:
        """Logits ``(count, length, classes)`` after answers that are given."""
        logits: Tensor = self.inner(self._places(letters, answers), shift)
        return logits[:, ::2]

    def taught_inside(self, letters: Tensor, answers: Tensor, shift: int = 0) -> Inside:
        """Logits and the states before them, after answers that are given."""
        seen = self.inner.inside(self._places(letters, answers), shift)
        hidden = tuple(h[:, ::2] for h in seen.hidden)
        return Inside(
            seen.logits[:, ::2], hidden, tuple(map(_fold_answers, seen.attention))
        )

    def _places(self, letters: Tensor, answers: Tensor) -> Tensor:
        """``(count, 2·length − 1)``: answers come after the letters in the vocabulary."""
        said = answers + self.specification.letters
        return torch.stack([letters, said], dim=-1).flatten(1)[:, :-1]


def _fold_answers(attention: Tensor) -> Tensor:
    """Rows of letters; each letter's column plus the column of the answer after it."""
    rows = attention[..., ::2, :]
    folded = rows[..., ::2].clone()
    folded[..., :-1] += rows[..., 1::2]
    return folded


def scratchpad(
    task: Task, architecture: Architecture, longest: int, seed: int
) -> Scratchpad:
    """A network with a scratchpad and fresh weights.

    Args:
        task: What it is to learn.
        architecture: Of the network within; recency bias is its ``positions="alibi"``.
        longest: The longest word, with its shift, that positions are made for.
        seed: Of the weights.

    Raises:
        KrohnError: If not every letter of the task has a label that is taught.
    """
    if task.predicts == "next" or task.asked is not None or task.reveal < 1:
        raise KrohnError(
            f"a scratchpad holds an answer after each letter, and {task.name} does not "
            "teach all of them; train without it"
        )
    letters, classes = len(task.letters), len(task.classes)
    inner = build(architecture, letters + classes, classes, 2 * longest, seed)
    shape = Specification(architecture, letters, classes, longest)
    return Scratchpad(shape, inner)
