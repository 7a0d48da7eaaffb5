"""The objective of training, and networks that read their own answers."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models import (
    Architecture,
    Specification,
    build,
)
from krohn.instruments.compare.models.network import (
    Inside,
    Network,
    RecurrentLayerNetwork,
)
from krohn.instruments.compare.tasks.letters import Varied
from krohn.instruments.compare.tasks.task import (
    Batch,
    Task,
)
from krohn.instruments.compare.tasks.texts import TextTask
from krohn.instruments.compare.training.provenance import (
    Purpose,
    stream,
)
from krohn.instruments.compare.training.recipe import (
    Recipe,
    Steadiness,
    draw_nested_pairs,
    stacks,
)

# A network that reads its own answers between the letters (thesis, section 3.4.5.2.3).
#
# It reads σ₁ q₁ σ₂ q₂ … σ_T and answers at the letters. In training the qᵢ are the
# labels, so that one pass teaches all positions. Afterwards they are its own answers
# q̂ᵢ, one after the other, with a memory of the letters read.


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
        read, memory, all_logits = letters[:, :1], None, []
        for t in range(letters.shape[1]):
            logits, memory = self.inner.further(read, memory, shift)
            all_logits.append(logits[:, -1])
            answer = (
                all_logits[t].argmax(dim=-1, keepdim=True) + self.specification.letters
            )
            read = torch.cat([answer, letters[:, t + 1 : t + 2]], dim=1)
        return torch.stack(all_logits, dim=1)

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
        answer_tokens = answers + self.specification.letters
        return torch.stack([letters, answer_tokens], dim=-1).flatten(1)[:, :-1]


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


# The objective of training: the loss of a fresh batch, with its regularisers.


IGNORED = -100
"""The label that torch leaves out of the loss."""


@dataclass(frozen=True)
class DeviceBatch:
    """A batch on the device; ``(count, length)``, int64.

    Attributes:
        letters: Letter indices.
        labels: Class indices, also where they do not enter the loss.
        trained: Class indices where they enter the loss, else `IGNORED`.
        many: How many enter it.
    """

    letters: Tensor
    labels: Tensor
    trained: Tensor
    many: int

    def after(self, count: int, rows: Tensor) -> "DeviceBatch":
        """Words behind their first letters; for some rows that rest enters the loss."""
        letters, labels, trained = (
            x[:, count:] for x in (self.letters, self.labels, self.trained)
        )
        trained = trained.masked_fill(~rows[:, None], IGNORED)
        return DeviceBatch(letters, labels, trained, int((trained != IGNORED).sum()))

    def twice(self) -> "DeviceBatch":
        """The batch with a second copy of its words behind them."""
        letters, labels, trained = (
            x.repeat(2, 1) for x in (self.letters, self.labels, self.trained)
        )
        return DeviceBatch(letters, labels, trained, 2 * self.many)


def on_device(batch: Batch, device: torch.device) -> DeviceBatch:
    """A batch, brought to where the network is."""
    letters, labels = torch.tensor(batch.letters), torch.tensor(batch.labels)
    trained = labels.masked_fill(~torch.tensor(batch.trained), IGNORED)
    letters, labels, trained = (
        x.to(device, non_blocking=True) for x in (letters, labels, trained)
    )
    return DeviceBatch(letters, labels, trained, int(batch.trained.sum()))


def mean_loss(logits: Tensor, taught: DeviceBatch) -> Tensor:
    """The mean cross-entropy over positions whose label is revealed; 0 if none is.

    Logits ``(count, length, classes)`` of any format are added up in float32.
    """
    summed = cross_entropy(
        logits.float().flatten(0, 1),
        taught.trained.flatten(),
        ignore_index=IGNORED,
        reduction="sum",
    )
    return summed / max(taught.many, 1)


class Objective:
    """The loss of a step: a function of the weights, the seed and the step."""

    def __init__(self, task: Any, recipe: Recipe, seed: int) -> None:
        """Check that the recipe applies to the task.

        Raises:
            KrohnError: If it does not.
        """
        self.task, self.recipe, self.seed = task, recipe, seed
        self.taught, self.stacks = task, None
        if recipe.steadiness is not None:
            self.taught = replace(task, inputs=Varied(task.inputs))
        if recipe.balance:
            self.stacks = stacks(task.machine)

    @property
    def longest(self) -> int:
        """The longest word, with its shift, that a network must have positions for."""
        before = 2 * self.stacks.depth if self.stacks else 0
        return max(self.recipe.reads, self.recipe.length + before) + self.recipe.shift

    def network(self, architecture: Architecture) -> Network:
        """A network with fresh weights, and a scratchpad if the recipe has one.

        Raises:
            KrohnError: If there is no such network for the task.
        """
        if self.recipe.scratchpad:
            return scratchpad(self.task, architecture, self.longest, self.seed)
        letters, classes = len(self.task.letters), len(self.task.classes)
        return build(architecture, letters, classes, self.longest, self.seed)

    def __call__(self, network: Network, step: int, device: torch.device) -> Tensor:
        """The loss of the batch of a step, a number with gradients."""
        words = stream(self.seed, step, Purpose.WORDS)
        if self.recipe.steadiness is not None:
            return self._steady(network, self.recipe.steadiness, step, words, device)
        batch = self.taught.batch(words, self.recipe.batch, self.recipe.length)
        taught, shift = on_device(batch, device), self._shift(step)
        sharpening = self.recipe.sharpening
        with forward_format(self.recipe, device):
            if sharpening is None or not sharpening.strength(step):
                logits = _logits(network, taught, shift)
                return self._loss_with_balance(network, taught, logits, shift, step)
            seen = _inside(network, taught, shift)
            loss = self._loss_with_balance(network, taught, seen.logits, shift, step)
            return loss + sharpening(seen.attention, step)

    def _steady(
        self,
        network: Network,
        how: Steadiness,
        step: int,
        rng: np.random.Generator,
        device: torch.device,
    ) -> Tensor:
        """The loss of words that are read without noise and with it."""
        recipe, passed = self.recipe, step / self.recipe.steps
        before = how.read_before(passed, rng)
        length = how.length(passed, recipe.length)
        # As many letters in each batch, so that more words are seen while they are short.
        count = recipe.batch * recipe.length // length
        batch = self.taught.batch(rng, count, before + length)
        taught, memory = on_device(batch, device), None
        if before and isinstance(network, RecurrentLayerNetwork):
            memory, last_logits = network.compute_memory(taught.letters[:, :before])
            right = last_logits.argmax(dim=-1) == taught.labels[:, before - 1]
            taught = taught.after(before, right)
        logits, term = how(network, taught.letters, passed, memory)
        return mean_loss(logits, taught.twice()) + term

    def evaluate(
        self, network: Network, step: int, device: torch.device
    ) -> tuple[float, None]:
        """The share of right answers to fresh words of the length of training."""
        rng = stream(self.seed, step, Purpose.EVALUATION)
        words = self.task.batch(rng, self.recipe.probe, self.recipe.length)
        letters, labels, asked = (
            torch.tensor(a).to(device)
            for a in (words.letters, words.labels, words.asked)
        )
        with forward_format(self.recipe, device):
            logits = network(letters)
        return accuracy(logits, labels, asked), None

    def _shift(self, step: int) -> int:
        """Where positions begin in this batch (thesis, section 3.4.5.2.3)."""
        if not self.recipe.shift:
            return 0
        drawn = stream(self.seed, step, Purpose.SHIFT)
        return int(drawn.integers(self.recipe.shift + 1))

    def _loss_with_balance(
        self,
        network: Network,
        taught: DeviceBatch,
        logits: Tensor,
        shift: int,
        step: int,
    ) -> Tensor:
        loss = mean_loss(logits, taught)
        if self.recipe.balance is None or self.stacks is None:
            return loss
        front = draw_nested_pairs(
            self.stacks,
            stream(self.seed, step, Purpose.REGULARISER),
            self.recipe.batch,
        )
        return loss + self.recipe.balance(network, taught.letters, logits, front, shift)


class TextObjective(Objective):
    """The loss of the next token of texts, which takes no regularisers."""

    def __init__(self, task: TextTask, recipe: Recipe, seed: int) -> None:
        """Check that the recipe applies to texts.

        Raises:
            KrohnError: If it does not.
        """
        if recipe.balance or recipe.scratchpad or recipe.steadiness:
            raise KrohnError(
                "texts have their steps in them: no scratchpad, no balance of brackets, "
                "no noise"
            )
        super().__init__(task, recipe, seed)


def _logits(network: Network, taught: DeviceBatch, shift: int) -> Tensor:
    if isinstance(network, Scratchpad):
        return network.logits_after_answers(taught.letters, taught.labels, shift)
    logits: Tensor = network(taught.letters, shift)
    return logits


def _inside(network: Network, taught: DeviceBatch, shift: int) -> Inside:
    if isinstance(network, Scratchpad):
        return network.taught_inside(taught.letters, taught.labels, shift)
    return network.inside(taught.letters, shift)


def forward_format(
    recipe: Recipe, device: torch.device
) -> AbstractContextManager[object]:
    """The number format of forward passes; weights and losses stay in float32."""
    half = recipe.format == "bfloat16"
    return torch.autocast(device.type, torch.bfloat16, enabled=half)


def accuracy(logits: Tensor, labels: Tensor, asked: Tensor) -> float:
    """The share of right answers where one is asked for; ties and NaN are none.

    Args:
        logits: ``(count, length, classes)``.
        labels: Class indices ``(count, length)``.
        asked: Booleans ``(count, length)``.

    Raises:
        KrohnError: If none is asked for.
    """
    many = int(asked.sum())
    if not many:
        raise KrohnError("these words ask for no answer; ask after other letters")
    largest = logits == logits.amax(dim=-1, keepdim=True)
    chosen = largest.gather(-1, labels[..., None])[..., 0]
    clear = (largest.sum(dim=-1) == 1) & logits.isfinite().all(dim=-1)
    return int((chosen & clear & asked).sum()) / many
