"""The kernel is what Coq extracts, and its theorems rest on the reals alone."""

import re
import subprocess
from pathlib import Path

import pytest
from coq_library import REALS, axioms_of, library, with_coq

from krohn.instruments.formal.coq import LIBRARY

KERNEL = LIBRARY.parent / "ocaml"
THEOREMS = re.findall(r"^Theorem (\w+)", (LIBRARY / "Kernel.v").read_text(), re.M)
pytestmark = [pytest.mark.slow, with_coq]


@pytest.mark.parametrize("name", ["kernel.ml", "kernel.mli"])
def test_what_is_committed_is_what_coq_extracts(name: str) -> None:
    assert (library() / name).read_bytes() == (KERNEL / name).read_bytes()


@pytest.mark.parametrize("theorem", THEOREMS)
def test_what_its_theorems_rest_on(theorem: str) -> None:
    assert axioms_of(f"Kernel.{theorem}") == REALS


def test_that_a_program_computes_a_machine_rests_on_nothing() -> None:
    assert axioms_of("Kernel.computed_sound") == {"Closed"}


def test_the_small_checker_of_coq_agrees() -> None:
    """Coqchk checks all proofs again, and lists the axioms."""
    ran = subprocess.run(
        ["coqchk", "-silent", "-o", "-Q", ".", "Krohn", "Krohn.Kernel", "Krohn.Bits"],
        cwd=library(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    listed = re.search(r"\* Axioms:(.*?)\n\s*\n", ran.stdout + ran.stderr, re.DOTALL)
    assert listed
    names = {Path(name.replace(".", "/")).name for name in listed[1].split()}
    assert names <= {axiom.partition(".")[2] for axiom in REALS} | {"<none>"}
