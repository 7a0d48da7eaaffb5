"""Networks survive their files, and damaged files are refused."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import pytest
import safetensors.torch
import torch
from hypothesis import given, strategies as st
from torch import Tensor, nn

import krohn
from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models import (
    Architecture,
    Compiled,
    Derived,
    Gpt,
    Inside,
    Lstm,
    Network,
    build,
    cost,
    load,
    save,
    wrap_compiled,
)
from krohn.instruments.compare.models.architecture import Positions
from krohn.network.modelfile import TRAINED_KEY

pytest.importorskip("transformers")

SMALL: list[Architecture] = [
    *(Gpt(1, 8, 2, 8, positions=name, scale=0.5) for name in get_args(Positions)),
    Lstm(4, 6, layers=2, dropout=0.1),
]
WORDS = torch.tensor([[0, 1, 2, 0], [2, 2, 1, 0]])


@pytest.mark.sample(1)
@pytest.mark.parametrize("architecture", SMALL, ids=lambda a: a.description)
def test_a_network_is_read_as_it_was_written(
    architecture: Architecture, tmp_path: Path
) -> None:
    network = build(architecture, 3, 4, 6, 0).eval()
    save(network, tmp_path / "n")
    again = load(tmp_path / "n")
    assert again.specification == network.specification
    assert not again.training
    assert torch.equal(again(WORDS), network(WORDS))
    save(again, tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m", "n"]


@pytest.mark.sample(1)
@pytest.mark.parametrize("arch", ["transformer", "rnn"])
def test_a_compiled_network_that_learned_is_a_model_file_again(
    arch: Any, tmp_path: Path
) -> None:
    length = 8 if arch == "transformer" else None
    file = krohn.compile("C3", length, arch=arch, dtype="bfloat16").file
    network = wrap_compiled(file, Derived("", trains=True, noise=0.01))
    save(network, tmp_path / "n")
    again = load(tmp_path / "n")
    assert isinstance(again, Compiled)
    assert torch.equal(again(WORDS), network(WORDS))
    header = krohn.load(tmp_path / "n").header
    assert header["evidence"] is None
    assert header["architecture"]["dtype"] == "float32"


def test_exact_weights_are_proved_again_and_others_are_not(tmp_path: Path) -> None:
    file = krohn.compile("C3", 8, "counter").file
    save(wrap_compiled(file, Derived("", trains=True)), tmp_path / "exact")
    assert krohn.verify(tmp_path / "exact", "C3").verdict == "verified"
    save(wrap_compiled(file, Derived("", trains=True, noise=0.5)), tmp_path / "noisy")
    assert krohn.verify(tmp_path / "noisy", "C3").verdict == "refuted"


def test_what_training_ruined_is_not_written_as_a_model(tmp_path: Path) -> None:
    network = wrap_compiled(krohn.compile("C2", 8).file, Derived("", trains=True))
    next(network.parameters()).data.fill_(torch.nan)
    with pytest.raises(KrohnError, match="not finite"):
        save(network, tmp_path / "n")
    assert not list(tmp_path.iterdir())


def packed(
    edit: Callable[[dict[str, Any]], None], tensors: dict[str, Tensor] | None = None
) -> bytes:
    """The bytes of a network whose header someone edited."""
    network = build(Lstm(4, 6), 3, 4, 6, 0)
    said: dict[str, Any] = {
        "version": 1,
        "architecture": {"kind": "lstm", "embedding": 4, "hidden": 6},
        "letters": 3,
        "classes": 4,
        "longest": 6,
    }
    edit(said)
    held = dict(network.state_dict()) if tensors is None else tensors
    return bytes(safetensors.torch.save(held, {TRAINED_KEY: json.dumps(said)}))


def test_the_unedited_header_is_right(tmp_path: Path) -> None:
    (tmp_path / "n").write_bytes(packed(lambda said: None))
    assert load(tmp_path / "n").specification.classes == 4


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (lambda h: h.update(version=2), "version 2, and this Krohn reads 1"),
        (lambda h: h.pop("letters"), "header is malformed"),
        (lambda h: h.update(letters=-3), "letters must be"),
        (lambda h: h.update(longest=10**9), "positions are made for up to"),
        (lambda h: h.update(classes=5), "not those of its architecture"),
        (lambda h: h["architecture"].update(kind="gru"), "no architecture"),
        (lambda h: h["architecture"].update(kind=[]), "malformed"),
        (lambda h: h["architecture"].update(hidden=10**15), "not those of"),
        (lambda h: h["architecture"].update(layers=10**9), "not those of"),
        (lambda h: h["architecture"].update(cells=1), "malformed"),
        (lambda h: h.update(architecture=7), "malformed"),
        (lambda h: h["architecture"].update(dropout="much"), "dropout must be"),
        (
            lambda h: h.update(architecture={"kind": "derived", "file": "/etc/hosts"}),
            "kept in model files",
        ),
    ],
)
def test_a_header_that_does_not_fit_is_refused(
    edit: Callable[[dict[str, Any]], None], told: str, tmp_path: Path
) -> None:
    (tmp_path / "n").write_bytes(packed(edit))
    with pytest.raises(KrohnError, match="damaged.*" + told):
        load(tmp_path / "n")


def test_weights_of_the_same_number_under_other_names_are_refused(
    tmp_path: Path,
) -> None:
    size = sum(t.numel() for t in build(Lstm(4, 6), 3, 4, 6, 0).parameters())
    data = packed(lambda said: None, {"all": torch.zeros(size)})
    (tmp_path / "n").write_bytes(data)
    with pytest.raises(KrohnError, match="not those of its architecture"):
        load(tmp_path / "n")


@given(at=st.integers(0, 400), value=st.integers(0, 255), cut=st.integers(0, 900))
def test_damage_is_a_clear_error_or_none(
    at: int, value: int, cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = bytearray(packed(lambda said: None))
    data[at] = value
    path = tmp_path_factory.getbasetemp() / "damaged"
    for broken in (bytes(data), bytes(data[: len(data) - cut])):
        path.write_bytes(broken)
        with suppress(KrohnError):
            load(path)


def test_files_of_others_and_no_files_are_refused(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.write_bytes(safetensors.torch.save({"w": torch.zeros(2)}))
    with pytest.raises(KrohnError, match="holds no network of Krohn"):
        load(foreign)
    (tmp_path / "text").write_text("what is this")
    for name in ("text", "missing", "."):
        with pytest.raises(KrohnError):
            load(tmp_path / name)
    with pytest.raises(KrohnError, match="cannot be written"):
        save(build(Lstm(4, 6), 3, 4, 6, 0), tmp_path / "no" / "folder")


def test_a_network_around_another_one_has_no_file(tmp_path: Path) -> None:
    class Around(Network):
        def forward(self, letters: Tensor, shift: int = 0) -> Tensor:
            raise NotImplementedError

        def inside(self, letters: Tensor, shift: int = 0) -> Inside:
            raise NotImplementedError

        def layers(self) -> tuple[nn.Module, ...]:
            return ()

    around = Around(build(Lstm(4, 6), 3, 4, 6, 0).specification)
    with pytest.raises(KrohnError, match="Around has no file"):
        save(around, tmp_path / "n")
    assert cost(around, 8).flops is None
    assert cost(around, 8).steps is None


def test_a_trained_network_is_examined_like_any_other(tmp_path: Path) -> None:
    save(build(Gpt(1, 8, 2, 8), 2, 2, 20, 0), tmp_path / "n")
    report = krohn.examine(load(tmp_path / "n"), "C2", 12)
    assert report.verdict == "refuted"
    assert report.counterexample is not None
