"""Every task comes back once: with its result, or with why there is none."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import pytest

from krohn.algebra.errors import KrohnError
from krohn.jobs.worker_pool import (
    Report,
    WorkerPool,
    add_record,
    processes,
    records,
    this_process,
)


@dataclass(frozen=True)
class Squares:
    """Squares numbers; 13 is refused, and a negative number kills its process."""

    folder: Path

    def open(self, own: bool) -> Callable[[int, Report], int]:
        (self.folder / str(os.getpid())).write_text(str(own))
        return self.square

    def square(self, number: int, report: Report) -> int:
        if number < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 13:
            raise KrohnError("13 is not squared")
        report(1, 2)
        return number**2


def results(
    workers: AbstractContextManager[WorkerPool[int, int]], tasks: Iterator[int]
) -> dict[int, int | str]:
    with workers as pool:
        return {
            task: str(done) if isinstance(done, KrohnError) else done
            for task, done in pool.each(tasks, 2)
        }


def test_this_process_does_what_it_is_handed(tmp_path: Path) -> None:
    told: list[tuple[int, int, int]] = []
    workers = this_process(Squares(tmp_path), lambda *said: told.append(said))
    found = results(workers, iter([3, 13, 4]))
    assert found == {3: 9, 13: "13 is not squared", 4: 16}
    assert told == [(3, 1, 2), (4, 1, 2)]
    assert [p.read_text() for p in tmp_path.iterdir()] == ["False"]


UNGUARDED = """
from krohn.jobs.worker_pool import processes

class Nothing:
    def open(self, own):
        return lambda task, report: task

with processes(Nothing(), 1) as pool:
    ((_, came),) = pool.each([1])
    print("came:", came)
"""


def test_a_script_that_starts_work_where_it_is_imported_is_told_so(
    tmp_path: Path,
) -> None:
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    inner, outer = done.stdout.splitlines()
    assert inner.startswith("came: this process was started to help, and by importing")
    assert "put what the script does under `if __name__ == '__main__':`" in inner
    assert (outer, done.stderr) == ("came: 1", "")


def test_a_process_that_dies_is_replaced_until_its_task_is_the_reason(
    tmp_path: Path,
) -> None:
    found = results(processes(Squares(tmp_path), 1), iter([3, -1, 13, 4]))
    assert "died with it 3 times" in str(found.pop(-1))
    assert found == {3: 9, 13: "13 is not squared", 4: 16}
    # The first one, two that replaced it, and one that goes on.
    assert [p.read_text() for p in tmp_path.iterdir()] == ["True"] * 4


def test_tasks_are_asked_for_when_they_are_handed_out(tmp_path: Path) -> None:
    asked: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(5):
            asked.append(number)
            yield number

    with this_process(Squares(tmp_path)) as pool:
        before = [(len(asked), task) for task, _ in pool.each(tasks(), 2)]
    assert [most for most, _ in before] == [2, 2, 4, 4, 5]
    assert sorted(task for _, task in before) == asked


@pytest.mark.parametrize("lost", [0, 1, 5])
def test_a_line_that_was_cut_off_is_no_record(tmp_path: Path, lost: int) -> None:
    path = tmp_path / "journal.jsonl"
    for number in (1, 2):
        add_record(path, {"number": number})
    path.write_bytes(path.read_bytes()[: len(path.read_bytes()) - lost])
    add_record(path, {"number": 3})
    kept = [1, 2, 3] if lost < 2 else [1, 3]
    assert [record["number"] for record in records(path)] == kept
