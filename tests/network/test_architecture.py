"""How kinds of networks differ is said in one place, and nobody asks a kind's name."""

import re
from pathlib import Path

import pytest
import torch
from slices_here import needs

import krohn
from krohn.architectures.gated.commands import model_file
from krohn.network import ModelFileError
from krohn.network.architecture import every_kind, kind_of
from krohn.network.modelfile import ModelFile
from krohn.program.slices import GROUPS

ROOT = Path(__file__).parents[2]
PACKAGES = ("network", "compiler", "verify", *GROUPS, "krohn", "benchmarks")
ASKED = re.compile(
    r"""(\["kind"\]|get\("kind"\)|\bkind) *(==|!=|in) *[(\["']*"""
    rf"({'|'.join(every_kind())})\b"
)


def trained(name: str) -> ModelFile:
    """An Elman network, which nobody trained."""
    layer, head = torch.nn.RNN(3, 4), torch.nn.Linear(4, 3)
    tensors = {f"head.{n}": t for n, t in head.state_dict().items()}
    file = model_file({**layer.state_dict(), **tensors}, name)
    assert file is not None
    return file


def models() -> list[ModelFile]:
    """A network of every kind."""
    return [
        krohn.compile("C3", 5, "counter", proof=False).file,
        krohn.compile("C3", arch="rnn", proof=False).file,
        krohn.compile("C3", arch="lstm", proof=False).file,
        krohn.compile("C3", arch="gru", proof=False).file,
        krohn.compile("Memory5", arch="ssm", proof=False).file,
        krohn.compile_generator("Dyck2,2", 5, proof=False).file,
        trained("C3"),
    ]


def test_every_kind_tells_the_sizes_of_its_networks() -> None:
    seen = set()
    for file in models():
        shape = file.header["architecture"]
        kind = kind_of(shape)
        seen.add(kind.title)
        shapes = {name: tensor.shape for name, tensor in file.tensors.items()}
        assert kind.shapes(shape) == shapes
        assert kind.width(shape) in {size for s in shapes.values() for size in s}
        letters = len(file.header["machine"]["letters"])
        assert shape["vocabulary"] == letters + kind.declared.marks
        assert kind.recurrent == ("length" not in file.header["claim"])
        assert kind.program == ("program" in file.header)
        attending = sum("attention.query" in name for name in shapes)
        assert sum(layer["heads"] > 0 for layer in kind.layers(shape)) == attending
    reading = [kind for kind in every_kind().values() if kind.answers != "reals"]
    assert seen == {kind.title for kind in reading}


@needs("architectures.attention_layer")
def test_articles_are_those_of_speech() -> None:
    called = {name: kind.called for name, kind in every_kind().items()}
    assert called["rnn"] == "an RNN"
    assert called["gru"] == "a GRU"
    assert called["attention-layer"] == "an attention layer"


@pytest.mark.parametrize("name", ["mamba", None, 3, ["rnn"]])
def test_a_kind_that_is_not_known_is_refused_in_a_sentence(name: object) -> None:
    known = ", ".join(map(repr, sorted(every_kind())))
    with pytest.raises(ModelFileError, match=f"known are {known}"):
        kind_of({"kind": name})


def test_nobody_asks_for_the_name_of_a_kind() -> None:
    asking = [
        f"{path}: {line.strip()}"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for line in path.read_text().splitlines()
        if ASKED.search(line)
    ]
    assert not asking
