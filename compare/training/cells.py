"""Cells of a sweep: one network to train, and one file with its result."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from pathlib import Path

import torch

from krohn.compare.models import Architecture
from krohn.compare.training.described import Json, content_name, describe
from krohn.compare.training.folder import RECORD, WEIGHTS, evaluation_to_json
from krohn.compare.training.provenance import provenance
from krohn.compare.training.recipe import Recipe
from krohn.compare.training.run import AnyTask, Run, identity, train
from krohn.compare.training.run_table import RunTable
from krohn.compare.training.trainer import Report
from krohn.program import strict_json
from krohn.program.errors import KrohnError
from krohn.program.files import read_bytes
from krohn.program.writing import atomic_write

FORMAT, VERSION = "krohn-cell", 1

Measure = Callable[[Run], Json]
Came = tuple[Json, dict[str, bytes]]
"""The result of a cell, and files of its run, which may be on another machine's disk."""


@dataclass(frozen=True)
class Cell:
    """A network to train."""

    task: AnyTask
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
        """What its file says came of a cell, if it was measured in this way."""
        try:
            record = strict_json.read(read_bytes(self.file(cell)))
        except (KrohnError, ValueError):
            return None
        return record if self._fits(record, cell) else None

    def known(self, cells: Sequence[Cell]) -> dict[str, Json]:
        """What came of those cells of which that is known, by their names.

        Raises:
            KrohnError: If the table of the folder is damaged.
        """
        # Files first: what another process brings into the table meanwhile is there.
        found = {cell.name: self.done(cell) for cell in cells}
        rest = {cell.name: cell for cell in cells if found[cell.name] is None}
        for name, record in RunTable(self.folder).read(rest).items():
            found[name] = record if self._fits(record, rest[name]) else None
        return {name: record for name, record in found.items() if record}

    def _fits(self, record: Json, cell: Cell) -> bool:
        """Whether it is about the cell, measured in this way."""
        try:
            found = record["cell"], record["measure"]
        except (LookupError, TypeError):
            return False
        return found == (cell.content, self._measured_by)

    def keep(self, record: Json, cell: Cell) -> Json:
        """Write down the result of a cell, and give it as it is read again.

        Raises:
            KrohnError: If the folder cannot be written.
        """
        text = json.dumps(record, indent=1, sort_keys=True)
        atomic_write(self.file(cell), text)
        found: Json = json.loads(text)
        return found

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
