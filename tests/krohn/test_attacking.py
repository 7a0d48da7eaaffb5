"""krohn verify --attack: a proof that holds stays verified, one that does not is told."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import krohn
from krohn import cli
from krohn.compiled_model import CompiledModel
from krohn.machine_verification import attacked
from krohn.verify.attack import campaign
from krohn.verify.attack.campaign import Attack
from krohn.verify.attack.worst_seen import Worst


@pytest.fixture(scope="module")
def built() -> CompiledModel:
    return krohn.compile("C2", 8, "counter")


@pytest.fixture(scope="module")
def path(built: CompiledModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("attack") / "c2.safetensors"
    built.save(path)
    return path


def test_the_command_attacks_after_it_has_proved(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["verify", str(path), "--attack", "0.2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "verified"
    assert found["method"] == "proof+attack"
    assert found["attack"]["violations"] == []
    assert found["attack"]["positions"] > 0


def test_the_command_shows_the_tightest_bounds(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["verify", str(path), "--attack", "0.2"]) == 0
    said = capsys.readouterr().out
    assert "no number was beyond its bound" in said
    assert "prefix-sum" in said


def broken(built: CompiledModel, worst: Worst, monkeypatch: pytest.MonkeyPatch) -> str:
    """The verdict if an attack has found a violation."""
    found = Attack(1, {"eager": 1}, {}, {}, {}, (worst,), 0.0)
    monkeypatch.setattr(campaign, "attack", lambda *args, **options: found)
    report = krohn.verify(built.file)
    after = attacked(report, built.file, seconds=1)
    assert after.method == "proof+attack"
    return after.verdict


def test_a_number_beyond_its_bound_leaves_the_verdict_open(
    built: CompiledModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    worst = Worst("prefix-sum", "sum", 1, 0.5, 0.1, (0, 1), 2, "eager")
    assert broken(built, worst, monkeypatch) == "undecided"


def test_a_wrong_answer_that_does_not_come_again_refutes_nothing(
    built: CompiledModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    worst = Worst("margin", "", -1, -0.5, 0.1, (0, 1), 2, "eager")
    assert broken(built, worst, monkeypatch) == "undecided"


def test_a_wrong_answer_is_replayed_and_refutes(
    built: CompiledModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = built.file.tensors["unembed.weight"]
    wrong = {**built.file.tensors, "unembed.weight": -weights}
    report = krohn.verify(built.file)
    worst = Worst("margin", "", -1, -0.5, 0.1, (1, 1), 2, "eager")
    found = Attack(1, {"eager": 1}, {}, {}, {}, (worst,), 0.0)
    monkeypatch.setattr(campaign, "attack", lambda *args, **options: found)
    after = attacked(report, replace(built.file, tensors=wrong), seconds=1)
    assert after.verdict == "refuted"
    assert after.counterexample is not None


def test_what_is_not_proved_is_not_attacked(built: CompiledModel) -> None:
    report = krohn.verify(built.file, exhaustive=3)
    assert attacked(report, built.file, seconds=1) is report
