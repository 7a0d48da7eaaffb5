"""Models as fits leave them, with probabilities of 1e-40 and less, by every command."""

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fitted_models import FITTED

import krohn
from krohn import cli
from krohn.algebra.errors import KrohnError
from krohn.kinds.hidden_markov.commands import HiddenMarkovModels
from krohn.kinds.hidden_markov.source_truncation import truncation_to

Call = Callable[..., tuple[int, Any]]


TWO = {
    "startprob": [0.25, 0.75],
    "transmat": [[0.96875, 0.03125], [0.0625, 0.9375]],
    "emissionprob": [[0.5, 0.25, 1e-190, 0.25], [0.25, 0.5, 0.25, 1e-180]],
}


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "length", "share"),
    [("fit9", 64, 1e-60), ("fit10", 24, 1e-60), ("markov4", 64, 0.01)],
)
def test_a_fitted_model_has_a_network(name: str, length: int, share: float) -> None:
    """Beliefs are those of the model itself, in exact arithmetic, on words that it says."""
    source = krohn.hidden_markov({"name": name, **FITTED[name]})
    compiled = krohn.compile(source, length, within=0.01)
    told = compiled.summary()
    assert told["verdict"] == "verified"
    assert f"about {name} without probabilities below 1e-" in told["remark"]
    left = HiddenMarkovModels().of_file(compiled.file)
    less = truncation_to(source, left, length)
    assert less is not None
    assert less.share < share
    (said,) = re.findall("a share of ([^ ]+) have", told["remark"])
    assert less.share <= float(said) < 10 * less.share
    for word in source.sample(4, 12, np.random.default_rng(0))[0]:
        said = np.array(list(compiled.model.run([source.letters[o] for o in word])))
        right = np.array(source.exactly(word.tolist()), float)
        assert np.abs(said - right).max() < compiled.claim.error + share


@pytest.mark.slow
def test_commands_say_what_was_left_out(
    tmp_path: Path,
    call: Call,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In a line of standard error, in JSON, and in the name of what is claimed."""
    path, file = tmp_path / "m.safetensors", tmp_path / "two.npz"
    np.savez(file, **TWO)
    asked = "compile", file, "-T", 8, "--within", 0.001, "-o", path
    assert cli.run([*map(str, asked)]) == 0
    said = capsys.readouterr()
    (line,) = said.err.splitlines()
    assert line.startswith("krohn: two has probabilities that are too small")
    assert "about hidden-markov two without" in said.out
    assert call(*asked)[1]["remark"] in line
    code, told = call("verify", path, "--machine", file, "--proof")
    assert (code, told["verdict"]) == (0, "verified")
    assert "without probabilities below" in told["about"]["name"]
    other = {**TWO, "startprob": [0.5, 0.5]}
    np.savez(tmp_path / "other.npz", **other)
    code, told = call("verify", path, "--machine", tmp_path / "other.npz", "--proof")
    assert (code, told["verdict"]) == (2, "undecided")


@pytest.mark.slow
def test_explain_says_what_is_left_out(tmp_path: Path, call: Call) -> None:
    np.savez(file := tmp_path / "two.npz", **TWO)
    code, told = call("explain", file, "-T", 8, "--within", 0.001)
    assert code == 0
    assert told["remark"] == krohn.compile(str(file), 8, within=0.001).remark


@pytest.mark.slow
def test_nothing_is_left_out_where_all_can_be_multiplied() -> None:
    """A model that has a network is compiled itself, small probabilities and all."""
    arrays = {
        "startprob": [0.5, 0.5],
        "transmat": [[0.9, 0.1], [0.1, 0.9]],
        "emissionprob": [[1 - 1e-12, 1e-12], [0.5, 0.5]],
    }
    compiled = krohn.compile(arrays, 8, within=0.01)
    assert "remark" not in compiled.summary()
    assert compiled.claim.name == "arrays"


@pytest.mark.slow
def test_objects_and_files_are_one_model(tmp_path: Path) -> None:
    learnt = {f"{name}_": np.array(x) for name, x in TWO.items()}
    np.savez(file := tmp_path / "two.npz", **TWO)
    ways = SimpleNamespace(**learnt), str(file), TWO
    found = [krohn.compile(way, 8, within=0.01).file.header["source"] for way in ways]
    for each in found:
        each.pop("name")
    assert found[0] == found[1] == found[2]


@pytest.mark.slow
def test_a_smaller_error_leaves_less_out() -> None:
    """More words than the error must not have other beliefs."""
    with pytest.raises(
        KrohnError, match=r"there is one with within=0\.01 or length=32$"
    ):
        krohn.compile(FITTED["markov4"], 64, within=1e-4)


STICKY = {
    "startprob": [1.0, 0.0],
    "transmat": [[0.96875, 0.03125], [0.0625, 0.9375]],
    "emissionprob": [[0.625, 0.375], [0.375, 0.625]],
}


@pytest.mark.slow
def test_a_looser_error_makes_a_smaller_network() -> None:
    """Sums at the end are as near to 1 as is needed, and no nearer."""
    names = "attention-products", "float64"
    found = [
        krohn.compile(STICKY, 16, names[0], dtype=names[1], within=within)
        for within in (0.1, 1e-3, 1e-9)
    ]
    sizes = [each.summary()["parameters"] for each in found]
    assert sizes[0] < 0.9 * sizes[1] < 0.8 * sizes[2]
    assert [each.claim.error for each in found] < [0.1, 1e-3, 1e-9]
    assert found[1].claim.error > 1e-6


@pytest.mark.slow
def test_the_start_of_arrays_needs_no_block() -> None:
    """The state before the first letter shares a row, and no letter leads to it."""
    asked: dict[str, Any] = {"dtype": "float64", "within": 1e-9}
    way = 16, "attention-products"
    arrays = krohn.compile(STICKY, *way, **asked)
    assert "start" in arrays.claim.to_object()["states"]["names"]
    step, say = (np.transpose(STICKY[name]) for name in ("transmat", "emissionprob"))
    plain = krohn.HiddenMarkovModel.of("plain", step, say, before=[1.0, 0.0])
    other = krohn.compile(plain, *way, **asked)
    layers = [each.summary()["layers"] for each in (arrays, other)]
    assert layers[0] == layers[1]
    word = [0, 1, 1, 0, 1, 0]
    source = krohn.hidden_markov(STICKY)
    said = np.array(list(arrays.model.run([source.letters[o] for o in word])))
    right = np.array(source.exactly(word), float)
    assert np.abs(said - right).max() < 1e-9
