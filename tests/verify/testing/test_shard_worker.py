"""Counts stay exact while processes are killed, and memory stays below its bound (slow)."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import krohn

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WORDS = 2**21 - 2
SHARDS = 9


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "c2.safetensors"
    krohn.compile("C2", 20, "scan").save(path)
    return path


def start(*arguments: object) -> subprocess.Popen[str]:
    code = "import sys; from krohn.cli import run; sys.exit(run(sys.argv[1:]))"
    return subprocess.Popen(
        [sys.executable, "-c", code, "verify", *map(str, arguments), "--json"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, dict[str, Any]]:
    out, err = process.communicate(timeout=300)
    assert out, err
    return process.returncode, json.loads(out.splitlines()[-1])


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def until(done: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    while not done():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def children(pid: int) -> list[int]:
    """The processes that a process has started, from what Linux says of each."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(folder.name))
    return found


def workers(pid: int) -> list[int]:
    """The processes that run shards, which multiprocessing has started for work."""
    known = []
    for child in children(pid):
        try:
            command = (Path("/proc") / str(child) / "cmdline").read_text()
        except OSError:
            continue
        if "spawn_main" in command:
            known.append(child)
    return known


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_stopped_at_half_time_and_resumed(
    file: Path, tmp_path: Path, sent: signal.Signals
) -> None:
    path = tmp_path / "job.jsonl"
    asked = (file, "--exhaustive", 20, "--jobs", 2, "--job-file", path)
    first = start(*asked)
    until(lambda: lines(path) >= SHARDS // 2, first)
    started = workers(first.pid)
    first.send_signal(sent)
    out = first.communicate(timeout=60)[0]
    if sent == signal.SIGINT:
        assert first.returncode == 2
        assert "run the same command again" in json.loads(out)["error"]
    assert len(started) == 2
    assert SHARDS // 2 <= lines(path) < SHARDS
    code, report = finish(start(*asked))
    assert (code, report["verdict"], report["words"]) == (0, "verified", WORDS)
    assert lines(path) == SHARDS
    assert not any((Path("/proc") / str(pid)).exists() for pid in started)


def test_a_cluster_whose_worker_is_killed_counts_exactly(
    file: Path, tmp_path: Path
) -> None:
    pytest.importorskip("distributed")
    path = tmp_path / "job.jsonl"
    process = start(
        file, "--exhaustive", 20, "--cluster", "local:2", "--job-file", path
    )
    until(lambda: lines(path) >= 2, process)
    victims = workers(process.pid)
    assert len(victims) == 2
    os.kill(victims[0], signal.SIGKILL)
    code, report = finish(process)
    assert (code, report["verdict"], report["words"]) == (0, "verified", WORDS)
    assert lines(path) == SHARDS


def test_a_worker_of_this_machine_that_is_killed_is_replaced(
    file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "job.jsonl"
    asked = (file, "--exhaustive", 20, "--jobs", 2, "--job-file", path)
    process = start(*asked)
    until(lambda: lines(path) >= 2, process)
    os.kill(workers(process.pid)[0], signal.SIGKILL)
    code, report = finish(process)
    assert (code, report["verdict"], report["words"]) == (0, "verified", WORDS)
    assert lines(path) == SHARDS


def peak(pid: int | str) -> int:
    """The most bytes that a process has had in memory, as Linux counts them.

    `ru_maxrss` is no measure of it: what a process was before `exec` counts there.
    """
    lines = (Path("/proc") / str(pid) / "status").read_text().splitlines()
    return next(int(w.split()[1]) for w in lines if w.startswith("VmHWM")) * 2**10


LARGE = [
    ("C2", "scan", 18),
    ("C3", "counter", 11),
    ("S5", "scan", 4),
    ("D8", "rnn", 7),
]


@pytest.mark.parametrize("memory", [400, 900])
@pytest.mark.parametrize(("name", "construction", "length"), LARGE)
def test_the_peak_stays_below_the_bound(
    name: str, construction: str, length: int, memory: int, tmp_path: Path
) -> None:
    path = tmp_path / "model.safetensors"
    if construction == "rnn":
        krohn.compile(name, arch="rnn", proof=False).save(path)
    else:
        krohn.compile(name, length, construction, proof=False).save(path)
    code = (
        "import sys; from pathlib import Path; from krohn.cli import run;"
        "run(sys.argv[1:]); print(Path('/proc/self/status').read_text())"
    )
    asked = ["verify", path, "--exhaustive", length, "--memory", f"{memory}MiB"]
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, asked)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    # The claim of an RNN is about words of every length, of which some were run.
    right = f"all words of up to {length} letters are right"
    assert (right if construction == "rnn" else "verified") in done.stdout
    most = next(w for w in done.stdout.splitlines() if w.startswith("VmHWM"))
    assert int(most.split()[1]) <= memory * 2**10


def test_every_worker_stays_below_the_bound(file: Path) -> None:
    process = start(file, "--exhaustive", 20, "--jobs", 2, "--memory", "420MiB")
    peaks: dict[int, int] = {}
    while process.poll() is None:
        for pid in workers(process.pid):
            with suppress(OSError, StopIteration):  # it may have ended meanwhile
                peaks[pid] = peak(pid)
        time.sleep(0.02)
    assert finish(process)[1]["words"] == WORDS
    assert len(peaks) == 2
    assert max(peaks.values()) <= 420 * 2**20
