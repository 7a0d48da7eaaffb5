"""Programs from the commands: compiled, proved, run, verified; trouble is one line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from krohn import cli

Call = Callable[..., tuple[int, Any]]


@pytest.fixture
def reverse(tmp_path: Path, call: Call) -> Path:
    path = tmp_path / "reverse.safetensors"
    code, result = call("compile", "program:reverse", "-T", 8, "-o", path)
    assert (code, result["verdict"], result["claim"]) == (0, "verified", "exact")
    assert result["error"] is None
    return path


def test_all_commands_take_it(reverse: Path, call: Call, tmp_path: Path) -> None:
    evidence, picture = tmp_path / "evidence.json", tmp_path / "picture.svg"
    assert call("verify", reverse, "--evidence", evidence)[1]["verdict"] == "verified"
    for against in (), ("--machine", "program:reverse"):
        assert call("recheck", reverse, evidence, *against)[0] == 0
    assert call("recheck", reverse, evidence, "--machine", "program:sort")[0] == 2
    code, result = call("verify", reverse, "--exhaustive", 5)
    assert (code, result["verdict"], result["words"]) == (2, "undecided", 363)
    assert result["length"] == 5  # what was run, not what the file claims
    assert call("verify", reverse, "--sample", 50)[1]["verdict"] == "undecided"
    assert call("run", reverse, "abcc")[1]["outputs"] == ["c", "c", "b", "a"]
    assert call("explain", "program:reverse", "-T", 8)[1]["causal"] is False
    assert call("draw", reverse, "-o", picture)[0] == 0
    families = [row["name"] for row in call("zoo")[1]["families"]]
    assert "program:reverse" in families


def test_what_needs_a_machine_says_so(
    reverse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, letters = str(reverse), str(reverse.parent / "letters")
    Path(letters).write_text("abc")
    for command in (
        ["run", name, "--stream", letters],
        ["run", name, "ab", "--expect", "a"],
        ["verify", name, "--attack", "5"],
        ["verify", name, "--machine", "C2"],
        ["attention", name],
    ):
        assert cli.run(command) == 2, command
        assert len(capsys.readouterr().err.splitlines()) == 1, command


def test_a_function_from_a_file(call: Call, tmp_path: Path) -> None:
    text, path = tmp_path / "since.program", tmp_path / "since.safetensors"
    text.write_text('letters a b\nx = token()\noutput prefix_sum(x == "b") > 1\n')
    code, result = call("compile", text, "-T", 8, "-o", path)
    assert (code, result["verdict"]) == (0, "verified")
    assert call("run", path, "abab")[1]["outputs"] == ["0", "0", "0", "1"]
    text.write_text("letters a b\noutput token() = 3\n")
    code, result = call("compile", text, "-T", 8, "-o", path)
    assert (code, "since.program:2" in result["error"]) == (2, True)
    missing = call("explain", tmp_path / "no.program")[1]["error"]
    assert missing.endswith("no.program: cannot be read: No such file or directory")
    text.write_bytes(b"letters \xff")
    assert f"{text}:1: not UTF-8 text" in call("explain", text)[1]["error"]
