"""Where a number comes from, and how plain values are described."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from krohn.algebra import zoo
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.instruments.compare.training import (
    Recipe,
    Sharpening,
    provenance,
)
from krohn.instruments.compare.training.provenance import (
    canonical_text,
    content_name,
    describe,
)
from krohn.program.extras import import_folder


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


def test_the_sources_are_found_where_git_knows_them() -> None:
    assert (provenance.ROOT / "pyproject.toml").is_file()
    assert (provenance.commit() is None) != (provenance.ROOT / ".git").exists()


COUNTING = re.compile(r"__file__\)[^\n]*\.(parents\[|parent\.parent)")


def test_no_module_counts_the_folders_above_itself() -> None:
    """Modules are moved; the package is asked where it lies."""
    package = import_folder() / "krohn"
    folders = [package, *(f.resolve() for f in package.iterdir() if f.is_symlink())]
    every = [path for folder in folders for path in folder.rglob("*.py")]
    assert len(every) > 500
    counting = [path for path in every if COUNTING.search(path.read_text("utf-8"))]
    assert [path.name for path in counting] == ["extras.py"]


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


@dataclass(frozen=True)
class Holder:
    held: object


def test_descriptions_are_json_that_names_kinds() -> None:
    found = describe(Recipe(sharpening=Sharpening(0.1), betas=(0.9, 0.99)))
    assert json.loads(canonical_text(found)) == found
    assert found["kind"] == "Recipe"
    assert found["sharpening"]["kind"] == "Sharpening"
    assert found["betas"] == [0.9, 0.99]


def test_machines_are_described_so_that_they_can_be_read_again() -> None:
    machine = zoo.machine("D8")
    assert json_format.from_object(describe(machine)) == machine


def test_names_go_by_content_and_not_by_the_order_of_keys() -> None:
    assert content_name({"a": 1, "b": 2}) == content_name({"b": 2, "a": 1})
    assert content_name({"a": 1}) != content_name({"a": 1.5})
    assert content_name({"a": "⊥\ud800"}) == content_name({"a": "⊥\ud800"})


def test_what_is_no_plain_value_has_no_description() -> None:
    with pytest.raises(KrohnError, match="a ndarray has no description"):
        describe(Holder(np.zeros(2)))
