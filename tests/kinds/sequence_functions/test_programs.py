"""Programs from the commands: compiled, proved, run, verified; trouble is one line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import krohn
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


ADDRESSED = """letters a b c
x = token()
here = prefix_sum(x == "a")
output at(x, here), at(x, here + here - 1)
"""


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_addresses_may_be_quadratic(dtype: str, call: Call, tmp_path: Path) -> None:
    """Positions that words decide: before the word, in it, and ahead of who asks."""
    text, path = tmp_path / "counted.program", tmp_path / "counted.safetensors"
    text.write_text(ADDRESSED)
    how = "-o", path, "--dtype", dtype, "--addresses"
    widths = []
    for length in (5, 20):
        code, told = call("compile", text, "-T", length, *how, "quadratic")
        assert (code, told["verdict"]) == (0, "verified")
        widths.append(told["d_model"])
    assert widths[0] == widths[1]
    assert call("verify", path, "--machine", text)[1]["verdict"] == "verified"
    word = "bacabaacbaabcccabaca"
    said = call("run", path, word)[1]["outputs"]
    for t, answer in enumerate(said, 1):
        count = word[:t].count("a")
        places = [p if 1 <= p <= t else 0 for p in (count, 2 * count - 1)]
        assert answer == ",".join(("", *word)[p] for p in places)
    text.write_text('letters a b\nx = token()\noutput latest(x, x == "b")\n')
    assert call("compile", text, "-T", 5, *how, "quadratic")[0] == 2


def test_addresses_that_the_position_decides_take_one_layer() -> None:
    p = krohn.program("abc")
    t = p.position()
    p.output(p.at(p.token(), p.map(lambda x: x // 2 + 1, t)))
    for dtype in ("float16", "float32"):
        model = krohn.compile(p, 9, dtype=dtype, addresses="quadratic")
        assert model.proof is not None
        assert (model.proof.verdict, model.summary()["layers"]) == ("verified", 1)
        assert model.model.run("bacbc") == ["b", "a", "a", "c", "c"]
