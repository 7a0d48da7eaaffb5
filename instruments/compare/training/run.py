"""Training a network in one sitting or several, and cells of a sweep."""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import torch

from krohn.instruments.compare.models import (
    Architecture,
    Derived,
    Network,
)
from krohn.instruments.compare.tasks.task import TrainingTask
from krohn.instruments.compare.training.folder import (
    RECORD,
    WEIGHTS,
    RunFolder,
    evaluation_to_json,
)
from krohn.instruments.compare.training.provenance import (
    Json,
    check_seed,
    content_name,
    describe,
    provenance,
    usable,
)
from krohn.instruments.compare.training.recipe import Recipe
from krohn.instruments.compare.training.run_table import RunTable
from krohn.instruments.compare.training.trainer import (
    Evaluation,
    Outcome,
    Report,
    Trainer,
)
from krohn.network.modelfile import LARGEST_FILE
from krohn.program import strict_json
from krohn.program.errors import KrohnError
from krohn.program.files import read_bytes
from krohn.program.writing import atomic_write

# Training a network, in one sitting or several.


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

    task: TrainingTask
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
    task: TrainingTask,
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
    objective = objective_of(task, recipe, seed)
    network = objective.network(architecture)
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


def fresh(cell: "Cell") -> Trainer:
    """The training of a cell on the CPU, before its first step; nothing is kept.

    Raises:
        KrohnError: If the recipe does not apply.
    """
    objective = objective_of(cell.task, cell.recipe, cell.seed)
    return Trainer(objective, objective.network(cell.architecture), "cpu")


def objective_of(task: TrainingTask, recipe: Recipe, seed: int) -> Any:
    """The loss that training makes small, by the class that the task names.

    Raises:
        KrohnError: If the recipe does not apply to the task.
    """
    return resolve_name(task.objective)(task, recipe, check_seed(seed))


def identity(
    task: TrainingTask, architecture: Architecture, recipe: Recipe, seed: int
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


# Cells of a sweep: one network to train, and one file with its result.


FORMAT, VERSION = "krohn-cell", 1

Measure = Callable[[Run], Json]
Came = tuple[Json, dict[str, bytes]]
"""The result of a cell, and files of its run, which may be on another machine's disk."""


@dataclass(frozen=True)
class Cell:
    """A network to train."""

    task: TrainingTask
    architecture: Architecture
    recipe: Recipe
    seed: int

    @cached_property
    def content(self) -> dict[str, Json]:
        """All that it depends on, as JSON."""
        return identity(self.task, self.architecture, self.recipe, self.seed)

    @cached_property
    def name(self) -> str:
        """Of its folder and its file: its content decides it."""
        return content_name(self.content)

    @property
    def description(self) -> str:
        """A description for people."""
        return f"{self.task.name}: {self.architecture.description}, seed {self.seed}"


@dataclass(frozen=True)
class Job:
    """The work on each cell: training, measuring and keeping.

    Attributes:
        folder: Of runs and results.
        measure: The measurement of a trained network, as JSON; None for none.
            A function at the top of a module, or a dataclass of plain values that can
            be called, so that other processes have it and files can name it.
        device: Where torch computes.
        command: The command that does all this again.
    """

    folder: Path
    measure: Measure | None
    device: str
    command: str

    def run_folder(self, cell: Cell) -> Path:
        """Where the run of a cell is kept."""
        return self.folder / cell.name

    def file(self, cell: Cell) -> Path:
        """The file of a cell's result."""
        return self.folder / f"{cell.name}.json"

    def done(self, cell: Cell) -> Json | None:
        """The record of a cell in its file, if the cell was measured in this way."""
        try:
            record = strict_json.read(read_bytes(self.file(cell)))
        except (KrohnError, ValueError):
            return None
        return record if self._fits(record, cell) else None

    def read_records(self, cells: Sequence[Cell]) -> dict[str, Json]:
        """The records of the cells that have one, by their names.

        Raises:
            KrohnError: If the table of the folder is damaged.
        """
        # Files first: what another process brings into the table meanwhile is there.
        records = {cell.name: self.done(cell) for cell in cells}
        rest = {cell.name: cell for cell in cells if records[cell.name] is None}
        for name, record in RunTable(self.folder).read(rest).items():
            records[name] = record if self._fits(record, rest[name]) else None
        return {name: record for name, record in records.items() if record}

    def _fits(self, record: Json, cell: Cell) -> bool:
        """Whether it is about the cell, measured in this way."""
        try:
            cell_and_measure = record["cell"], record["measure"]
        except (LookupError, TypeError):
            return False
        return cell_and_measure == (cell.content, self._measured_by)

    def keep(self, record: Json, cell: Cell) -> Json:
        """Write down the result of a cell, and give it as it is read again.

        Raises:
            KrohnError: If the folder cannot be written.
        """
        text = json.dumps(record, indent=1, sort_keys=True)
        atomic_write(self.file(cell), text)
        kept_record: Json = json.loads(text)
        return kept_record

    def open(self, own: bool) -> Callable[[Cell, Report], Came]:
        """Nothing has to be made ready."""
        del own
        return self._on_one_thread

    def _on_one_thread(self, cell: Cell, report: Report) -> Came:
        """The result of a cell; sums in another order would end in other weights."""
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            record, kept = self.work(cell, report), self.run_folder(cell)
            return record, {n: (kept / n).read_bytes() for n in (WEIGHTS, RECORD)}
        finally:
            torch.set_num_threads(threads)

    def work(self, cell: Cell, report: Report | None = None) -> Json:
        """Train and measure, or go on with it.

        Raises:
            KrohnError: As `train` does.
        """
        kept = self.run_folder(cell)
        run = train(
            cell.task,
            cell.architecture,
            cell.recipe,
            cell.seed,
            kept,
            self.device,
            report,
        )
        if report is not None:  # it may have stopped early; what follows is measuring
            report(cell.recipe.steps, cell.recipe.steps)
        began = time.perf_counter()
        measured = None if self.measure is None else self.measure(run)
        seconds = run.seconds + time.perf_counter() - began
        return {
            "format": FORMAT,
            "version": VERSION,
            "cell": cell.content,
            "outcome": run.outcome,
            "steps": run.steps,
            "history": [evaluation_to_json(point) for point in run.history],
            "measure": self._measured_by,
            "measured": measured,
            "provenance": provenance(self.command, self.device, seconds),
        }

    @property
    def _measured_by(self) -> Json:
        if self.measure is None or is_dataclass(self.measure):
            return describe(self.measure)
        # The module of a script has another name in processes that it starts.
        return getattr(self.measure, "__qualname__", type(self.measure).__name__)
