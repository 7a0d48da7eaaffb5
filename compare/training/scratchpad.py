"""A network that reads its own answers between the letters (thesis, section 3.4.5.2.3).

It reads σ₁ q₁ σ₂ q₂ … σ_T and answers at the letters. In training the qᵢ are the labels,
so that one pass teaches all positions. Afterwards they are its own answers q̂ᵢ.

**Answers without a loop over positions.** Let f map any sequence q of answers to the
answers that the network gives when it reads q. As the network is causal, f(q)ᵢ depends
on q₁ … q_{i−1} only, so f has exactly one fixed point, and that is what filling in one
answer after the other gives. If q is right before position i, then f(q) is right up to
i. So we guess q, and put f(q)ᵢ at the first position where both differ, until none is
left. Any guess will do. A good one is what the machine says, continued from the last
answer that is settled: then there are as many passes as there are answers that a machine
would not have given, and one.
"""

import torch
from torch import Tensor, nn

from algebra.errors import KrohnError
from algebra.shown import shown
from compare.models import Architecture, Inside, Network, Specification, build
from compare.tasks.task import Task


class Draft(nn.Module):
    """Guesses of answers: what a machine says, from any answer on.

    The guesses need not be right, and where several states give one answer they may
    well be wrong.
    """

    transitions: Tensor
    classes: Tensor
    states: Tensor

    def __init__(self, task: Task) -> None:
        """Take the machine of a task."""
        super().__init__()
        said = shown(task.machine, task.shows)
        state = {int(c): q for q, c in reversed(list(enumerate(said.of)))}
        some = [state.get(c, task.machine.start) for c in range(len(said.names))]
        self.start = task.machine.start
        table = torch.tensor(task.machine.transitions)
        self.register_buffer("transitions", table, persistent=False)
        self.register_buffer("classes", torch.tensor(said.of), persistent=False)
        self.register_buffer("states", torch.tensor(some), persistent=False)

    def forward(self, letters: Tensor, answers: Tensor, settled: Tensor) -> Tensor:
        """Answers that go on as the machine does.

        Args:
            letters: Letter indices ``(count, length)``.
            answers: Class indices ``(count, length)``.
            settled: How many answers of each word stay as they are, ``(count,)``.
        """
        found = answers.clone()
        state = torch.full_like(settled, self.start)
        for t in range(letters.shape[1]):
            stays = t < settled
            state = self.transitions[letters[:, t], state]
            differs = stays & (self.classes[state] != answers[:, t])
            state = torch.where(differs, self.states[answers[:, t]], state)
            found[:, t] = torch.where(stays, answers[:, t], self.classes[state])
        return found


class Scratchpad(Network):
    """A network with a scratchpad: letters in, logits of its answers out.

    Attributes:
        inner: What reads letters and answers, one after the other.
        draft: What guesses answers; it changes how long a pass takes, not its result.
    """

    def __init__(
        self, specification: Specification, inner: Network, draft: Draft
    ) -> None:
        super().__init__(specification)
        self.inner, self.draft = inner, draft
        self.longest = None if inner.longest is None else (inner.longest + 1) // 2

    def forward(self, letters: Tensor, shift: int = 0) -> Tensor:
        """Logits ``(count, length, classes)``, each after its own answers before.

        Raises:
            KrohnError: If there are no positions for words so long.
        """
        answers = self.answers(letters, shift)
        return self.taught(letters, answers, shift)

    def inside(self, letters: Tensor, shift: int = 0) -> Inside:
        """Logits and what led to them, at the letters.

        The weight on a letter is that on its own place and on that of its answer.
        """
        return self.taught_inside(letters, self.answers(letters, shift), shift)

    def layers(self) -> tuple[nn.Module, ...]:
        """Those of the network within, which has 2T − 1 places: letters at even ones."""
        return self.inner.layers()

    def taught(self, letters: Tensor, answers: Tensor, shift: int = 0) -> Tensor:
        """Logits ``(count, length, classes)`` after answers that are given."""
        logits: Tensor = self.inner(self._places(letters, answers), shift)
        return logits[:, ::2]

    def taught_inside(self, letters: Tensor, answers: Tensor, shift: int = 0) -> Inside:
        """Logits and what led to them, after answers that are given."""
        seen = self.inner.inside(self._places(letters, answers), shift)
        hidden = tuple(h[:, ::2] for h in seen.hidden)
        return Inside(seen.logits[:, ::2], hidden, tuple(map(_folded, seen.attention)))

    @torch.no_grad()
    def answers(self, letters: Tensor, shift: int = 0) -> Tensor:
        """Its own answers, class indices ``(count, length)``."""
        count, length = letters.shape
        settled = torch.zeros(count, dtype=torch.int64, device=letters.device)
        found: Tensor = self.draft(letters, torch.zeros_like(letters), settled)
        open_ = torch.arange(count, device=letters.device)
        for _ in range(length):
            said = self.taught(letters[open_], found[open_], shift).argmax(-1)
            differs = said != found[open_]
            wrong = differs.any(dim=1)
            open_, said, first = (
                open_[wrong],
                said[wrong],
                differs[wrong].int().argmax(1),
            )
            if not len(open_):
                break
            found[open_] = self._corrected(letters[open_], found[open_], said, first)
        return found

    def _corrected(
        self, letters: Tensor, found: Tensor, said: Tensor, first: Tensor
    ) -> Tensor:
        """Guesses with what was said at the first difference, and new ones after it."""
        at = first[:, None]
        better = found.scatter(1, at, said.gather(1, at))
        guessed: Tensor = self.draft(letters, better, first + 1)
        return guessed

    def _places(self, letters: Tensor, answers: Tensor) -> Tensor:
        """``(count, 2·length − 1)``: answers come after the letters in the vocabulary."""
        said = answers + self.specification.letters
        return torch.stack([letters, said], dim=-1).flatten(1)[:, :-1]


def _folded(attention: Tensor) -> Tensor:
    """Rows of letters; columns of letters with those of the answers after them."""
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
    return Scratchpad(shape, inner, Draft(task))
