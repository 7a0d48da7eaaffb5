"""Linear systems through the commands and the public face."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import refused, said

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.linear_systems.source import find_by_name
from krohn.machines import read
from krohn.network import modelfile


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("within") / "f.safetensors")
    told = said("compile", "MatMul5,5@3", "-T", "120", "-o", path)
    assert told["claim"] == "within"
    assert told["depth"] == 7
    assert told["verdict"] == "verified"
    assert told["dtype"] == "float64"
    assert 7e-8 < told["error"] < 2e-7
    return path


def test_run_says_the_state_within_the_error(file: str) -> None:
    told = said("run", file, "1 2 3")
    source = find_by_name("MatMul5,5@3")
    assert source is not None
    right = source.run([[0, 1, 2]])[0]
    assert np.abs(np.array(told["outputs"]) - right).max() <= told["error"]
    refused("'9' is not a letter", "run", file, "9")


def test_explain_and_zoo_know_the_families(file: str) -> None:
    told = said("explain", "MatMul5,5@3", "-T", "64")
    assert told["claim"] == "within"
    assert told["depth"] == 6
    families = {row["name"]: row["kind"] for row in said("zoo")["families"]}
    assert families["MatMul5,5@3"] == families["Cyclic-DET5,5@3"] == "linear-system"


@pytest.mark.slow
def test_cyclic_det_is_a_machine_and_its_network_exact(tmp_path: Path) -> None:
    """Error 0 for every word up to T = 1000 in float32, depth ⌈log₂ T⌉."""
    path = str(tmp_path / "c.safetensors")
    told = said("compile", "Cyclic-DET5,5@3", "-T", "1000", "-o", path)
    assert (told["claim"], told["error"]) == ("exact", None)
    assert told["verdict"] == "verified"
    assert told["depth"] <= 10
    assert told["dtype"] == "float32"
    source, machine = find_by_name("Cyclic-DET5,5@3"), read("Cyclic-DET5,5@3")
    assert source is not None
    word = np.random.default_rng(0).integers(5, size=1000)
    names = [machine.states[b.argmax()] for b in source.run(word[None])[0]]
    answers = krohn.load(path).run([source.letters[o] for o in word])
    assert answers == names


@pytest.mark.slow
def test_the_belief_of_a_machine_by_products() -> None:
    model = krohn.compile("Cyclic-DET5,5@3", 16, "products")
    assert model.file.header["claim"]["kind"] == "within"
    assert krohn.compile("FlipFlop", 16, "products").proof is not None
    with pytest.raises(KrohnError, match="at most 64 states"):
        krohn.compile("S5", 16, "products")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "dtype", "error"),
    [
        ("MatMul5,5@3", "float64", 3e-11),
        ("MatMul5,5@3", "float32", 1.6e-2),
        ("Cyclic-RND5,5@3", "float64", 5e-11),
    ],
)
def test_an_rnn_is_right_within_what_is_proved(
    name: str, dtype: str, error: float, tmp_path: Path
) -> None:
    """Theorem W7 by command, for 2000 letters."""
    path, kept = (str(tmp_path / name) for name in ("r.safetensors", "e.json"))
    given = ["-T", "2000", "--arch", "rnn", "--dtype", dtype]
    told = said("compile", name, *given, "-o", path)
    assert (told["construction"], told["d_model"]) == ("gated", 25)
    assert 0 < told["error"] < error
    report = said("verify", path, "--proof", "--sample", "6", "--evidence", kept)
    assert (report["verdict"], report["words"]) == ("verified", 6)
    assert said("verify", path, "--exhaustive", "3")["words"] == 125
    assert said("recheck", path, kept)["verdict"] == "verified"
    assert len(said("run", path, "1 2 3")["outputs"]) == 3


def test_an_rnn_whose_claim_is_too_small_is_refused(tmp_path: Path) -> None:
    model = krohn.compile("MatMul5,5@3", 50, arch="rnn")
    claim = model.file.header["claim"]
    path = tmp_path / "c.safetensors"
    header = {**model.file.header, "claim": {**claim, "kind": "exact"}}
    modelfile.write(path, header, model.file.tensors)
    with pytest.raises(KrohnError, match="of a wrong kind"):
        krohn.verify(path, proof=True)
    for change in ({"error": claim["error"] / 2}, {"length": 51}):
        header = {**model.file.header, "claim": {**claim, **change}}
        modelfile.write(path, header, model.file.tensors)
        assert krohn.verify(path, proof=True).verdict == "undecided"


def test_the_picture_of_an_rnn_names_its_blocks() -> None:
    from krohn.architectures.recurrent.draw import sides_of

    file = krohn.compile("MatMul5,5@3", 5, arch="rnn").file
    sides = sides_of(file)
    assert len(sides.units) == 25
    assert sides.units[6] == "2·b2"


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "needs the longest length"),
        ({"length": 0}, "must be at least 1"),
        ({"length": 9, "dtype": "float32"}, "cannot hold the matrices"),
        ({"length": 9, "start": "1"}, "start= has no effect on a linear system"),
        ({"length": 9, "construction": "scan"}, "auto or products"),
        ({"arch": "rnn"}, "needs the longest length"),
        ({"length": 9, "arch": "rnn", "strict": True}, "have one form"),
        ({"length": 9, "arch": "rnn", "construction": "products"}, "auto or gated"),
        ({"length": 9, "arch": "rnn", "dtype": "float16"}, "cannot hold states"),
        ({"length": 199999, "arch": "rnn", "dtype": "float32"}, "let something"),
    ],
)
def test_what_does_not_suit_is_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(KrohnError, match=reason):
        krohn.compile("MatMul5,5@3", **options)


@pytest.mark.parametrize("name", ["MatMul1,5@3", "Cyclic-DET5,99@3"])
def test_numbers_out_of_range_are_said(name: str) -> None:
    with pytest.raises(KrohnError, match="2 to 64 states"):
        krohn.compile(name, 9)
