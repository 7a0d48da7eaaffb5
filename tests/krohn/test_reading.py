"""Commands say how a file was read where it could mean two machines."""

from pathlib import Path

import pytest

from krohn import cli

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
    assert capsys.readouterr().out.split() == list("11100")
    against = ["--expect", "--machine", str(file), *how]
    assert cli.run(["run", str(model), "abaab", *against]) == 0
    capsys.readouterr()
    assert cli.run(["run", str(model), "abaab", *against, "--as", "mealy"]) == 2
    assert "needs final states" in capsys.readouterr().err


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
        (["explain", "rrxor"], "there is RRXOR"),
    ],
)
def test_another_source_is_called_what_it_is(
    command: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(command) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
