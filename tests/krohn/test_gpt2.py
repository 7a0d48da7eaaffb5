"""`krohn export --to gpt2`, and proofs of what it wrote."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import krohn

pytest.importorskip("transformers")
Call = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A flip-flop as a model file, and beside it as a GPT-2."""
    place = tmp_path_factory.mktemp("gpt2")
    krohn.compile("FlipFlop", length=32, strict=True).save(place / "f.safetensors")
    krohn.export(
        place / "f.safetensors", to="gpt2", directory=place / "gpt2", sample=50
    )
    return place


def test_it_says_proved(exported: Path, tmp_path: Path, call: Call) -> None:
    file = str(exported / "f.safetensors")
    where = str(tmp_path / "g")
    code, told = call("export", file, "--to", "gpt2", "-o", where, "--sample", "20")
    assert code == 0
    said = "proved in float32: right on all words of up to 32 letters"
    assert told["proved"].startswith(said)


def test_the_directory_is_proved_again(
    exported: Path, tmp_path: Path, call: Call
) -> None:
    """Also against a machine that is named, and by the small checker alone."""
    directory, evidence = str(exported / "gpt2"), str(tmp_path / "e.json")
    code, told = call("verify", directory, "--evidence", evidence)
    assert code == 0
    assert told["covers"].startswith("all 3^32 words of length 32")
    assert call("verify", directory, "--machine", "FlipFlop")[0] == 0
    code, told = call("recheck", directory, evidence)
    assert code == 0
    assert told["facts"]["covers"] == "all words of up to 32 letters"


@pytest.fixture
def damaged(exported: Path, tmp_path: Path) -> Path:
    """A copy, in which a token of the embedding is another one."""
    directory = tmp_path / "damaged"
    shutil.copytree(exported / "gpt2", directory)
    tensors = load_file(directory / "model.safetensors")
    tensors["transformer.wte.weight"][1] = tensors["transformer.wte.weight"][2]
    save_file(tensors, directory / "model.safetensors", {"format": "pt"})
    return directory


def test_another_network_is_not_verified(
    damaged: Path, exported: Path, tmp_path: Path, call: Call
) -> None:
    evidence = str(tmp_path / "e.json")
    assert call("verify", str(exported / "gpt2"), "--evidence", evidence)[0] == 0
    code, told = call("verify", str(damaged))
    assert code == 2
    assert told["verdict"] == "undecided"
    code, told = call("recheck", str(damaged), evidence)
    assert code == 2
    assert told["reason"] == "the evidence is for another model file"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--sample", "3"], "--sample means nothing to the directory of a GPT-2"),
        (["--html", "x.html"], "--html means nothing"),
        (["--machine", "S3"], "different letters"),
    ],
)
def test_what_it_does_not_take(
    exported: Path, options: list[str], said: str, call: Call
) -> None:
    code, told = call("verify", str(exported / "gpt2"), *options)
    assert code == 2
    assert said in told["error"]


def test_directories_of_others(exported: Path, tmp_path: Path, call: Call) -> None:
    """A file that may make another network of the rest is one too many."""
    (tmp_path / "empty").mkdir()
    shutil.copytree(exported / "gpt2", tmp_path / "adapted")
    (tmp_path / "adapted" / "adapter_config.json").write_text("{}")
    for name, reason in (
        ("empty", "is not a regular file"),
        ("adapted", "is no GPT-2 that can be proved"),
    ):
        code, told = call("verify", str(tmp_path / name))
        assert code == 2
        assert reason in told["error"]


def test_nothing_is_said_to_be_proved_that_is_not(
    tmp_path: Path,
) -> None:
    """A cascade in bfloat16 is right on the words that are run, and says no more."""
    file = krohn.compile("Grid4", length=32, strict=True, dtype="bfloat16").file
    found = krohn.export(file, to="gpt2", directory=tmp_path / "g", sample=50)
    assert found.proved.startswith("not proved (the head of 'stored")
    assert np.isfinite(found.ran.deviation)
