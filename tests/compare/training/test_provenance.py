"""Where a number comes from is said without the folders of a machine."""

import subprocess
from pathlib import Path

import pytest

from krohn.compare.training import provenance


def test_commands_are_as_a_shell_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["/usr/local/bin/krohn", "compare", "a b"])
    assert provenance.command() == "krohn compare 'a b'"
    script = str(Path.cwd() / "results" / "main.py")
    monkeypatch.setattr("sys.argv", [script, "--seeds", "2"])
    assert provenance.command() == "results/main.py --seeds 2"
    monkeypatch.setattr("sys.argv", ["results/main.py", "--seeds", "2"])
    assert provenance.command() == "results/main.py --seeds 2"
    monkeypatch.setattr("sys.argv", ["/usr/lib/krohn/__main__.py", "zoo"])
    assert provenance.command() == "python -m krohn zoo"


def test_the_commit_is_marked_if_files_other_than_results_have_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    assert provenance.commit() is None
    (tmp_path / "results").mkdir()
    for path in (tmp_path / "file", tmp_path / "results" / "runs.csv"):
        path.write_text("1")
    for asked in (
        "init -q",
        "add file results",
        "-c user.name=n -c user.email=e commit -q -m one",
    ):
        subprocess.run(["git", "-C", tmp_path, *asked.split()], check=True)
    found = provenance.commit()
    assert found is not None
    assert len(found) == 12
    (tmp_path / "results" / "runs.csv").write_text("2")
    assert provenance.commit() == found
    (tmp_path / "file").write_text("2")
    assert provenance.commit() == found + "+"


def test_versions_are_of_what_takes_part() -> None:
    found = provenance.versions()
    assert {"python", "numpy", "torch"} <= set(found)
    assert provenance.device_name("cpu")
