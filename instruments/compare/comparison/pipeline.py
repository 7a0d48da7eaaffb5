"""The pipeline of a comparison, which is one for all questions.

A `Question` is a task and what is measured of its networks. From there data flows one way:

    question → plans → cells → networks, each trained and measured in one process
             → the compiled network → result, which is shown as text, JSON or a page
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.comparison.result import Origin, Training, Written
from krohn.instruments.compare.comparison.settings import Settings, run_folder
from krohn.instruments.compare.models import Architecture, build
from krohn.instruments.compare.tasks.task import TrainingTask
from krohn.instruments.compare.training.provenance import (
    commit,
    device_name,
    usable,
    versions,
)
from krohn.instruments.compare.training.recipe import Recipe
from krohn.instruments.compare.training.run import Cell, Job, Measure
from krohn.instruments.compare.training.sweep import Result, cost_of, sweep
from krohn.program.results import from_object
from krohn.report import Announce, Progress, silent

ENDS = {
    "finished": "all {steps:,} steps",
    "early": "good enough after {steps:,} steps",
    "diverged": "stopped after {steps:,} steps, because its loss was not a number",
}
"""How runs end, in words."""
Measurement = TypeVar("Measurement")
"""What is measured of a trained network: a dataclass that JSON holds."""
Compared = TypeVar("Compared", bound=Written)
"""The result of a comparison."""


@dataclass(frozen=True)
class Plan:
    """A kind of network that is trained, once for each seed.

    Attributes:
        title: What tables call it.
        architecture: What it is.
        recipe: How it is trained.
        depth: Blocks, where networks of several depths are compared; None for others.
    """

    title: str
    architecture: Architecture
    recipe: Recipe
    depth: int | None = None


@dataclass(frozen=True)
class TrainedNetwork(Generic[Measurement]):
    """A network that was trained.

    Attributes:
        key: Of its kind.
        plan: Of its kind.
        result: Where its weights are, and what came of it.
        measured: What was measured where it was trained.
    """

    key: str
    plan: Plan
    result: Result
    measured: Measurement

    @property
    def seed(self) -> int:
        """Of weights and words."""
        return self.result.cell.seed

    @property
    def training(self) -> Training:
        """How it came about."""
        record = self.result.record
        history: list[Mapping[str, Any]] = record["history"]
        return Training(
            tuple(point["step"] for point in history),
            tuple(point["loss"] for point in history),
            tuple(point["accuracy"] for point in history),
            history[-1]["seconds"],
            ENDS[record["outcome"]].format(steps=record["steps"]),
        )


@dataclass(frozen=True)
class Sitting:
    """What the result of a comparison says of how it came about.

    Attributes:
        settings: What the user chose.
        command: What does it again.
        began: When, by the monotonic clock.
        report: Called with what is being done, how much is done, and of how much.
        untrained: Which networks there was no time for; empty if there are all.
    """

    settings: Settings
    command: str
    began: float
    report: Progress
    untrained: str

    def origin(self, remarks: Sequence[str]) -> Origin:
        """How it came about, with remarks on what is left out; empty ones are none."""
        return Origin(
            self.command,
            commit() or "",
            versions(),
            device_name(self.settings.device),
            datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            time.monotonic() - self.began,
            tuple(range(self.settings.seeds)),
            tuple(filter(None, (*remarks, self.untrained))),
        )


class Question(ABC, Generic[Measurement, Compared]):
    """A task, and what is measured of networks that are to do it.

    Attributes:
        task: What is asked of every network.
        settings: What the user chose.
        measurement: The class of what `look` measures.
    """

    measurement: type[Measurement]

    def __init__(self, task: Any, settings: Settings) -> None:
        """Ask this of the networks that the settings choose."""
        self.task, self.settings = task, settings

    @property
    def name(self) -> str:
        """What names the source to `krohn.compare`."""
        return str(self.task.name)

    @property
    def remark(self) -> str:
        """What is to be known of how the source was read; empty if nothing is."""
        return ""

    @property
    @abstractmethod
    def look(self) -> Measure:
        """What measures a network, in the process that trained it, and gives JSON."""

    @abstractmethod
    def plans(self) -> dict[str, Plan]:
        """The kinds of networks that are trained, by key.

        Raises:
            KrohnError: If there is no such preset, or a number makes no sense.
        """

    @abstractmethod
    def derive(self, report: Progress) -> Any:
        """The compiled network, or why there is none.

        Raises:
            KrohnError: If there is none and without it nothing is compared.
        """

    @abstractmethod
    def result(
        self,
        derived: Any,
        trained: Sequence[TrainedNetwork[Measurement]],
        sitting: Sitting,
    ) -> Compared:
        """All that is compared: the compiled network, the trained ones, and rules."""

    def cells(self) -> dict[str, tuple[Cell, ...]]:
        """The networks that are to be trained, by key, a cell for each seed."""
        task: TrainingTask = self.task
        return {
            key: tuple(
                Cell(task, plan.architecture, plan.recipe, seed)
                for seed in range(self.settings.seeds)
            )
            for key, plan in self.plans().items()
        }


def compare_networks(
    question: Question[Any, Compared],
    command: str,
    report: Progress | None = None,
    announce: Announce | None = None,
) -> Compared:
    """Train what is not trained yet, compile a network, and set them side by side.

    Args:
        question: What is asked and measured.
        command: What does it again.
        report: Called with what is being done, how much is done, and of how much.
        announce: Called with the cost of training, before anything is proved or trained.

    Raises:
        KrohnError: If nothing can be certified or trained, or a run is interrupted.
    """
    began, settings, report = time.monotonic(), question.settings, report or silent
    usable(settings.device)
    with run_folder(settings.runs) as folder:
        cells = question.cells()
        check_buildable(cells)
        if announce is not None:
            job = Job(folder, question.look, settings.device, command)
            announce(cost_of(job, in_turn(cells)))
        derived = question.derive(report)
        trained = train_all(question, cells, folder, command, report)
        missing = name_untrained(question.plans(), cells, trained)
        sitting = Sitting(settings, command, began, report, missing)
        return question.result(derived, trained, sitting)


def in_turn(cells: Mapping[str, Sequence[Cell]]) -> list[Cell]:
    """All cells, one of each kind before a second one: time may be short."""
    return [cell for seed in zip(*cells.values(), strict=True) for cell in seed]


def check_buildable(cells: Mapping[str, Sequence[Cell]]) -> None:
    """Build one network of each kind, before hours are spent on the others.

    Raises:
        KrohnError: If a library is not installed.
    """
    for cell, *_ in cells.values():
        letters, classes = len(cell.task.letters), len(cell.task.classes)
        build(cell.architecture, letters, classes, cell.recipe.reads, cell.seed)


def train_all(
    question: Question[Measurement, Any],
    cells: Mapping[str, Sequence[Cell]],
    folder: Path,
    command: str,
    report: Callable[[str, int, int], None] | None = None,
) -> list[TrainedNetwork[Measurement]]:
    """Train and measure what is not done yet: all networks, kind by kind.

    Raises:
        KrohnError: If a network cannot be trained, or the runs are interrupted.
    """
    settings, look = question.settings, question.look
    job = Job(folder, look, settings.device, command)
    _forget_unreadable(question.measurement, cells, job)
    results = sweep(
        in_turn(cells),
        folder,
        look,
        settings.jobs,
        seconds=settings.seconds,
        device=settings.device,
        command=command,
        report=report,
    )
    by_name = {result.cell.name: result for result in results}
    plans = question.plans()
    return [
        TrainedNetwork(key, plans[key], result, _read_measurement(question, result))
        for key, group in cells.items()
        for cell in group
        if (result := by_name.get(cell.name)) is not None
    ]


def _read_measurement(
    question: Question[Measurement, Any], result: Result
) -> Measurement:
    return from_object(question.measurement, result.measured_values, "a run")


def _forget_unreadable(
    measurement: type, cells: Mapping[str, Sequence[Cell]], job: Job
) -> None:
    """Let networks be measured again that another Krohn measured; their weights stay."""
    for cell in in_turn(cells):
        record = job.done(cell)
        try:
            if record is not None:
                from_object(measurement, record["measured"], "a run")
        except KrohnError:
            job.file(cell).unlink()


def name_untrained(
    plans: Mapping[str, Plan],
    cells: Mapping[str, Sequence[Cell]],
    trained: Sequence[TrainedNetwork[Any]],
) -> str:
    """Which networks there was no time for; empty if there are all."""
    done = {network.result.cell.name for network in trained}
    names = list[str]()
    for key, group in cells.items():
        missing = [cell.seed for cell in group if cell.name not in done]
        title = plans[key].title
        if len(missing) == len(group):
            names.append(title)
        else:
            names += [f"{title}, seed {seed}" for seed in missing]
    return f"Not trained, because the time was up: {'; '.join(names)}." if names else ""
