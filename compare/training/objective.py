"""The objective of training: the loss of a fresh batch, with its regularisers."""

from contextlib import AbstractContextManager
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from krohn.algebra.errors import KrohnError
from krohn.compare.models.network import Inside, Network
from krohn.compare.tasks.task import Batch, Task
from krohn.compare.tasks.texts import TextTask
from krohn.compare.training.balance import draw_nested_pairs, stacks
from krohn.compare.training.random_streams import Purpose, stream
from krohn.compare.training.recipe import Recipe
from krohn.compare.training.scratchpad import Scratchpad

IGNORED = -100
"""What torch calls a label that does not enter the loss."""


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

    def __init__(self, task: Task | TextTask, recipe: Recipe, seed: int) -> None:
        """Check that the recipe applies to the task.

        Raises:
            KrohnError: If it does not.
        """
        self.task, self.recipe, self.seed = task, recipe, seed
        if isinstance(task, TextTask) and (recipe.balance or recipe.scratchpad):
            raise KrohnError(
                "texts have their steps in them: no scratchpad, no balance of brackets"
            )
        self.stacks = None
        if recipe.balance and isinstance(task, Task):
            self.stacks = stacks(task.machine)

    @property
    def longest(self) -> int:
        """The longest word, with its shift, that a network must have positions for."""
        before = 2 * self.stacks.depth if self.stacks else 0
        return max(self.recipe.reads, self.recipe.length + before) + self.recipe.shift

    def __call__(self, network: Network, step: int, device: torch.device) -> Tensor:
        """The loss of the batch of a step, a number with gradients."""
        words = stream(self.seed, step, Purpose.WORDS)
        batch = self.task.batch(words, self.recipe.batch, self.recipe.length)
        taught, shift = on_device(batch, device), self._shift(step)
        sharpening = self.recipe.sharpening
        with forward_format(self.recipe, device):
            if sharpening is None or not sharpening.strength(step):
                logits = _logits(network, taught, shift)
                return self._loss_with_balance(network, taught, logits, shift, step)
            seen = _inside(network, taught, shift)
            loss = self._loss_with_balance(network, taught, seen.logits, shift, step)
            return loss + sharpening(seen.attention, step)

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
