"""A network in training: weights, their average, the optimiser, and the evaluations."""

import math
import time
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models.network import Network
from krohn.instruments.compare.training.provenance import dropout_seed
from krohn.instruments.compare.training.recipe import Recipe

Outcome = Literal["finished", "early", "diverged"]
Report = Callable[[int, int], None]
Errors = tuple[float | None, ...]
"""The mean error at each position; None where no answer is asked for."""


class Goal(Protocol):
    """The loss that training makes small, and the evaluation on the way."""

    @property
    def recipe(self) -> Recipe:
        """How it is made small."""

    @property
    def seed(self) -> int:
        """The seed of words, and of all other random numbers."""

    def __call__(self, network: Network, step: int, device: torch.device) -> Tensor:
        """The loss of the batch of a step, a number with gradients."""

    def evaluate(
        self, network: Network, step: int, device: torch.device
    ) -> tuple[float, Errors | None]:
        """The share of right answers to fresh words, and the error by position."""


@dataclass(frozen=True)
class Evaluation:
    """The figures of one evaluation.

    Attributes:
        step: How many batches the network had learnt from.
        loss: The mean loss of the batches since the evaluation before.
        accuracy: Of the averaged network on fresh words, where an answer is asked for.
        seconds: Of training until then, in all sittings.
        errors: Of beliefs, by position; None where answers are right or wrong.
    """

    step: int
    loss: float
    accuracy: float
    seconds: float
    errors: Errors | None = None

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Self:
        """The evaluation that JSON states."""
        errors = said.get("errors")
        return cls(**{**said, "errors": None if errors is None else tuple(errors)})


class Trainer:
    """A run between two steps; each step is a function of this, the seed and its number.

    Torch's generator, which dropout draws from, is seeded before each step: so nothing
    of it has to be kept, and it does not matter on what device, or after how many
    evaluations, a run goes on.

    Attributes:
        network: The network in training.
        average: The network that is measured.
        optimiser: AdamW with all its state.
        step: How many batches it has learnt from.
        total: The losses since the last evaluation, added up.
        history: The evaluations.
        seconds: Of training, in all sittings.
    """

    def __init__(self, objective: Goal, network: Network, device: str) -> None:
        """Start before the first step.

        Raises:
            KrohnError: If nothing of the network can be trained, or a regulariser has
                nothing to work on.
        """
        self.device = torch.device(device)
        self.objective, self.recipe = objective, objective.recipe
        self.network = network.to(self.device)
        self.average = Average(self.network, self.recipe.average)
        self.weights = [p for p in network.parameters() if p.requires_grad]
        if not self.weights:
            raise KrohnError("no weight of this network is free to change")
        self._check_attention()
        self.optimiser = torch.optim.AdamW(
            self.weights,
            betas=self.recipe.betas,
            weight_decay=self.recipe.weight_decay,
            fused=True,  # a third of the time of the default on a CPU
        )
        self.step, self.history, self.seconds = 0, list[Evaluation](), 0.0
        self.total = torch.zeros((), device=self.device)

    def _check_attention(self) -> None:
        if self.recipe.sharpening is None:
            return
        with torch.no_grad():
            seen = self.network.inside(
                torch.zeros(1, 1, dtype=torch.int64).to(self.device)
            )
        if not seen.attention:
            raise KrohnError("a network without attention has none to sharpen")

    @property
    def outcome(self) -> Outcome | None:
        """How the run ended; None if it goes on.

        Raises no error where a loss is not a number: that is a result.
        """
        last = self.history[-1] if self.history else None
        if last is not None and not math.isfinite(last.loss):
            return "diverged"
        goal = self.recipe.stop_at
        if last is not None and goal is not None and last.accuracy >= goal:
            return "early"
        return "finished" if self.step == self.recipe.steps else None

    def advance(self) -> None:
        """One step, and an evaluation if it is time for one."""
        began = time.perf_counter()
        self._update()
        if self.step % self.recipe.every == 0 or self.step == self.recipe.steps:
            self._evaluate(began)
        else:
            self.seconds += time.perf_counter() - began

    def _update(self) -> None:
        torch.manual_seed(dropout_seed(self.objective.seed, self.step))
        self.optimiser.param_groups[0]["lr"] = rate(self.recipe, self.step)
        loss = self.objective(self.network, self.step, self.device)
        self.optimiser.zero_grad()
        torch.autograd.backward(loss)
        if self.recipe.clip is not None:
            clip_grad_norm_(self.weights, self.recipe.clip)
        self.optimiser.step()
        self.average.follow()
        self.total += loss.detach()
        self.step += 1

    def _evaluate(self, began: float) -> None:
        """Note the loss since the last evaluation and the accuracy now."""
        before = self.history[-1].step if self.history else 0
        loss = float(self.total) / (self.step - before)
        network = self.average.network.eval()
        with torch.no_grad():
            share, errors = self.objective.evaluate(network, self.step, self.device)
        self.network.train()
        self.total.zero_()
        self.seconds += time.perf_counter() - began
        point = Evaluation(self.step, loss, share, self.seconds, errors)
        self.history.append(point)


def rate(recipe: Recipe, step: int) -> float:
    """The learning rate of a step, counted from 0.

    It rises in equal parts over the warm-up, which ends at the highest rate, and then
    falls so that the step after the last one would have 0 (thesis, section 3.5.6.2); or
    it is halved after each fifth of all steps (Hu et al. 2024, App. C).
    """
    if step < recipe.warmup:
        return recipe.rate * (step + 1) / recipe.warmup
    left = recipe.steps - recipe.warmup
    passed = (step - recipe.warmup) / left
    shares = {
        "constant": 1.0,
        "linear": 1 - passed,
        "cosine": (1 + math.cos(math.pi * passed)) / 2,
        "halving": 0.5 ** (5 * step // recipe.steps),
    }
    return recipe.rate * shares[recipe.decay]


class Average:
    """A copy of a network whose weights follow those of the network.

    Attributes:
        network: The copy; the network itself if there is nothing to average.
    """

    def __init__(self, network: Network, decay: float) -> None:
        """Start at the weights of the network.

        Args:
            network: What is trained.
            decay: How much of the average stays at each step (thesis: 0.9); 0 for none.
        """
        self.decay = decay
        self.network = deepcopy(network) if decay else network
        for module in self.network.modules():
            if isinstance(module, nn.RNNBase):
                # On CUDA its weights are one block of memory, which a copy is not.
                module.flatten_parameters()
        self._followed = _weights(network)
        self._averages = _weights(self.network)

    def follow(self) -> None:
        """Take in what the weights are now."""
        if self.decay:
            torch._foreach_lerp_(self._averages, self._followed, 1 - self.decay)


def _weights(network: Network) -> list[Tensor]:
    """The weights that are trained; frozen ones are alike in both."""
    return [p.detach() for p in network.parameters() if p.requires_grad]
