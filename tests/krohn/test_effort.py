"""The limits of searches, and the places that say which parts were left out."""

import json
from pathlib import Path

import pytest

import krohn
from krohn import cli
from krohn.algebra.budget import EFFORTS
from krohn.algebra.errors import KrohnError
from krohn.compilation import explain
from krohn.decomposition import decompose
from krohn.network import modelfile

LEFT_OUT = "entries of the wiring that never matter were not made alike"


@pytest.mark.slow
def test_files_say_what_was_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "m.safetensors")
    asked = ["compile", "Grid4", "-T", "6", "--construction", "cascade", "-o", path]
    assert cli.run([*asked, "--effort", "3,000"]) == 0
    said = capsys.readouterr().out
    assert f"Cut short: {LEFT_OUT} (each search may take 3,000 steps; --effort" in said
    found = {"effort": 3000, "cut_short": [LEFT_OUT]}
    assert modelfile.read(path).header["search"] == found
    assert krohn.verify(path).verdict == "verified"
    assert cli.run([*asked, "--effort", "3000", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert {key: result[key] for key in found} == found
    assert cli.run(asked) == 0
    assert "Cut short" not in capsys.readouterr().out
    assert modelfile.read(path).header["search"] == {
        "effort": EFFORTS["normal"],
        "cut_short": [],
    }


@pytest.mark.slow
def test_explanations_say_what_was_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    facts = explain("Grid4", 6, effort=400)
    assert facts["effort"] == 400
    assert any(what.startswith("derived: stopped") for what in facts["cut_short"])
    assert cli.run(["explain", "Grid4", "-T", "6", "--effort", "400"]) == 0
    assert "Cut short: " in capsys.readouterr().out
    assert explain("Grid4", 6, effort="unlimited")["cut_short"] == []


def test_decompositions_say_what_was_left_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    effort = 4 * decompose("Grid4", "derived").budget.spent // 5
    asked = ["decompose", "Grid4", "--method", "derived", "--effort", str(effort)]
    assert cli.run([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["effort"] == effort
    assert LEFT_OUT in found["cut_short"]
    assert cli.run(asked) == 0
    assert f"Cut short: {LEFT_OUT}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "how", [{"construction": "scan", "length": 8}, {"arch": "rnn"}], ids=str
)
def test_an_effort_that_changes_nothing_is_refused(how: dict[str, object]) -> None:
    with pytest.raises(KrohnError, match="effort= is for"):
        krohn.compile("C2", effort="high", **how)
    assert "search" not in krohn.compile("C2", **how).file.header
