"""Compiled Transformers after training, proved beside their plain networks."""

from pathlib import Path

import numpy as np
import pytest
import torch

import krohn
from krohn.algebra.errors import KrohnError


def plain(name: str = "C2") -> krohn.CompiledModel:
    return krohn.compile(name, 8, strict=True, dtype="float64")


def trained(model: krohn.CompiledModel, size: float) -> krohn.CompiledModel:
    net = krohn.Model(model.file)
    rng = torch.Generator().manual_seed(0)
    state = {
        name: x + size * (2 * torch.rand(x.shape, generator=rng, dtype=x.dtype) - 1)
        for name, x in net.state_dict().items()
    }
    return krohn.fine_tuned(model, state)


@pytest.mark.parametrize("name", ["FlipFlop", "C2"])
def test_what_did_not_move_is_proved_and_what_moved_little_is(name: str) -> None:
    before = plain(name)
    margins = []
    for size in (0.0, 1e-6, 1e-5):
        proof = trained(before, size).proof
        assert proof is not None
        assert proof.verdict == "verified"
        margins.append(proof.told["margin"])
    assert margins[0] > 0.999
    assert margins == sorted(margins, reverse=True)


def test_a_network_that_is_wrong_is_not_proved() -> None:
    before = plain()
    tensors = dict(before.file.tensors)
    tensors["unembed.weight"] = -tensors["unembed.weight"]
    tensors["unembed.bias"] = -tensors["unembed.bias"]
    proof = krohn.fine_tuned(before, tensors).proof
    assert proof is not None
    assert proof.verdict != "verified"


def test_it_is_a_file_that_runs_and_is_proved_again(tmp_path: Path) -> None:
    found = trained(plain(), 1e-5)
    found.save(tmp_path / "f.safetensors")
    assert krohn.verify(tmp_path / "f.safetensors").verdict == "verified"
    model = krohn.load(tmp_path / "f.safetensors")
    assert model.run(["1", "1", "1"]) == ["1", "0", "1"]
    moved = found.file.tensors["embed.token"] - plain().file.tensors["embed.token"]
    assert 0 < np.abs(moved).max() <= 1e-5
    assert model.patch(["1", "0", "1"], next(iter(model.places())), 1, 0)


def test_networks_of_which_no_theorem_tells() -> None:
    with pytest.raises(KrohnError, match="strict=True"):
        krohn.fine_tuned(krohn.compile("C2", 8), {})
    with pytest.raises(KrohnError, match="same names and shapes"):
        krohn.fine_tuned(plain(), {"embed.token": np.zeros((3, 5))})
    disguised = krohn.compile("C2", 8, disguise="rotate")
    with pytest.raises(KrohnError, match="without a disguise"):
        krohn.fine_tuned(disguised, {})
