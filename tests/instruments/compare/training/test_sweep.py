"""A sweep does what is not done, goes on with what was begun, and outlives its workers."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models import (
    Gpt,
    Lstm,
)
from krohn.instruments.compare.tasks.catalogue import task
from krohn.instruments.compare.training import (
    Cell,
    Recipe,
    Run,
    sweep,
    train,
)
from krohn.instruments.compare.training.recipe import Balance

SMALL = Recipe(steps=30, batch=8, length=6, every=10, probe=32, warmup=5)
CELLS = [Cell(task("C2"), Lstm(4, 8), SMALL, seed) for seed in (0, 1)]


def last_accuracy(run: Run) -> dict[str, float]:
    return {"accuracy": run.history[-1].accuracy}


def mistaken(run: Run) -> None:
    raise ZeroDivisionError("a mistake of mine")


@dataclass(frozen=True)
class Deadly:
    """A measure that kills its process, so many times in all."""

    folder: str
    times: int

    def __call__(self, run: Run) -> int:
        deaths = len(list(Path(self.folder).iterdir()))
        if run.seed == 0 and deaths < self.times:
            (Path(self.folder) / str(deaths)).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return run.seed


class Heard:
    """The progress that a sweep reported."""

    def __init__(self, stop: int | None = None) -> None:
        self.steps, self.counts, self.stop = 0, list[int](), stop
        self.measuring = dict[str, int]()

    def __call__(self, what: str, done: int, total: int) -> None:
        if what == "networks":
            self.counts.append(done)
            return
        if what.startswith("measuring "):
            self.measuring[what] = done
            return
        self.steps += done < total  # what is read is reported as done, too
        if self.steps == self.stop:
            raise KeyboardInterrupt


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    first, second = Heard(), Heard()
    one = sweep(CELLS, tmp_path, last_accuracy, jobs=1, report=first)
    two = sweep(CELLS, tmp_path, last_accuracy, jobs=1, report=second)
    assert (first.steps, first.counts) == (58, [0, 1, 2])
    names = {f"measuring {cell.description}": 1 for cell in CELLS}
    assert (first.measuring, second.measuring) == (names, {})
    assert (second.steps, second.counts) == (0, [])
    assert one == two
    assert [r.cell for r in one] == CELLS


def places(run: Run) -> dict[str, tuple[int, ...]]:
    return {"places": (run.seed, 1)}


@pytest.mark.slow
def test_results_are_those_of_the_file_from_the_first_time_on(tmp_path: Path) -> None:
    first = sweep(CELLS, tmp_path, places, jobs=1)
    assert [r.measured_values for r in first] == [
        {"places": [r.cell.seed, 1]} for r in first
    ]
    assert first == sweep(CELLS, tmp_path, places, jobs=1)


def test_files_are_named_by_content_and_say_where_numbers_come_from(
    tmp_path: Path,
) -> None:
    (result,) = sweep(CELLS[:1], tmp_path, last_accuracy, jobs=1, command="do it")
    names = {p.name for p in tmp_path.iterdir()}
    assert names == {CELLS[0].name, f"{CELLS[0].name}.json"}
    record = json.loads((tmp_path / f"{CELLS[0].name}.json").read_text())
    assert record == result.record
    assert record["measured"] == {"accuracy": record["history"][-1]["accuracy"]}
    assert record["cell"]["recipe"]["rate"] == SMALL.rate
    assert record["cell"]["task"]["machine"]["name"] == "C2"
    origin = record["provenance"]
    assert origin["command"] == "do it"
    assert origin["versions"]["torch"] == torch.__version__
    assert origin["device"]
    assert origin["date"].endswith("+00:00")
    assert origin["seconds"] > 0


def test_names_differ_where_anything_does() -> None:
    cell = CELLS[0]
    others = [
        replace(cell, seed=1),
        replace(cell, recipe=replace(SMALL, rate=1e-4)),
        replace(cell, architecture=Lstm(4, 9)),
        replace(cell, architecture=Gpt(1, 8, 2, 8)),
        replace(cell, task=task("C3")),
        replace(cell, task=task("C2", reveal=0.5)),
    ]
    assert len({c.name for c in [cell, *others]}) == 7
    assert Cell(task("C2"), Lstm(4, 8), SMALL, 0).name == cell.name


@pytest.mark.slow
def test_another_measure_needs_no_training(tmp_path: Path) -> None:
    sweep(CELLS, tmp_path, jobs=1)
    heard = Heard()
    results = sweep(CELLS, tmp_path, last_accuracy, jobs=1, report=heard)
    assert heard.steps == 0
    for result in results:
        assert result.measured_values == {"accuracy": result.run().history[-1].accuracy}


@pytest.mark.slow
def test_an_interrupted_sweep_goes_on_and_ends_with_the_same_weights(
    tmp_path: Path,
) -> None:
    with pytest.raises(KrohnError, match=r"interrupted; 1 of 2 networks are done"):
        sweep(CELLS, tmp_path, jobs=1, report=Heard(stop=45))
    heard = Heard()
    results = sweep(CELLS, tmp_path, jobs=1, report=heard)
    assert 0 < heard.steps < 30
    whole = train(CELLS[1].task, Lstm(4, 8), SMALL, 1)
    weights = results[1].run().network.parameters()
    assert all(map(torch.equal, weights, whole.network.parameters()))


@pytest.mark.slow
def test_no_cell_is_begun_after_the_time_is_up(tmp_path: Path) -> None:
    assert sweep(CELLS, tmp_path, jobs=1, seconds=0) == ()
    assert len(sweep(CELLS, tmp_path, jobs=1, seconds=60)) == 2


@pytest.mark.slow
def test_a_cell_that_cannot_be_trained_does_not_stop_the_others(tmp_path: Path) -> None:
    wrong = replace(CELLS[0], recipe=replace(SMALL, balance=Balance(1.0)))
    with pytest.raises(KrohnError, match=r"1 of 3 networks failed.*no machine of"):
        sweep([wrong, *CELLS], tmp_path, jobs=1)
    assert len(sweep(CELLS, tmp_path, jobs=1, seconds=0)) == 2


@pytest.mark.slow
def test_a_damaged_result_is_found_again(tmp_path: Path) -> None:
    (result,) = sweep(CELLS[:1], tmp_path, last_accuracy, jobs=1)
    file = tmp_path / f"{CELLS[0].name}.json"
    for text in ("", "[]", '{"cell": 1}', file.read_text()[:-9]):
        file.write_text(text)
        (again,) = sweep(CELLS[:1], tmp_path, last_accuracy, jobs=1)
        assert again.measured_values == result.measured_values


@pytest.mark.slow
def test_processes_find_what_one_finds_and_one_that_is_killed_is_replaced(
    tmp_path: Path,
) -> None:
    (tmp_path / "deaths").mkdir()
    heard = Heard()
    measure = Deadly(str(tmp_path / "deaths"), 1)
    results = sweep(CELLS, tmp_path / "two", measure, jobs=2, report=heard)
    assert [r.measured_values for r in results] == [0, 1]
    assert len(list((tmp_path / "deaths").iterdir())) == 1
    assert heard.counts[-1] == 2
    alone = sweep(CELLS, tmp_path / "one", jobs=1)
    for one, two in zip(alone, results, strict=True):
        pairs = zip(
            one.run().network.parameters(), two.run().network.parameters(), strict=True
        )
        assert all(torch.equal(p, q) for p, q in pairs)


@pytest.mark.slow
def test_a_cell_that_kills_its_processes_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "deaths").mkdir()
    measure = Deadly(str(tmp_path / "deaths"), 99)
    with pytest.raises(KrohnError, match=r"1 of 2 .*processes died with it 3 times"):
        sweep(CELLS, tmp_path / "runs", measure, jobs=2)
    assert len(list((tmp_path / "deaths").iterdir())) == 3
    assert len(sweep(CELLS, tmp_path / "runs", measure, jobs=2, seconds=0)) == 1


SCRIPT = """
import sys
from krohn.instruments.compare.models import Lstm
from krohn.instruments.compare.tasks.catalogue import task
from krohn.instruments.compare.training import Cell, Recipe, sweep

if __name__ == "__main__":
    recipe = Recipe(steps=1000, batch=8, length=6, every=10, probe=32, warmup=5)
    cells = [Cell(task("C2"), Lstm(4, 8), recipe, seed) for seed in (0, 1)]
    print(len(sweep(cells, sys.argv[1])))
"""


def descendants(pid: int) -> list[int]:
    """Processes that a process has started, from what Linux says of each."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(stat.parent.name))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_sweep_that_is_stopped_leaves_no_process_and_goes_on(
    tmp_path: Path, sent: signal.Signals
) -> None:
    script, runs = tmp_path / "script.py", tmp_path / "runs"
    script.write_text(SCRIPT)
    asked = [sys.executable, str(script), str(runs)]
    sweeping = subprocess.Popen(asked, stderr=subprocess.PIPE, text=True)
    while len(list(runs.glob("*/checkpoint.safetensors"))) < 2:
        assert sweeping.poll() is None
        time.sleep(0.05)
    started = descendants(sweeping.pid)
    assert len(started) >= 2
    sweeping.send_signal(sent)
    said = sweeping.communicate(timeout=60)[1]
    assert ("run the same command again" in said) == (sent == signal.SIGINT)
    end = time.monotonic() + 20
    while any((Path("/proc") / str(pid)).exists() for pid in started):
        assert time.monotonic() < end
        time.sleep(0.05)
    again = subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=True)
    assert again.stdout == "2\n"
    recipe = replace(SMALL, steps=1000)
    (result, _) = sweep([replace(c, recipe=recipe) for c in CELLS], runs, seconds=0)
    whole = train(CELLS[0].task, Lstm(4, 8), recipe, 0)
    weights = result.run().network.parameters()
    assert all(map(torch.equal, weights, whole.network.parameters()))


@pytest.mark.slow
def test_a_mistake_in_a_measure_is_shown_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"in mistaken(.|\n)*a mistake of mine"):
        sweep(CELLS, tmp_path, mistaken, jobs=2)


@pytest.mark.slow
def test_a_cluster_finds_the_same_and_replaces_a_killed_worker(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    (tmp_path / "deaths").mkdir()
    measure = Deadly(str(tmp_path / "deaths"), 1)
    results = sweep(CELLS, tmp_path / "runs", measure, "local:2")
    assert [r.measured_values for r in results] == [0, 1]
    whole = train(CELLS[1].task, Lstm(4, 8), SMALL, 1)
    weights = results[1].run().network.parameters()
    assert all(map(torch.equal, weights, whole.network.parameters()))


def test_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    with pytest.raises(KrohnError, match="at least one process"):
        sweep(CELLS, tmp_path, jobs=0)
    (tmp_path / "file").write_text("")
    with pytest.raises(KrohnError, match="no folder for a sweep"):
        sweep(CELLS, tmp_path / "file", jobs=1)
