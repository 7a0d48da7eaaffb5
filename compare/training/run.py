"""Training a network, in one sitting or several."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from krohn.algebra.errors import KrohnError
from krohn.compare.models import Architecture, Derived, Network, build
from krohn.compare.tasks.beliefs import BeliefTask
from krohn.compare.tasks.task import Task
from krohn.compare.tasks.texts import TextTask
from krohn.compare.training.beliefs import BeliefObjective, BeliefRecipe
from krohn.compare.training.blocks import block_chain
from krohn.compare.training.described import Json, describe
from krohn.compare.training.devices import usable
from krohn.compare.training.folder import RunFolder
from krohn.compare.training.objective import Objective
from krohn.compare.training.random_streams import check_seed
from krohn.compare.training.recipe import Recipe
from krohn.compare.training.scratchpad import scratchpad
from krohn.compare.training.trainer import Evaluation, Outcome, Report, Trainer
from krohn.network.modelfile import LARGEST_FILE
from krohn.program.files import read_bytes

AnyTask = Task | BeliefTask | TextTask
SHARE = 100
"""Writing checkpoints takes at most one part in so many of the time."""


@dataclass(frozen=True)
class Run:
    """A network that was trained, and how.

    Attributes:
        task: What it was trained on.
        architecture: What it is.
        recipe: How it was trained.
        seed: Of weights, words and dropout.
        outcome: ``"finished"`` after all steps, ``"early"`` when it was good enough, or
            ``"diverged"`` when its loss was no number: this too is a result.
        history: The evaluations on the way.
        network: With the averaged weights, on the device, not in training mode.
    """

    task: AnyTask
    architecture: Architecture
    recipe: Recipe
    seed: int
    outcome: Outcome
    history: tuple[Evaluation, ...]
    network: Network

    @property
    def steps(self) -> int:
        """How many batches it learnt from."""
        return self.history[-1].step

    @property
    def seconds(self) -> float:
        """How long that took, in all sittings."""
        return self.history[-1].seconds


def train(
    task: AnyTask,
    architecture: Architecture,
    recipe: Recipe,
    seed: int,
    folder: str | Path | None = None,
    device: str = "cpu",
    report: Report | None = None,
) -> Run:
    """Train a network, or go on with it where a folder says that it was.

    On a CPU, with one number of threads, the weights that come out depend on task,
    architecture, recipe and seed only: not on where the run was interrupted.

    Args:
        task: What is to be learnt.
        architecture: What is to learn it.
        recipe: How.
        seed: Of weights, words and dropout.
        folder: Where checkpoints and the result are kept; a finished run is read from
            there. None keeps nothing.
        device: Where torch computes, say ``"cuda"``.
        report: Called after each step with the steps done and in all.

    Raises:
        KrohnError: If the recipe does not apply, there is no such device, or the folder
            holds another run, is damaged, or cannot be written.
    """
    usable(device)
    objective = _objective(task, recipe, check_seed(seed))
    network = _network(objective, architecture)
    kept = None
    if folder is not None:
        kept = RunFolder(folder, identity(task, architecture, recipe, seed))
        ended = kept.result(network)
        if ended is not None:
            shown = network.to(device).eval()
            return Run(task, architecture, recipe, seed, *ended, shown)
    trainer = Trainer(objective, network, device)
    outcome = _go(trainer, kept, report)
    shown = trainer.average.network.eval()
    history = tuple(trainer.history)
    return Run(task, architecture, recipe, seed, outcome, history, shown)


def identity(
    task: AnyTask, architecture: Architecture, recipe: Recipe, seed: int
) -> dict[str, Json]:
    """All that the weights depend on, as JSON.

    Raises:
        KrohnError: If a model file to start from cannot be read.
    """
    shape = describe(architecture)
    if isinstance(architecture, Derived):
        # What is in the file matters, and not where it lies.
        file = Path(architecture.file)
        shape |= {"file": file.name, "sha256": _digest(file)}
    return {
        "task": describe(task),
        "architecture": shape,
        "recipe": describe(recipe),
        "seed": seed,
    }


def _digest(file: Path) -> str:
    return hashlib.sha256(read_bytes(file, LARGEST_FILE)).hexdigest()


def _objective(task: AnyTask, recipe: Recipe, seed: int) -> Objective | BeliefObjective:
    if not isinstance(task, BeliefTask):
        return Objective(task, recipe, seed)
    if not isinstance(recipe, BeliefRecipe):
        raise KrohnError(f"{task.name} asks for vectors; its recipe is a BeliefRecipe")
    return BeliefObjective(task, recipe, seed)


def _network(
    objective: Objective | BeliefObjective, architecture: Architecture
) -> Network:
    """The network with fresh weights."""
    longest, seed = objective.longest, objective.seed
    task = objective.task
    if isinstance(task, Task) and objective.recipe.scratchpad:
        return scratchpad(task, architecture, longest, seed)
    if isinstance(objective, BeliefObjective) and objective.recipe.block:
        block = objective.recipe.block
        return block_chain(objective.task, architecture, block, longest, seed)
    return build(architecture, len(task.letters), len(task.classes), longest, seed)


def _go(trainer: Trainer, kept: RunFolder | None, report: Report | None) -> Outcome:
    """Train to the end, from where the run was."""
    if kept is not None:
        kept.resume(trainer)
    clock = _Clock()
    on_cuda = [trainer.device] if trainer.device.type == "cuda" else []
    with torch.random.fork_rng(devices=on_cuda):
        while trainer.outcome is None:
            trainer.advance()
            if report is not None:
                report(trainer.step, trainer.recipe.steps)
            if kept is not None and clock.due:
                clock.time(lambda: kept.keep(trainer))
    if kept is not None:
        kept.finish(trainer)
    return trainer.outcome


class _Clock:
    """When to write a checkpoint, from how long the one before took to write."""

    def __init__(self) -> None:
        self._next = 0.0

    @property
    def due(self) -> bool:
        return time.perf_counter() >= self._next

    def time(self, write: Callable[[], None]) -> None:
        began = time.perf_counter()
        write()
        ended = time.perf_counter()
        self._next = ended + (SHARE - 1) * (ended - began)
