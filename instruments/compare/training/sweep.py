"""Many networks to train: finished ones are skipped, and begun ones go on."""

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from math import ceil
from operator import mul
from pathlib import Path

import torch

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import count
from krohn.instruments.compare.training.provenance import (
    Json,
    command as typed,
    usable,
)
from krohn.instruments.compare.training.run import (
    Came,
    Cell,
    Job,
    Measure,
    Run,
    fresh,
    train,
)
from krohn.jobs.cluster import cluster as cluster_of
from krohn.jobs.worker_pool import WorkerPool, processes, this_process
from krohn.program.wording import message_for_user
from krohn.program.writing import atomic_write

CELLS = "networks"
NICE = 10
"""How much a process of a sweep lets others go first."""

Tell = Callable[[str, int, int], None]
"""Called with what is being done, how much is done, and of how much."""


@dataclass(frozen=True)
class Result:
    """The result of a cell.

    Attributes:
        cell: The cell.
        record: The content of its file: outcome, steps, history, measurement, and the
            provenance (docs/training.md).
        folder: Of the sweep.
    """

    cell: Cell
    record: Json
    folder: Path

    @property
    def measured_values(self) -> Json:
        """The measurement of the network."""
        return self.record["measured"]

    def run(self, device: str = "cpu") -> Run:
        """The trained network.

        Raises:
            KrohnError: If its files are damaged.
        """
        c = self.cell
        kept = self.folder / c.name
        return train(c.task, c.architecture, c.recipe, c.seed, kept, device)


def sweep(
    cells: Iterable[Cell],
    folder: str | Path,
    measure: Measure | None = None,
    jobs: int | str = 2,
    seconds: float | None = None,
    device: str = "cpu",
    command: str | None = None,
    report: Tell | None = None,
) -> tuple[Result, ...]:
    """Train and measure all cells that have no result yet.

    Each cell has a folder and a JSON file, both named by its content, so that sweeps
    with common cells can share a folder, and one that was stopped goes on.

    Args:
        cells: The networks to train.
        folder: Of runs and results.
        measure: The measurement of each network, as JSON; see `Job`.
        jobs: How many processes of this machine, 1 for this one; or a cluster of Dask:
            the address of its scheduler, or ``local:N``.
        seconds: After so many, no further cell is begun.
        device: Where torch computes.
        command: The command that does all this again; None for the one typed.
        report: Called with the cell in work, how much is done, and of how much.

    Returns:
        The results that are there, in the order of the cells.

    Raises:
        KrohnError: If cells fail (after the others are done), the sweep is interrupted,
            there is no such device, the folder cannot be written, its table is damaged,
            or no cluster answers.
    """
    if not isinstance(jobs, str):
        if jobs < 1:
            raise KrohnError(f"a sweep needs at least one process, not {jobs}")
        usable(device)
    job = Job(Path(folder).resolve(), measure, device, command or typed())
    asked = list({cell.name: cell for cell in cells}.values())
    _make(job.folder)
    run = _Sweep(job, asked, _alone(report))
    todo = run.todo
    if todo:
        run.work(_workers(job, jobs, len(todo), run.tell), todo, seconds)
    return run.results()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KrohnError(f"{folder}: no folder for a sweep: {error.strerror}") from None


def _workers(
    job: Job, jobs: int | str, todo: int, tell: Tell
) -> AbstractContextManager[WorkerPool[Cell, Came]]:
    def report_cell(cell: Cell, done: int, total: int) -> None:
        tell(_training(cell), done, total)
        if done == total and job.measure is not None:
            tell(_measuring(cell), 0, 1)

    if isinstance(jobs, str):
        return cluster_of(job, jobs)
    most = min(jobs, todo)
    return (
        processes(job, most, report_cell, NICE)
        if most > 1
        else this_process(job, report_cell)
    )


def _training(cell: Cell) -> str:
    return f"training {cell.description}"


def _measuring(cell: Cell) -> str:
    return f"measuring {cell.description}"


def _alone(report: Tell | None) -> Tell:
    """A report that is called from one thread at a time."""
    lock = threading.Lock()

    def tell(what: str, done: int, total: int) -> None:
        if report is not None:
            with lock:
                report(what, done, total)

    return tell


class _Sweep:
    """Cells on their way to their files."""

    def __init__(self, job: Job, cells: Sequence[Cell], tell: Tell) -> None:
        self.job, self.cells, self.tell = job, cells, tell
        self.records = job.read_records(cells)
        self.failed: list[str] = []

    @property
    def todo(self) -> list[Cell]:
        """Cells without a result."""
        return [cell for cell in self.cells if cell.name not in self.records]

    def results(self) -> tuple[Result, ...]:
        """The results that are there."""
        done = [cell for cell in self.cells if cell.name in self.records]
        return tuple(
            Result(cell, self.records[cell.name], self.job.folder) for cell in done
        )

    def work(
        self,
        workers: AbstractContextManager[WorkerPool[Cell, Came]],
        todo: Sequence[Cell],
        seconds: float | None,
    ) -> None:
        """Hand out cells until the time is up."""
        end = math.inf if seconds is None else time.monotonic() + seconds
        self._count()
        try:
            with workers as pool:
                for cell, came in pool.each(_until(end, todo)):
                    self._note(cell, came)
        except KeyboardInterrupt:
            raise KrohnError(
                f"interrupted; {len(self.records)} of {len(self.cells)} {CELLS} are done, "
                f"and what was begun is kept in {self.job.folder}; run the same command "
                "again to go on"
            ) from None
        if self.failed:
            raise KrohnError(
                f"{len(self.failed)} of {len(self.cells)} {CELLS} failed"
                f"{', the others are done' * bool(self.records)}; {self.failed[0]}"
            )

    def _note(self, cell: Cell, came: Came | KrohnError) -> None:
        if isinstance(came, KrohnError):
            self.failed.append(f"{cell.description}: {came}")
        else:
            record, files = came
            self._bring(cell, files)
            self.records[cell.name] = self.job.keep(record, cell)
            self.tell(_training(cell), cell.recipe.steps, cell.recipe.steps)
            if self.job.measure is not None:
                self.tell(_measuring(cell), 1, 1)
        self._count()

    def _bring(self, cell: Cell, files: dict[str, bytes]) -> None:
        kept = self.job.run_folder(cell)
        for name, data in files.items():
            _make(kept)
            if not (kept / name).exists() or (kept / name).read_bytes() != data:
                atomic_write(kept / name, data)

    def _count(self) -> None:
        self.tell(CELLS, len(self.records), len(self.cells))


def _until(end: float, todo: Sequence[Cell]) -> Iterator[Cell]:
    """The cells that are asked for before a time."""
    for cell in todo:
        if time.monotonic() >= end:
            return
        yield cell


# The cost of a sweep, from a few measured steps of each kind of network.

STEPS = 4
"""Of a trial, with words of one length: the first one is slower and does not count, the
last one is evaluated."""
Clock = Callable[[], float]


@dataclass(frozen=True)
class TrainingCost:
    """Cells of a sweep that are still to be trained, and their cost.

    Attributes:
        trainings: How many networks.
        done: How many are trained already.
        steps: Of all trainings, if none stops early.
        seconds: Of CPU time, if none stops early; None if another device computes.
    """

    trainings: int
    done: int
    steps: int
    seconds: float | None

    def __str__(self) -> str:
        before = f" ({self.done:,} trained already)" if self.done else ""
        if not self.trainings:
            return f"nothing is left to be trained{before}"
        sentence = (
            f"{count(self.trainings, 'network')} to train{before}, "
            f"{self.steps:,} steps in all if none stops early"
        )
        if self.seconds is None:
            return sentence
        return (
            f"{sentence}: about {duration(self.seconds)} of CPU time, judged by "
            f"{STEPS - 1} steps of each kind; measuring the networks comes on top, often "
            f"minutes for each, {message_for_user('which --seconds')} does not bound"
        )


def cost_of(
    job: Job, cells: Iterable[Cell], clock: Clock = time.process_time
) -> TrainingCost:
    """The cost of training the cells that have no result yet.

    Args:
        job: What is done to each cell.
        cells: The networks.
        clock: The CPU time so far.

    Raises:
        KrohnError: If a recipe does not apply, or the table of the folder is damaged.
    """
    asked = list({cell.name: cell for cell in cells}.values())
    known = job.read_records(asked) if job.folder.is_dir() else {}
    todo = [cell for cell in asked if cell.name not in known]
    seconds = None
    if job.device == "cpu":
        kinds = {(cell.architecture, cell.recipe): cell for cell in todo}
        each = {kind: _trial(cell, clock) for kind, cell in kinds.items()}
        seconds = sum(each[cell.architecture, cell.recipe] for cell in todo)
    steps = sum(cell.recipe.steps for cell in todo)
    return TrainingCost(len(todo), len(known), steps, seconds)


def _trial(cell: Cell, clock: Clock) -> float:
    """The CPU seconds of a training, from a few steps on words of each length."""
    short, counts = cell.recipe.for_trial(STEPS)
    times, threads = list[float](), torch.get_num_threads()
    torch.set_num_threads(1)  # as where networks are trained
    try:
        with torch.random.fork_rng(devices=[]):
            trainer = fresh(replace(cell, recipe=short))
            for _ in range(short.steps):
                began = clock()
                trainer.advance()
                times.append(clock() - began)
    finally:
        torch.set_num_threads(threads)
    stages = [times[at : at + STEPS] for at in range(0, len(times), STEPS)]
    each = [sum(stage[1:-1]) / (STEPS - 2) for stage in stages]
    evaluation = max(times[-1] - each[-1], 0.0)
    training: float = sum(map(mul, counts, each))
    return training + ceil(cell.recipe.steps / cell.recipe.every) * evaluation


def duration(seconds: float) -> str:
    """A time to two digits, in the unit that people would use."""
    sizes = ((3600, "h"), (60, "min"), (1, "s"))
    size, unit = next((s for s in sizes if seconds >= 2 * s[0]), sizes[-1])
    amount = seconds / size
    return f"{amount:.0f} {unit}" if amount >= 10 else f"{amount:.2g} {unit}"
