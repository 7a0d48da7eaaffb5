"""How counts are worded, near names are suggested, and texts are shown."""

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest
from bestiary import machines
from hypothesis import given, strategies as st

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Output, Semiautomaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats import read
from krohn.algebra.minimisation import moore, output_classes
from krohn.algebra.wording import exactly, in_runs, near
from krohn.program.slices import GROUPS
from krohn.program.wording import at_most

ROOT = Path(__file__).parents[2]
CUT = re.compile(r"""["'], ["']\.join\(.*\[:\s*[A-Z0-9_]+\]\)""")
"""Names that are cut by hand."""


def test_lists_in_messages_are_cut_by_the_one_function() -> None:
    """`listed` says how many more there are; pictures have their own widths."""
    packages = ("algebra", "program", "network", "compiler", "krohn", "verify", "jobs")
    paths = [p for d in (*packages, *GROUPS) for p in sorted((ROOT / d).rglob("*.py"))]
    assert len(paths) > 500
    cut = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in paths
        if "drawing" not in path.parts and not path.name.startswith("draw")
        for line in path.read_text().splitlines()
        if CUT.search(line)
    ]
    assert cut == []


def test_letters_in_a_row_are_powers() -> None:
    assert in_runs("1" * 128 + "0") == "1^128 0"
    assert in_runs(["coin", "push", "push"]) == "coin push^2"
    assert in_runs("") == ""


def test_a_bound_is_never_said_to_be_smaller_than_it_is() -> None:
    assert at_most(1.2301) == "1.24"
    for written in ("1", "0.25", "0.001", "1e-07", "1.5e+300"):
        assert at_most(float(written)) == written
    for x in (Random(0).random() * 10.0**n for n in range(-300, 300)):
        written = Fraction(repr(x))
        assert written <= Fraction(at_most(x)) <= written * Fraction("1.01")


def test_a_number_is_said_so_that_it_is_no_other_one() -> None:
    assert [exactly(x) for x in (1.0, -0.5, 2.0**-70)] == [
        "1",
        "-0.5",
        "8.470329472543003e-22",
    ]
    assert exactly(0.99999999) == "0.99999999"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("scna", " (did you mean scan?)"),
        ("SCAN", " (did you mean scan?)"),
        ("memry", " (did you mean memory?)"),
        ("xyz", ""),
        ("", ""),
    ],
)
def test_the_nearest_name_is_said(name: str, hint: str) -> None:
    assert near(name, ["scan", "memory", "product"]) == hint


def test_a_missing_file_names_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "turnstile.dot").write_text("digraph {}")
    with pytest.raises(MachineError, match=r"did you mean turnstile\.dot\?"):
        read(tmp_path / "turnstil.dot")
    with pytest.raises(MachineError, match=r"No such file or directory$"):
        read(tmp_path / "nowhere" / "turnstil.dot")


@given(machines(), st.integers(1, 3), st.integers(0, 1000))
def test_a_moore_machine_shows_what_the_mealy_machine_showed(
    structure: Semiautomaton, outputs: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    table = rng.integers(outputs, size=structure.transitions.shape)
    names = tuple(f"o{i}" for i in range(outputs))
    mealy = Automaton(structure, output=Output("transitions", table, names))
    word = rng.choice(np.array(structure.letters), size=12).tolist()
    assert moore(mealy).run(word) == mealy.run(word)


def test_outputs_on_states_stay() -> None:
    machine = replace(zoo.machine("C2"), output=Output("states", np.eye(2)[0], "ab"))
    assert moore(machine) is machine
    assert output_classes(machine, "outputs").of.tolist() == [1, 0]
    assert output_classes(machine, "states").names == ("0", "1")


def test_machines_without_outputs_say_so() -> None:
    with pytest.raises(MachineError, match="choose an observation"):
        moore(zoo.machine("C2"))
    with pytest.raises(MachineError, match="shows no outputs"):
        output_classes(zoo.machine("C2"), "outputs")
