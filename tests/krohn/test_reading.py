"""Commands say how a file was read where it could mean two machines."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from slices_here import needs

from krohn import cli, read, zoo
from krohn.algebra.automaton import Automaton, Output, Semiautomaton
from krohn.algebra.formats import write
from krohn.algebra.formats.regex import from_regex

PREFIXES = "0 0 b b\n0 1 a a\n1 0 b b\n0\n1\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """An acceptor of prefixes, as a public benchmark writes them."""
    path = tmp_path / "m.att"
    path.write_text(PREFIXES)
    return path


def test_compiled_acceptors_accept(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "m.safetensors"
    how = ["--complete", "sink", "--observe", "accept"]
    done = cli.run(["compile", str(file), *how, "-T", "6", "-o", str(model), "--json"])
    said = capsys.readouterr()
    assert done == 0
    assert '"remark": "' in said.out
    assert "read as an acceptor" in said.err
    assert cli.run(["run", str(model), "abaab"]) == 0
    assert capsys.readouterr().out.split() == 3 * ["accept"] + 2 * ["reject"]
    against = ["--expect", "--machine", str(file), *how]
    assert cli.run(["run", str(model), "abaab", *against]) == 0
    capsys.readouterr()
    assert cli.run(["run", str(model), "abaab", *against, "--as", "mealy"]) == 2
    assert "needs final states" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("command", ["explain", "decompose", "draw"])
def test_every_command_says_how_a_file_was_read(
    command: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = ["-o", str(tmp_path / "m.svg")] if command == "draw" else []
    call = [command, str(file), *drawn, "--complete=sink", "--json"]
    assert cli.run(call) == 0
    assert '"remark": "' in capsys.readouterr().out
    assert cli.run([*call, "--as=mealy"]) == 0
    said = capsys.readouterr()
    assert "remark" not in said.out
    assert said.err == ""


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        ("S3", "mealy", "this is none, and says itself what it is"),
        ("S3", "moore", "--as takes acceptor or mealy, not 'moore'"),
    ],
)
def test_kinds_are_refused_where_there_is_no_choice(
    source: str, kind: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["explain", source, "--as", kind]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["decompose", "LCS8,8"], "LCS8,8 is a dynamic program, and no machine"),
        (
            ["decompose", "examples/folding.dp:n=5"],
            "is a dynamic program, and no machine",
        ),
        (["compare", "examples/majority.program"], "is a program, and no machine"),
        (["run", "RRXOR", "0"], "RRXOR is a hidden Markov model, and no model file"),
        (["run", "examples/majority.program", "a"], "is a program, and no model file"),
        (["explain", ""], "name a machine: a name of `krohn zoo`"),
        (
            ["run", "examples/turnstile.dot", "coin"],
            "is a machine, and no model file: krohn compile examples/turnstile.dot -T 64",
        ),
        (
            ["run", "crasp", "C2"],
            "No such file or directory; a model file is run: krohn",
        ),
        pytest.param(
            ["explain", "rrxor"],
            "did you mean RRXOR?",
            marks=needs("kinds.hidden_markov"),
        ),
    ],
)
def test_another_source_is_called_what_it_is(
    command: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(command) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


@pytest.mark.slow
def test_formal_expressions_by_prefix_and_by_option(call: Any) -> None:
    code, found = call("explain", "formal:(ab)* + (bb)*", "-T", 8)
    by_option = call("explain", "regex:(ab)* + (bb)*", "--formal", "-T", 8)
    assert code == 0
    assert by_option == (code, found)
    assert call("explain", "C2", "--formal")[1]["error"] == "--formal is for regex:…"


@pytest.mark.slow
def test_remarks_on_patterns_are_in_json(call: Any) -> None:
    assert "one or more" in call("explain", "regex:a+b", "-T", 8)[1]["remark"]


@pytest.mark.parametrize("suffix", [".dot", ".json", ".kiss2", ".att", ".g", ".dfa"])
def test_machines_are_read_from_standard_input(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = {".dot": "C3", ".json": "Grid4", ".g": "S3"}.get(suffix)
    machine = from_regex("(aa)*b*") if source is None else zoo(source)
    if suffix == ".kiss2":
        machine = bits()
    path = tmp_path / f"m{suffix}"
    write(machine, path)
    wanted = read(path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    found = read("-")
    assert found.name == "standard input"
    assert replace(found, name=wanted.name) == wanted


def test_what_is_piped_in_and_no_machine_is_refused(
    call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"hello")))
    code, found = call("explain", "-")
    assert code == 2
    assert found["error"] == (
        "-: standard input holds no machine in a format that is known by its text; "
        "save it to a file whose name ends in its format"
    )


def bits() -> Automaton:
    """A Mealy machine whose letters and outputs are bits."""
    moves = Semiautomaton(np.array([[0, 0], [1, 1]]), ("0", "1"), ("a", "b"))
    output = Output("transitions", np.array([[0, 1], [1, 0]]), ("0", "1"))
    return Automaton(moves, start=0, output=output, name="bits")
