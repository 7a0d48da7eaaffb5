"""The same input gives the same bytes: in other processes, orders, and under load."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import fingerprints as script
import numpy as np
import pytest

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.formats import json_format

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tests" / "fingerprints.py"

QUICK = ("regex:(ab|ba)*", "S3")
EXPRESSIONS = ("(aa)*", "a*b*a", "bccb(aa)*", "(ab|ba)*", "(a|b)*aba", "(a(b|c))*")
DRAWN = 14


def drawn(folder: Path, count: int) -> list[str]:
    """Files of random machines with 3 to 7 states and 2 or 3 letters."""
    rng, files = np.random.default_rng(13), []
    for i in range(count):
        letters, states = int(rng.integers(2, 4)), int(rng.integers(3, 8))
        rows = rng.integers(0, states, (letters, states))
        names = tuple("abc"[:letters]), tuple(f"q{q}" for q in range(states))
        machine = Automaton(Semiautomaton(rows, *names), name=f"drawn {i}")
        files.append(folder / f"{i}.json")
        files[-1].write_text(json.dumps(json_format.to_object(machine)))
    return [str(file) for file in files]


def fingerprints(
    machines: Sequence[str], length: int, seed: int
) -> dict[str, dict[str, str]]:
    """The digests of all results, made in a process with a hash seed of its own."""
    done = subprocess.run(
        [sys.executable, SCRIPT, str(length), *machines],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": str(seed)},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, dict[str, str]] = json.loads(done.stdout)
    return found


@contextmanager
def load() -> Iterator[None]:
    """Two processes for every core that compute all the time."""
    count = 2 * (os.cpu_count() or 1)
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: sum(range(10**6))"])
        for _ in range(count)
    ]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def test_another_process_makes_the_same_bytes() -> None:
    here = {name: script.fingerprints(krohn.read(name), 4) for name in QUICK}
    assert len({digests["model"] for digests in here.values()}) == len(QUICK)
    assert fingerprints(QUICK[::-1], 4, seed=2) == here


@pytest.mark.slow
def test_forty_machines_beside_a_hog(tmp_path: Path) -> None:
    names = [n for n in zoo.names() if len(zoo.machine(n).states) <= 24]
    expressions = [f"regex:{text}" for text in EXPRESSIONS]
    machines = [*names, *expressions, *drawn(tmp_path, DRAWN)]
    assert len(machines) >= 40
    quiet = fingerprints(machines, 24, seed=1)
    with load():
        assert fingerprints(machines, 24, seed=2) == quiet
