"""`krohn export --to gpt2`, and proofs of what it wrote."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import krohn
from krohn.algebra.errors import KrohnError
from krohn.architectures.exports.commands_card import run_program
from krohn.architectures.gpt2.check import Files
from krohn.program.errors import Refused
from krohn.verify.checker.network import recheck

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


def test_the_directory_is_proved_again(
    exported: Path, tmp_path: Path, call: Call
) -> None:
    """Also against a machine that is named, and by the small checker alone."""
    directory, evidence = str(exported / "gpt2"), str(tmp_path / "e.json")
    code, told = call("verify", directory, "--evidence", evidence)
    assert code == 0
    assert told["covers"].startswith("right on all 3^32 words of length 32")
    assert call("verify", directory, "--machine", "FlipFlop")[0] == 0
    code, told = call("recheck", directory, evidence)
    assert code == 0
    assert "3^32 words" in told["facts"]["covers"]


@pytest.mark.slow
def test_the_program_of_the_card_names_a_word_that_is_no_letter(exported: Path) -> None:
    """The library refuses it, too, and does not say which."""
    card = (exported / "gpt2" / "README.md").read_text("utf-8")
    program = card.partition("```python\n")[2].partition("```")[0]
    changed = program.replace("'⊥ 1 2'", "'⊥ 3 2'")
    assert changed != program
    with pytest.raises(KrohnError, match="'3' is not a letter"):
        run_program(changed, exported / "gpt2")


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
        (["--sample", "3"], "--sample has no effect on the directory of a GPT-2"),
        (["--html", "x.html"], "--html has no effect"),
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


@pytest.mark.slow
def test_nothing_is_said_to_be_proved_that_is_not(
    tmp_path: Path,
) -> None:
    """A cascade in bfloat16 is right on the words that are run, and says no more."""
    file = krohn.compile("Grid4", length=32, strict=True, dtype="bfloat16").file
    found = krohn.export(file, to="gpt2", directory=tmp_path / "g", sample=50)
    assert found.proved.startswith("not proved: the head of 'stored")
    assert np.isfinite(found.ran.deviation)


def swapped(told: dict[str, Any]) -> None:
    vocabulary = told["model"]["vocab"]
    vocabulary["1"], vocabulary["2"] = vocabulary["2"], vocabulary["1"]


def bpe(told: dict[str, Any]) -> None:
    told["model"] |= {"type": "BPE", "merges": [["1", "2"]]}


TOKENIZERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "two letters swapped": swapped,
    "a token more": lambda told: told["model"]["vocab"].update(x=99),
    "an added token": lambda told: told["added_tokens"].append(
        {**told["added_tokens"][0], "id": 0, "content": "1"}
    ),
    "a normaliser": lambda told: told.update(
        normalizer={
            "type": "Replace",
            "pattern": {"String": "1"},
            "content": "2",
        }
    ),
    "no normaliser, by another name": lambda told: told.update(normalizer=False),
    "another pre-tokeniser": lambda told: told["pre_tokenizer"].update(invert=True),
    "merges": bpe,
    "a token for what is unknown": lambda told: told["model"].update(unk_token="1"),
    "no BOS in front": lambda told: told["post_processor"]["single"].pop(0),
    "texts are cut": lambda told: told.update(truncation={"max_length": 3}),
    "texts are padded": lambda told: told.update(padding={"length": 9}),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("change", TOKENIZERS)
def test_another_tokenizer_is_refused(
    change: str, exported: Path, tmp_path: Path, call: Call
) -> None:
    """By `verify`, and by the small checker alone."""
    directory, evidence = tmp_path / "g", tmp_path / "e.json"
    shutil.copytree(exported / "gpt2", directory)
    assert call("verify", directory, "--evidence", evidence)[0] == 0
    told = json.loads((directory / "tokenizer.json").read_text())
    TOKENIZERS[change](told)
    (directory / "tokenizer.json").write_text(json.dumps(told))
    why = "tokenizer.json is not what the names of the machine give"
    code, found = call("verify", directory)
    assert (code, why in found["error"]) == (2, True)
    with pytest.raises(Refused, match=why):
        recheck(Files.of(directory), evidence.read_bytes())


@pytest.mark.parametrize(
    "name", ["vocab.json", "merges.txt", "added_tokens.json", "special_tokens_map.json"]
)
def test_another_file_of_a_tokenizer_is_refused(
    name: str, exported: Path, tmp_path: Path, call: Call
) -> None:
    directory = tmp_path / "g"
    shutil.copytree(exported / "gpt2", directory)
    (directory / name).write_text("{}")
    code, found = call("verify", directory)
    assert (code, "no rule is about the files" in found["error"]) == (2, True)


def test_the_digest_of_a_directory_is_of_its_tokenizer_and_names(
    exported: Path, tmp_path: Path, call: Call
) -> None:
    """It is not that of the model file, and one that is stated is not believed."""
    directory, evidence = tmp_path / "g", tmp_path / "e.json"
    shutil.copytree(exported / "gpt2", directory)
    code, told = call("verify", directory, "--evidence", evidence)
    assert code == 0
    assert told["about"]["letters"]["names"] == ["⊥", "1", "2"]
    told_of_file = call("verify", str(exported / "f.safetensors"))[1]
    assert told["digest"] != told_of_file["digest"]
    assert call("recheck", directory, evidence, "--digest", told["digest"])[0] == 0
    assert call("verify", directory, "--digest", told_of_file["digest"])[0] == 1
    config = json.loads((directory / "config.json").read_text())
    assert config["krohn"]["digest"] == told["digest"]
    config["krohn"]["model"]["claim"]["length"] -= 1
    (directory / "config.json").write_text(json.dumps(config))
    code, found = call("verify", directory)
    assert (code, "digest" in found["error"]) == (2, True)
