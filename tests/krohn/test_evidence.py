"""``krohn verify --evidence`` and ``krohn recheck``."""

import json
from pathlib import Path
from typing import Any

import pytest
from slices_here import needs

import krohn
from krohn.cli import run
from krohn.evidence import check
from krohn.network import modelfile
from krohn.program.errors import Refused
from krohn.program.statement import Statement
from krohn.verify.checker.model_file import Machine
from krohn.verify.search import refinement

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def model(tmp_path: Path) -> str:
    """A model file."""
    path = str(tmp_path / "d6.safetensors")
    assert run(["compile", "D6", "-T", "6", "-o", path]) == 0
    return path


def test_what_the_proof_found_is_written_without_another_search(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searches, find = list[object](), refinement.find

    def counted(program: Statement, machine: Machine) -> dict[str, Any]:
        searches.append(program)
        return find(program, machine)

    monkeypatch.setattr(refinement, "find", counted)
    out = str(tmp_path / "evidence.json")
    assert run(["verify", model, "--proof", "--evidence", out]) == 0
    assert len(searches) == 1
    assert run(["recheck", model, out]) == 0
    assert len(searches) == 1


@pytest.mark.slow
def test_evidence_of_a_generator_is_written_and_checked_again(
    tmp_path: Path, capsys: Capture
) -> None:
    model, out = str(tmp_path / "g.safetensors"), str(tmp_path / "evidence.json")
    how = ["--construction", "balanced", "-o", model]
    assert run(["compile", "Dyck3,2", "-T", "12", *how]) == 0
    assert run(["verify", model, "--proof", "--evidence", out]) == 0
    capsys.readouterr()
    assert run(["recheck", model, out]) == 0
    said = capsys.readouterr().out
    assert (
        "of the law that opens with q = 1/2 on all legal prefixes of up to 12 letters, "
        "in float32"
    ) in said
    assert run(["recheck", model, out, "--machine", "Dyck3,2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["facts"]["law"]["cases"] == 17
    assert run(["compile", "Dyck3,2", "-T", "11", *how]) == 0
    assert run(["recheck", model, out]) == 2


@pytest.mark.slow
def test_the_report_says_what_was_written(
    model: str, tmp_path: Path, capsys: Capture
) -> None:
    out = tmp_path / "evidence.json"
    capsys.readouterr()
    assert run(["verify", model, "--evidence", str(out), "--json"]) == 0
    written = json.loads(capsys.readouterr().out)["written"]
    assert written["size"] == out.stat().st_size
    assert written["facts"]["noise"]
    record = json.loads(out.read_text())["record"]
    assert record["unit roundoff"] == 2.0**-24
    assert record["steps"][-1]["sublayer"] == "read-out"


def test_evidence_for_another_model_or_machine_is_not_taken(
    model: str, tmp_path: Path, capsys: Capture
) -> None:
    out, other = str(tmp_path / "evidence.json"), str(tmp_path / "other.safetensors")
    assert run(["verify", model, "--evidence", out]) == 0
    assert run(["compile", "D6", "-T", "5", "-o", other]) == 0
    capsys.readouterr()
    assert run(["recheck", other, out]) == 2
    assert (
        "not shown: the evidence is for another model file" in capsys.readouterr().out
    )
    start = ["--machine", "D6", "--start", "(1,0)"]
    assert run(["recheck", model, out, *start]) == run(["verify", model, *start]) == 1
    assert "not verified: after" in capsys.readouterr().err


def test_what_is_checked_is_what_makes_the_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is replaced once it was read proves nothing of what it said before."""
    files = [str(tmp_path / f"{name}.safetensors") for name in ("first", "second")]
    for path, (up, down) in zip(files, ("ab", "ba"), strict=True):
        to = {up: "q", down: "p"}
        krohn.compile({"p": to, "q": to}, 5).save(path)
    evidence = tmp_path / "evidence.json"
    assert run(["verify", files[1], "--evidence", str(evidence)]) == 0
    read, replaced = modelfile.read_data, Path(files[1]).read_bytes()

    def read_and_replaced(path: str | Path) -> bytes:
        data = read(path)
        Path(path).write_bytes(replaced)
        return data

    monkeypatch.setattr(modelfile, "read_data", read_and_replaced)
    result = check(files[0], evidence)
    assert result.about.letters == ("a", "b")
    assert result.verdict == "undecided"


@pytest.mark.sample(1)
@needs("architectures.recurrent")
@pytest.mark.parametrize("widest", [0, 1024])
def test_evidence_of_rnns_is_for_every_length(
    tmp_path: Path, capsys: Capture, widest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("krohn.architectures.recurrent.build.WIDEST_DENSE", widest)
    path, out = str(tmp_path / "d6.safetensors"), str(tmp_path / "evidence.json")
    assert run(["compile", "D6", "--arch", "rnn", "-o", path]) == 0
    assert run(["verify", path, "--evidence", out]) == 0
    assert run(["recheck", path, out]) == 0
    assert "right on all words of every length" in capsys.readouterr().out
    assert run(["recheck", path, out, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)["facts"]
    assert (facts["length"], facts["pairs"], facts["margin"]) == (None, 6, 2.0)
    start = ["--machine", "D6", "--start", "(1,0)"]
    assert run(["recheck", path, out, *start]) == 1
    assert "the evidence shows what the file itself claims" in capsys.readouterr().err


def test_what_is_not_proved_has_no_evidence(
    model: str, tmp_path: Path, capsys: Capture
) -> None:
    out = tmp_path / "evidence.json"
    start = ["--machine", "D6", "--start", "(1,0)"]
    assert run(["verify", model, *start, "--evidence", str(out)]) == 2
    assert "so there is no evidence" in capsys.readouterr().err
    assert run(["verify", model, "--exhaustive", "3", "--evidence", str(out)]) == 2
    assert "say --proof as well" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.slow
def test_what_cannot_be_shown_again_is_said(
    model: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(*given: object) -> None:
        raise Refused("no cases decide 'map0'")

    out = tmp_path / "evidence.json"
    monkeypatch.setattr("krohn.evidence.recheck", nothing)
    assert run(["verify", model, "--evidence", str(out)]) == 2
    error = capsys.readouterr().err
    assert "no cases decide 'map0'" in error
    assert "nothing was written" in error
    assert not out.exists()
