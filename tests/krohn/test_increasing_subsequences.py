"""Short texts of longest increasing subsequences: proved, run, refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from krohn import cli

Call = Callable[..., tuple[int, Any]]


def test_commands(tmp_path: Path, call: Call) -> None:
    path = tmp_path / "l.safetensors"
    code, told = call("compile", "ShortLIS6,12", "-o", path)
    assert (code, told["verdict"]) == (0, "verified")
    told = call("run", path, "3 11 2 5")[1]
    assert told["shown"] == "3 11 2 5 <sep> 1 2 1 2 <sep> 2 <eos>"
    assert call("verify", path, "--proof", "--sample", 20)[1]["verdict"] == "verified"
    assert call("explain", "ShortLIS6,12")[1]["depth"] == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compile", "ShortLIS0", "-o", "F"), "lists have 1 to 512 numbers"),
        (("compile", "ShortLIS4", "-T", "9", "-o", "F"), "-T is for words"),
        (("explain", "ShortLIS4,9999"), "0 to 512 at most"),
    ],
)
def test_trouble_is_one_line(
    arguments: tuple[str, ...],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    named = {"F": str(tmp_path / "f.safetensors")}
    assert cli.run([named.get(word, word) for word in arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
