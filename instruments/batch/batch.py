"""Many machines at once, row by row, resumable; and the table of what came of them."""

import csv
import hashlib
import json
from collections.abc import Callable, Container, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, fields
from io import StringIO
from pathlib import Path
from typing import Any

import krohn
from krohn import schemas
from krohn.algebra.errors import KrohnError
from krohn.instruments.batch.work import (
    BatchWork,
    Done,
    Row,
    RowResult,
    Task,
    refuse_row,
)
from krohn.jobs.worker_pool import (
    WorkerPool,
    add_record,
    processes,
    records,
    this_process,
)
from krohn.program import strict_json
from krohn.program.writing import atomic_write
from krohn.verify.testing.simulation_result import Progress

# Many machines at once: compiled, proved and run, row by row, resumable.
#
# The job file has a line for each row that is done (`krohn.jobs.worker_pool`), named by a
# hash of all that its result depends on: the row, its files, the options, the version
# of Krohn.


@dataclass(frozen=True)
class Batch:
    """The results of all rows, in the order of the table.

    Attributes:
        results: A result for each row.
        by_job: How many rows are as the job file tells them, which anybody may have
            written.
    """

    results: tuple[RowResult, ...]
    by_job: int = 0

    @property
    def has_passed(self) -> bool:
        """Whether every network is verified, and no labelled word answered otherwise."""
        return all(result.has_passed for result in self.results)

    @property
    def summary(self) -> str:
        """How many rows passed, and who says so."""
        passed, rows = (
            sum(result.has_passed for result in self.results),
            len(self.results),
        )
        remark = f", {self.by_job} of {rows} by the word of the job file" * (
            self.by_job > 0
        )
        return f"{passed} passed, {rows - passed} failed{remark}"

    def to_object(self) -> dict[str, Any]:
        """Itself for JSON."""
        return {
            "rows": [result.to_object() for result in self.results],
            "passed": sum(result.has_passed for result in self.results),
            "failed": sum(not result.has_passed for result in self.results),
            "by_job": self.by_job,
        }


def batch(
    rows: Sequence[Row],
    work: BatchWork | None = None,
    jobs: int = 1,
    job_file: str | Path | None = None,
    progress: Progress | None = None,
) -> Batch:
    """Do every row of a table; the error of a row is its result.

    Args:
        rows: What is to be done; equal rows are done once.
        work: How.
        jobs: How many processes of this machine.
        job_file: The job file; what it says is done is not done again.
        progress: Called after every row with how many are done, and of how many.

    Raises:
        KrohnError: If the job file cannot be used, or the run is interrupted; rows that
            are done are kept in that file.
    """
    how = work or BatchWork()
    if jobs < 1:
        raise KrohnError(f"a batch needs at least one process, not {jobs}")
    keys = [_key(row, how) for row in rows]
    ledger = _Ledger(None if job_file is None else Path(job_file), set(keys))
    todo = {k: row for k, row in zip(keys, rows, strict=True) if k not in ledger.done}
    by_job = sum(key in ledger.done for key in keys)
    report_progress = progress or (lambda done, total: None)
    report_progress(len(ledger.done), len(set(keys)))
    try:
        with _workers(how, min(jobs, len(todo))) as pool:
            for task, came in pool.each(todo.items()):
                ledger.add(task, came)
                report_progress(len(ledger.done), len(set(keys)))
    except KeyboardInterrupt:
        raise KrohnError(f"interrupted; {ledger.kept(len(set(keys)))}") from None
    return Batch(tuple(ledger.done[key] for key in keys), by_job)


def _workers(
    how: BatchWork, count: int
) -> AbstractContextManager[WorkerPool[Task, Done]]:
    return processes(how, count) if count > 1 else this_process(how)


def _key(row: Row, how: BatchWork) -> str:
    """A hash of all that the result depends on."""
    text = strict_json.canonical(
        [krohn.__version__, row.describe_dependencies(), asdict(how)]
    )
    return hashlib.sha256(text.encode()).hexdigest()


class _Ledger:
    """The rows that are done, in memory and in the job file."""

    def __init__(self, path: Path | None, wanted: Container[str]) -> None:
        self.path = path
        self.done: dict[str, RowResult] = {}
        if path is None or not path.exists():
            return
        try:
            for record in records(path):
                if record["row"] in wanted:
                    self.done[record["row"]] = RowResult.from_object(record["result"])
        except (KeyError, TypeError):
            raise KrohnError(
                f"{path} is no job file of a batch; name another file, or delete this one"
            ) from None

    def add(self, task: Task, came: Done | KrohnError) -> None:
        """Note a row, first in the file; what another run may bring is not written."""
        key, row = task
        if isinstance(came, KrohnError):
            self.done[key] = refuse_row(row, str(came))
            return
        if self.path is not None and came.final:
            result = came.result.to_object()
            line = {"row": key, "seconds": came.seconds, "result": result}
            add_record(self.path, line)
        self.done[key] = came.result

    def kept(self, total: int) -> str:
        """The sentence on the rows that an interrupted batch has kept."""
        if self.path is None:
            return "nothing was kept, because there is no job file (--job-file FILE, or -o)"
        return (
            f"{len(self.done)} of {total} rows are kept in {self.path}; run the same "
            "command again to go on"
        )


# The table of a batch: as CSV, JSON or a page, by the end of its name.


COLUMNS = tuple(field.name for field in fields(RowResult))


def as_csv(found: Batch) -> str:
    """A line for each row; a cell is empty where there is nothing to say."""
    out = StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(COLUMNS)
    for result in found.results:
        cells = result.to_object()
        lines.writerow(["" if cells[c] is None else cells[c] for c in COLUMNS])
    return out.getvalue()


def as_json(found: Batch) -> str:
    """All rows as one object."""
    result = schemas.with_schema("batch", found.to_object())
    return json.dumps(result, ensure_ascii=False, indent=1) + "\n"


def as_page(found: Batch) -> str:
    """A page that needs nothing else."""
    from krohn.page.rendering import render_page

    return render_page("batch.html", {"found": found})


FORMATS: dict[str, Callable[[Batch], str]] = {
    ".csv": as_csv,
    ".json": as_json,
    ".html": as_page,
}


def check_suffix(path: Path) -> None:
    """Refuse names by which no format goes.

    Raises:
        KrohnError: If there is none.
    """
    if path.suffix.lower() not in FORMATS:
        raise KrohnError(
            f"{path}: no table format goes by the ending {path.suffix!r}; choose a name "
            f"that ends in {', '.join(FORMATS)}"
        )


def write(found: Batch, path: Path) -> None:
    """Write the table whole or not at all.

    Raises:
        KrohnError: If the end of the name is unknown, or the file system refuses.
    """
    check_suffix(path)
    atomic_write(path, FORMATS[path.suffix.lower()](found))
