"""``krohn verify --exhaustive`` as a job: parts, job files, start states, errors."""

import sys
from pathlib import Path
from typing import Any

import pytest

import krohn
from krohn.checks import bytes_of, part_of
from krohn.program.extras import install
from krohn.verify.testing import shards


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "LEAVES", 2**5)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "c3.safetensors"
    krohn.compile("C3", 6, "counter").save(path)
    return path


def test_parts_are_joined_by_writing_one_behind_the_other(
    call: Any, file: Path, tmp_path: Path
) -> None:
    asked = ("verify", file, "--exhaustive", 6, "--job-file")
    parts = [tmp_path / "1.jsonl", tmp_path / "2.jsonl"]
    for i, path in enumerate(parts, start=1):
        code, report = call(*asked, path, "--shard", f"{i}/2")
        assert (code, report["verdict"]) == (2, "undecided")
        assert "of 10 shards; part" in report["reason"]
    whole = tmp_path / "all.jsonl"
    whole.write_bytes(parts[0].read_bytes() + parts[1].read_bytes())
    code, report = call(*asked, whole)
    assert (code, report["words"]) == (0, sum(3**i for i in range(1, 7)))
    assert report["covers"] == (  # nothing was run: the file may be anybody's
        "right on all 3^6 words of length 6, and all shorter, run as here, "
        "10 of 10 shards by the word of the job file"
    )


def test_every_start_state_is_run(call: Any, file: Path) -> None:
    code, report = call("verify", file, "-T", 4, "--exhaustive", 4, "--every-start")
    assert (code, report["words"]) == (0, 3 * (3 + 9 + 27 + 81))
    assert report["covers"].endswith("from each of 3 start states")


def test_a_wrong_network_is_refuted_by_its_shortest_word(
    call: Any, file: Path, tmp_path: Path
) -> None:
    asked = ("verify", file, "--machine", "C3", "--start", "1", "--exhaustive", 6)
    once = call(*asked)
    for _ in range(2):
        code, report = call(*asked, "--job-file", tmp_path / "job.jsonl")
        assert (code, report["verdict"]) == (1, "refuted")
        assert report["counterexample"] == once[1]["counterexample"]


def test_without_dask_the_extra_is_named(
    call: Any, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, report = call("verify", file, "--exhaustive", 3, "--cluster", "local:2")
    assert code == 2
    assert install("cluster") in report["error"]


def test_amounts_and_parts() -> None:
    assert [bytes_of(a) for a in ("7", "2GiB", "1.5 MiB", "3GB")] == [
        7,
        2**31,
        3 * 2**19,
        3 * 10**9,
    ]
    assert part_of("3/8") == (3, 8)
