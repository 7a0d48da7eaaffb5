"""``krohn decompose`` and ``krohn draw --eggbox``: text, JSON, files, trouble."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command import Done

from krohn import cli, decomposition
from krohn.algebra import zoo
from krohn.algebra.budget import BudgetExceeded
from krohn.algebra.cascade import prove
from krohn.algebra.decomposition.methods import METHODS
from krohn.algebra.errors import KrohnError
from krohn.decomposition import decompose, describe

Command = Callable[..., Done]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command as from a shell."""

    def call(*arguments: object) -> Done:
        code = cli.run([str(a) for a in arguments])
        found = capsys.readouterr()
        return Done(code, found.out, found.err)

    return call


# --- what is computed -----------------------------------------------------------------


@pytest.mark.sample(1)
@pytest.mark.parametrize("method", ["auto", *METHODS])
@pytest.mark.parametrize("name", ["Grid4", "S4", "abab", "Dyck4,2", "PermReset4"])
def test_facts_agree_with_the_cascade(name: str, method: str) -> None:
    found = decompose(name, method)
    facts = describe(found)
    cascade = found.found.cascade
    rows = [row for level in facts["levels"] for row in level]
    assert sorted(row["component"] for row in rows) == [
        i + 1 for i in range(len(cascade.components))
    ]
    for row in rows:
        assert row["states"] == cascade.components[row["component"] - 1].size
        assert row["order"] == cascade.components[row["component"] - 1].group.order
    assert facts["coordinates"] >= facts["states"] == len(zoo.machine(name).states)
    assert method in ("auto", facts["method"])
    assert facts["method"] in {row["method"] for row in facts["tried"]}


@pytest.mark.slow
def test_components_read_only_levels_above() -> None:
    for name in ("Grid4", "S4", "C2xC3xC5", "Dyck4,2", "Adder"):
        levels = describe(decompose(name))["levels"]
        above: set[int] = set()
        for level in levels:
            assert all(set(row["reads"]) <= above for row in level)
            above |= {row["component"] for row in level}


def test_counters_side_by_side_lie_on_one_level() -> None:
    (level,) = describe(decompose("C2xC3xC5", "prime"))["levels"]
    assert sorted(row["order"] for row in level) == [2, 3, 5]
    assert all(row["reads"] == [] for row in level)


def test_grids_are_flip_flops_that_halve_what_is_possible() -> None:
    rows = [
        row
        for level in describe(decompose("Grid4", "holonomy"))["levels"]
        for row in level
    ]
    assert [row["kind"] for row in rows] == ["flip-flop"] * 3
    assert rows[0]["meaning"]["readings"] == [
        {
            "when": "",
            "possible": list("0123"),
            "leaves": {"0": list("012"), "1": list("123")},
        }
    ]
    assert [row["meaning"]["contexts"] for row in rows] == [1, 2, 3]


def test_only_what_is_reachable_is_decomposed_on_demand() -> None:
    machine = zoo.machine("Dyck4,2")
    assert describe(decompose(machine, start="error"))["states"] == 1
    assert describe(decompose(machine))["states"] == 32


def test_one_state_needs_no_component() -> None:
    facts = describe(decompose(zoo.machine("Dyck4,2"), start="error"))
    assert facts["levels"] == []
    assert facts["coordinates"] == 1
    assert facts["start"] == {"state": "error", "coordinates": []}


def test_a_short_budget_says_what_to_do() -> None:
    with pytest.raises(BudgetExceeded, match=r"Grid9.*raise effort=.*method="):
        decompose("Grid9", "holonomy", effort=0)


def test_unknown_methods_are_refused() -> None:
    with pytest.raises(KrohnError, match=r"holonomy.*not 'magic'"):
        decompose("Grid4", "magic")


# --- the command ----------------------------------------------------------------------


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "name",
    [
        *("Grid4", "S5", "C6", "FlipFlop", "Adder"),
        pytest.param("Rubik", marks=pytest.mark.slow),
    ],
)
def test_json(command: Command, name: str) -> None:
    found = command("decompose", name, "--json").json
    assert found.keys() == {
        "schema",
        *("machine", "states", "letters", "method", "why", "levels", "covers"),
        *("coordinates", "triples", "start", "steps", "tried", "effort", "cut_short"),
    }
    assert found["machine"] == name
    assert found["covers"] is True
    for level in found["levels"]:
        for row in level:
            assert row.keys() == {
                *("component", "kind", "states", "group", "order", "reads", "nodes"),
                "meaning",
            }
            for reading in row["meaning"]["readings"]:
                left = set().union(*map(set, reading["leaves"].values()))
                assert left == set(reading["possible"])


def test_values_of_a_component_say_of_which_states_they_speak(
    command: Command,
) -> None:
    """A component that reads others may speak of some states only."""
    machine = "regex:(a|b(a|c)*b)*c?"
    facts = command("decompose", machine, "--json").json
    text = command("decompose", machine).out
    partial = 0
    for row in (row for level in facts["levels"] for row in level):
        meaning = row["meaning"]
        if not meaning["same_everywhere"] or not meaning["contexts"]:
            continue
        (reading,) = meaning["readings"]
        line = f"  {row['component']}: {row['kind']}"
        if len(reading["possible"]) < facts["states"]:
            line += f", given {{{', '.join(reading['possible'])}}}"
            partial += 1
        assert line in text.splitlines()
    assert partial


def test_text(command: Command) -> None:
    done = command("decompose", "Grid4", "--method", "holonomy")
    assert (done.code, done.err) == (0, "")
    for line in (
        "Grid4: 4 states, 2 letters, decomposed into 3 components on 3 levels "
        "(method holonomy)",
        "    1   1  flip-flop        2  1          1  letter            2",
        "    given {0, 1, 2}, if component 1 is 0",
        "      1 → {1, 2}",
        "The start 0 has the coordinates (0, 0, 0).",
        "Chosen: holonomy, which was asked for.",
    ):
        assert line in done.out.splitlines()
    assert "from each of its 8 coordinates" in done.out


def test_text_is_cut_where_there_is_much(command: Command) -> None:
    out = command("decompose", "Dyck4,2", "--method", "holonomy").out
    assert "… 4 more contexts" in out
    assert "… (4 more)" in out
    assert len(out.splitlines()) < 100
    assert "more values" in command("decompose", "C12").out


@pytest.mark.sample(1)
@pytest.mark.parametrize("suffix", ["svg", "png", "pdf", "json"])
def test_files(command: Command, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"c.{suffix}"
    found = command("decompose", "Adder", "-o", path, "--json").json
    assert found["file"] == str(path)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    again = tmp_path / f"d.{suffix}"
    assert command("decompose", "Adder", "-o", again).code == 0
    assert again.read_bytes() == path.read_bytes()
    if suffix == "json":
        prove(zoo.machine("Adder").semiautomaton, decomposition.load_cascade(path))


def test_the_help_names_every_method(command: Command) -> None:
    words = command("decompose", "--help").out.replace(",", " ").replace(".", " ")
    assert {"auto", *METHODS} <= set(words.split())


# --- egg-boxes ------------------------------------------------------------------------


@pytest.mark.sample(1)
@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_eggboxes(command: Command, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"e.{suffix}"
    assert command("draw", "Grid4", "--eggbox", "-o", path).out == f"drew {path}\n"
    assert path.stat().st_size > 1000


# --- the example ----------------------------------------------------------------------


@pytest.mark.slow
def test_the_example_runs() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, root / "examples" / "decompose.py"],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "level 1: counter modulo 2, reads the letter alone" in done.stdout
    assert done.stdout.count("the same states") == 2
    assert done.stdout.count("proved again") == 2
