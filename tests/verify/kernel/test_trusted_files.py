"""What a verdict of the kernel rests on is listed, and is what the statement needs."""

import re
from pathlib import Path

import pytest
from command import said
from kernel_files import with_kernel

import krohn
from krohn.verify.kernel.trusted_files import HERE, STATEMENTS, THEOREMS, kernel_rests

IMPORTS = re.compile(r"From Krohn Require (?:Import |Export )?([\w\s]+)\.")


def defined(name: str) -> str:
    """The part of a module that defines."""
    return (HERE / "coq" / f"{name}.v").read_text().partition(THEOREMS)[0]


@pytest.mark.parametrize("architecture", STATEMENTS)
def test_a_statement_imports_what_is_listed(architecture: str) -> None:
    """Or a module of which the statement uses nothing: an imported proof is none of it."""
    modules = STATEMENTS[architecture]
    for name in modules:
        imported = {
            x for names in IMPORTS.findall(defined(name)) for x in names.split()
        }
        for other in imported - set(modules):
            names = re.findall(
                r"(?:Definition|Fixpoint|Inductive|Record) (\w+)",
                (HERE / "coq" / f"{other}.v").read_text(),
            )
            body = IMPORTS.sub("", defined(name))
            assert not [x for x in names if re.search(rf"\b{x}\b", body)], other


@pytest.mark.parametrize("architecture", ["transformer", "rnn", "lstm", "ssm"])
def test_no_theorem_stands_in_what_defines(architecture: str) -> None:
    for file in kernel_rests(architecture).files:
        assert 0 < file.code <= file.lines
    for name in STATEMENTS.get(architecture, STATEMENTS["gated"]):
        assert not re.search(r"^(Lemma|Theorem|Proof)", defined(name), re.M), name


@pytest.mark.slow
@with_kernel
def test_the_command_lists_them(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    krohn.compile("FlipFlop", 8).save(path)
    by_kernel = said("verify", path, "--trusted")["trusted"]
    by_rules = said("verify", path, "--kernel", "none", "--trusted")["trusted"]
    assert {Path(each["file"]).suffix for each in by_kernel["each"]} == {".v", ".ml"}
    assert 4 * by_kernel["lines"] < by_rules["lines"]
    assert "OCaml" in by_kernel["beside"]
    assert "numpy" in by_rules["beside"]
