"""Short texts of longest increasing subsequences: proved, run, refused."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import krohn
from krohn import cli
from krohn.network.modelfile import ModelFile
from krohn.source_kinds.increasing_subsequences import IncreasingSubsequences
from krohn.verify.proof import prove

Call = Callable[..., tuple[int, Any]]
KIND = IncreasingSubsequences()


@pytest.fixture(scope="module")
def file() -> ModelFile:
    return krohn.compile("ShortLIS4,3").file


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


@pytest.mark.parametrize("change", [{"longest": 3}, {"largest": 2}, {"largest": 4}])
def test_another_source_is_not_proved(file: ModelFile, change: dict[str, Any]) -> None:
    source = {**file.header["source"], **change}
    assert prove(
        replace(file, header={**file.header, "source": source}), None
    ).verdict != ("verified")
