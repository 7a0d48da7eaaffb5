"""Theorems for Coq: what the kernel reads, written so that Coq proves it again."""

import os
import re
import shutil
import time
from pathlib import Path

import pytest
from command import refused, said
from coq_library import REALS, library, with_coq
from kernel_files import with_kernel

import krohn
from krohn.instruments.formal import commands
from krohn.instruments.formal.coq import LIBRARY, all_modules, needed_modules

FILES = {
    "rnn": ("C3", {"arch": "rnn"}),
    "rnn in bfloat16": ("FlipFlop", {"arch": "rnn", "dtype": "bfloat16"}),
    "ssm": ("FFL2", {"arch": "ssm"}),
    "ssm up to a length": ("C2", {"arch": "ssm", "length": 6}),
    "latest": ("FlipFlop", {"length": 16}),
    "sums in float64": ("C2", {"length": 8, "dtype": "float64"}),
    "a scan": ("S4", {"length": 4}),
    "a window": ("regex:(a|b)*abb", {"length": 8}),
    "earliest": ("Dyck1,2", {"length": 8}),
}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "m.safetensors"
    krohn.compile("C2", arch="rnn").save(path)
    return path


def test_nothing_is_admitted() -> None:
    for path in LIBRARY.glob("*.v"):
        words = set(re.findall(r"\w+", path.read_text()))
        assert not {"Admitted", "admit", "Axiom", "Parameter", "Conjecture"} & words


def test_modules_stand_after_what_they_import() -> None:
    modules = all_modules()
    assert {f"{name}.v" for name in modules} == {p.name for p in LIBRARY.glob("*.v")}
    for i, name in enumerate(modules):
        needed = needed_modules((LIBRARY / f"{name}.v").read_text())
        assert set(needed) <= set(modules[:i])


@with_kernel
def test_the_command_writes_a_folder(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = said("formal", saved, "-o", tmp_path / "out")
    assert found["proved"] is None
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names >= {"theorem.v", "Makefile", "Arithmetic.v"}
    refused("exists and is not empty", "formal", saved, "-o", tmp_path / "out")
    monkeypatch.setattr(commands.shutil, "which", lambda name: None)
    asked = ("formal", saved, "-o", tmp_path / "p", "--prove")
    refused("coqc is not installed", *asked)
    assert not (tmp_path / "p").exists()


def test_without_the_kernel_there_are_no_terms(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "find_kernel", lambda: None)
    refused("the kernel", "formal", saved, "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@with_kernel
def test_what_the_kernel_does_not_prove_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    krohn.compile("C2", 4, disguise="rotate").save(path)
    refused("no theorem about disguises", "formal", path, "-o", tmp_path / "out")


@pytest.mark.slow
@with_kernel
@with_coq
@pytest.mark.parametrize("case", FILES)
def test_coq_proves_it(case: str, tmp_path: Path) -> None:
    name, options = FILES[case]
    krohn.compile(name, **options).save(tmp_path / "m.safetensors")
    written = commands.write(tmp_path / "m.safetensors", tmp_path / "out")
    later = time.time()  # the same of all, so that `make` proves the theorem alone
    for path in library().glob("*.vo"):
        if (tmp_path / "out" / f"{path.stem}.v").exists():
            shutil.copyfile(path, tmp_path / "out" / path.name)
            os.utime(tmp_path / "out" / path.name, (later, later))
    proved = commands.run_coq(written)
    assert proved.proved, proved.reason
    assert set(proved.axioms) == REALS
