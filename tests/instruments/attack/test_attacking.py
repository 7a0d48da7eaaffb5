"""krohn verify --attack: a proof that holds stays verified, one that does not is told."""

import json
from dataclasses import replace
from pathlib import Path

import bad_words
import numpy as np
import pytest
from brought_models import WAYS, drawn
from worst_orders import Products, worst

import krohn
from krohn import cli
from krohn.compiled_model import CompiledModel
from krohn.instruments.attack import campaign
from krohn.instruments.attack.campaign import Attack
from krohn.instruments.attack.worst_seen import Worst
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.machine_verification import attack_proof


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
    after = attack_proof(report, built.file, seconds=1)
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
    after = attack_proof(report, replace(built.file, tensors=wrong), seconds=1)
    assert after.verdict == "refuted"
    assert after.counterexample is not None


def test_what_is_not_proved_is_not_attacked(built: CompiledModel) -> None:
    report = krohn.verify(built.file, exhaustive=3)
    assert attack_proof(report, built.file, seconds=1) is report


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", [10, 14])
def test_no_error_that_is_found_is_above_the_proof(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bad_words, "HELD_STEPS", 10)
    monkeypatch.setattr(bad_words, "ORDER_STEPS", 2)
    monkeypatch.setattr(bad_words, "STEPS", 1)
    source = WAYS["Python"](drawn(seed), tmp_path)
    for dtype in ("float32", "float64"):
        model = krohn.compile(
            source, 8, construction="attention-products", dtype=dtype, within=1e-3
        )
        found, in_bad_orders = bad_words.largest_errors(model)
        assert in_bad_orders is not None
        assert max(found, in_bad_orders) <= model.file.header["claim"]["error"]


def test_beliefs_in_bad_orders_are_beliefs(tmp_path: Path) -> None:
    """Where states share rows, and words are shorter than the window."""
    say = np.eye(3)[[0, 1, 2, 0, 1]].T
    step = np.random.default_rng(0).dirichlet(np.ones(5), 5).T
    source = HiddenMarkovModel.of("five", step, say, before=np.eye(5)[0])
    model = krohn.compile(
        source, 5, construction="attention-products", dtype="float64", within=1e-3
    )
    made = Products.of(model.file)
    words = source.sample(8, 5, np.random.default_rng(1))[0]
    right = source.filter(words)[0][:, -1]
    states = right.argmax(axis=1)
    for up in (-1.0, 1.0):
        said = worst(made, words, states, np.full(8, up))
        off = np.abs(said - right[np.arange(8), states]).max()
        assert off <= model.file.header["claim"]["error"] + 2.0**-44
