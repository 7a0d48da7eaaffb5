"""Hidden Markov models through the commands and the public face."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from belief_networks import golden, mixing

import krohn
from krohn.algebra.errors import KrohnError
from krohn.compiler import CompileError
from krohn.kinds.hidden_markov.commands_machines import as_model
from krohn.kinds.hidden_markov.source import find_by_name
from krohn.network import modelfile
from krohn.source_kinds.real_outputs import outputs

Call = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("beliefs") / "f.safetensors"
    krohn.compile("RanHMM5,5@3", 120, within=0.05).save(path)
    return path


def test_a_window_is_compiled_proved_and_run(call: Call, file: Path) -> None:
    code, told = call("verify", file, "--proof", "--sample", 20)
    assert (code, told["verdict"], told["claim"]) == (0, "verified", "within")
    assert 0.03 < told["error"] < 0.05
    code, told = call("run", file, "1 2 3")
    model = find_by_name("RanHMM5,5@3")
    assert model is not None
    right = model.filter([[0, 1, 2]])[0][0]
    assert np.abs(np.array(told["outputs"]) - right).max() <= told["error"]
    assert np.abs(np.array(told["next"]).sum(axis=1) - 1).max() < 1e-5


def test_the_error_is_said_in_its_parts(file: Path) -> None:
    claim = modelfile.read(file).header["claim"]
    assert 0 < claim["error"] - claim["model_error"] < 1e-4


@pytest.mark.parametrize("option", ["--html", "--attack", "--smt", "--gadgets"])
def test_what_is_for_machines_is_refused_before_the_proof(
    call: Call, file: Path, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("krohn.source_kinds.base.prove_own", None)
    code, told = call("verify", file, "--proof", option, 1)
    assert code == 2
    assert (
        told["error"] == f"{option} has no effect on a file about a hidden Markov model"
    )


def test_nothing_is_said_of_words_that_the_model_never_says(
    call: Call, tmp_path: Path
) -> None:
    path = tmp_path / "g.safetensors"
    krohn.compile(golden(), 8).save(path)
    told = call("run", path, "1 0 1 1 0")[1]
    assert told["possible"] == [True, True, True, False, False]
    shown = told["shown"].splitlines()
    assert shown[4] == "0: never said here, so nothing is claimed"
    assert shown[0] == "1: state b = 1.0000; next letter 0 = 1.0000"


@pytest.mark.slow
def test_a_window_is_taken_where_heads_need_more_and_not_where_they_need_less() -> None:
    kinds, sizes = list[str](), list[int]()
    for within in (3e-3, 1e-4):
        told = krohn.compile("RanHMM2,3@1", 12, within=within).summary()
        kinds.append(told["construction"])
        sizes.append(told["parameters"])
    assert kinds == ["window", "attention-products"]
    (why,) = (t["reason"] for t in told["tried"] if t["construction"] == "window")
    found = re.fullmatch(r"it would need (\S+) parameters or more, and .* (\S+)", why)
    assert found is not None
    window, heads = (int(n.replace(",", "")) for n in found.groups())
    assert sizes[0] < sizes[1] == heads < window


def test_a_machine_says_its_belief() -> None:
    model = krohn.compile("FlipFlop", 32, "beliefs")
    assert model.summary()["depth"] == 1
    assert model.summary()["claim"] == "within"


@pytest.mark.slow
def test_products_serve_where_no_word_is_forgotten_soon_enough(
    call: Call, tmp_path: Path
) -> None:
    """The construction of log depth, compiled, proved, rechecked and run."""
    path, evidence = tmp_path / "m.safetensors", tmp_path / "e.json"
    krohn.compile("RanHMM3,2@1", 12, dtype="float64").save(path)
    header = modelfile.read(path).header
    assert header["construction"] == "normalised-products"
    assert header["claim"]["error"] < 1e-5
    options = "--proof", "--exhaustive", 8, "--evidence", evidence
    code, told = call("verify", path, *options)
    assert (code, told["verdict"]) == (0, "verified")
    code, told = call("recheck", path, evidence)
    assert (code, told["facts"]["norm"]) == (0, "projective metric")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "needs the longest length"),
        (
            {"length": 9, "dtype": "bfloat16"},
            "no network: beliefs: .* window: .* is allowed .*; .* cannot hold products",
        ),
        ({"length": 9, "within": 2.0}, "between 0 and 1"),
        ({"length": 9, "construction": "scan"}, "auto or beliefs or window"),
        (
            {"length": 9, "construction": "beliefs", "within": 0.1},
            "more than 1000 beliefs",
        ),
        (
            {"length": 9, "within": 1e-9, "construction": "window"},
            r"\d+ contexts of up to \d+ letters still leave",
        ),
        (
            {"length": 9, "within": 1e-3, "dtype": "bfloat16"},
            "there is one with dtype='float64'",
        ),
    ],
)
def test_what_does_not_suit_is_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(KrohnError, match=reason):
        krohn.compile(mixing(3, 3, 1), **options)


def test_within_means_nothing_to_a_machine() -> None:
    with pytest.raises(KrohnError, match="within= is for beliefs"):
        krohn.compile("FlipFlop", 8, within=0.1)
    with pytest.raises(KrohnError, match="within= has no effect on a linear system"):
        krohn.compile("MatMul2,2@1", 8, within=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("within", "dtype"), [(1e-2, "float32"), (1e-6, "float64")])
def test_a_format_is_taken_by_need(
    call: Call, tmp_path: Path, within: float, dtype: str
) -> None:
    """float32 where it serves; else float64, and the reason is said by both commands.

    Proved of Mess3 at 64 letters in float32 is an error between 1e-6 and 1e-5.
    """
    path = tmp_path / "m.safetensors"
    code, told = call("compile", "Mess3", "-T", 64, "--within", within, "-o", path)
    assert (code, told["verdict"], told["dtype"]) == (0, "verified", dtype)
    assert told["error"] < min(within, within / 4 + 1e-5)  # sums, and roundings
    failed = [(row["construction"], row["dtype"]) for row in told["tried"]]
    least = [("beliefs", None), ("window", None), ("normalised-products", "float32")]
    more = [("attention-products", "float32"), ("normalised-products", "float64")]
    # What fails in every format is tried once.
    assert failed == least + (more if dtype == "float64" else [])
    assert krohn.explain("Mess3", 64, within=within)["dtype"] == dtype
    if dtype == "float32":
        assert krohn.compile("Mess3", 64, within=within).claim.digest == told["digest"]


def test_few_beliefs_are_in_float32() -> None:
    assert krohn.compile(golden(), 64).summary()["dtype"] == "float32"


@pytest.mark.slow
def test_a_format_that_is_asked_for_is_no_other() -> None:
    with pytest.raises(KrohnError, match="there is one with dtype='float64'"):
        krohn.compile("Mess3", 8, "normalised-products", within=0.01, dtype="float32")
    model = krohn.compile("RanHMM3,3@3", 8, within=0.05, dtype="float64")
    assert model.summary()["dtype"] == "float64"


@pytest.mark.slow
def test_a_narrow_format_serves_where_its_error_is_slight() -> None:
    """No --within: products in float32 are off by a hundredth, those in float64 are not."""
    model = krohn.compile("RanHMM3,3@3", 8, "normalised-products")
    assert model.summary()["dtype"] == "float64"
    (row,) = (row for row in model.summary()["tried"] if row["dtype"])
    assert "a wider format is taken from 0.001 on" in row["reason"]


@pytest.mark.slow
def test_a_refused_window_says_what_was_reached() -> None:
    """Its contexts and the roundings apart; the target of the contexts is no secret."""
    with pytest.raises(KrohnError) as said:
        krohn.compile("RanHMM5,5@3", 120, "window", within=2e-3, dtype="bfloat16")
    found = re.search(
        r"off by (\S+): \d+ contexts of up to \d+ letters leave (\S+) as the "
        r"compiler bounds it, (\S+) as the checker does in bfloat16; roundings add (\S+);",
        str(said.value),
    )
    assert found is not None
    error, left, model, rounded = map(float, found.groups())
    assert error == pytest.approx(model + rounded, rel=0.05)
    # Vectors of the Program are rounded to the format, too.
    assert left < 2e-3 < model


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["Cyclic-HARD3,2@1", pytest.param("Cyclic-HARD5,5@3", marks=pytest.mark.slow)],
)
def test_all_predictions_are_those_of_the_filter(name: str) -> None:
    """Row 14: 12,000 predictions, after ``*`` and told states among them."""
    model, often = find_by_name(name), find_by_name(f"{name}:alpha=0.2")
    assert model is not None
    assert often is not None
    compiled = krohn.compile(name, 60)
    assert compiled.construction == "beliefs-context-scan"
    assert compiled.proof is not None
    assert compiled.proof.verdict == "verified"
    words = often.sample(200, 60, np.random.default_rng(0))[0]
    said, beliefs = outputs(compiled.file, words), model.filter(words)[0]
    assert np.isfinite(beliefs).all()
    off = np.abs(model.predict(said) - model.predict(beliefs))
    asked = words == model.letters.index("*")
    assert asked.sum() > 1000
    assert off.max() < 1e-5
    assert (model.predict(said)[asked].max(axis=1) > 1 - 1e-5).all()


def test_every_machine_is_a_hidden_markov_model_whose_letters_are_chosen() -> None:
    """Its belief is the unit vector of its state, after each letter of each word."""
    machine = krohn.zoo("FlipFlop")
    model, words = as_model(machine), np.array([[1, 0, 2, 2, 0, 1]])
    state, states = machine.start, []
    for letter in words[0]:
        state = int(machine.transitions[letter, state])
        states.append(state)
    beliefs, likelihoods = model.filter(words)
    assert np.array_equal(beliefs[0], np.eye(len(machine.states))[states])
    assert not likelihoods.any()
    assert model.states == machine.states
    with pytest.raises(CompileError, match="at most 256 states"):
        as_model(krohn.zoo("S6"))
