"""Files of trained networks are held against machines by the same commands."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import krohn
from krohn import cli
from krohn.algebra import zoo
from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models import (
    Lstm,
    build,
    save,
)

MACHINE = zoo.machine("C2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An LSTM that has learned parity, and one that has learned nothing."""
    path = tmp_path_factory.mktemp("trained")
    network = build(Lstm(8, 16), 2, 2, 16, 0)
    save(network, path / "fresh")
    optimiser = torch.optim.AdamW(network.parameters(), lr=0.02)
    rng = torch.Generator().manual_seed(0)
    for _ in range(150):
        words = torch.randint(2, (64, 16), generator=rng)
        states = MACHINE.semiautomaton.trace(words.numpy(), MACHINE.start)
        loss = F.cross_entropy(
            network(words).flatten(0, 1), torch.from_numpy(states).flatten()
        )
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    save(network, path / "parity")
    return path


@pytest.mark.slow
def test_one_that_learned_parity_is_right_on_all_short_words(folder: Path) -> None:
    report = krohn.verify(folder / "parity", "C2", length=10)
    assert report.verdict == "verified"
    assert report.words == 2**11 - 2
    longer = krohn.verify(folder / "parity", "C2", exhaustive=8)
    assert (longer.verdict, longer.words) == ("verified", 2**9 - 2)
    assert longer.method == "exhaustive"


def test_samples_alone_leave_it_undecided(folder: Path) -> None:
    report = krohn.verify(folder / "parity", "C2", sample=64, length=20)
    assert report.verdict == "undecided"
    assert report.words == 2 + 64


def test_one_that_learned_nothing_is_refuted_and_replayed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(folder / "fresh")
    assert cli.run(["verify", file, "--machine", "C2", "-T", "8", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "refuted"
    word = found["counterexample"]["word"]
    assert found["replay"].split()[:2] == ["krohn", "run"]
    arguments = ["--machine=C2", "--expect", "--", file, *word]
    assert cli.run(["run", *arguments]) == 1
    assert cli.run(["run", "--machine=C2", "--expect", "--", file, "0"]) in (0, 1)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "name the one that it must compute with --machine"),
        (["--machine", "C3"], "the network has 2 letters, and C3 has 3"),
        (
            ["--machine", "D8"],
            "the network has 2 classes, and D8 has 8; if it says what states show, --",
        ),
        (["--trusted"], "are for model files"),
        (["--machine", "C2", "--html", "page.html"], "`krohn compare` writes a page"),
        (["--machine", "C2", "--exhaustive", "3", "--jobs", "2"], "by one process"),
    ],
)
def test_what_has_no_meaning_is_refused(
    options: list[str], told: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["verify", str(folder / "parity"), *options]) == 2
    assert told in " ".join(capsys.readouterr().err.split())


def test_damage_is_named(folder: Path) -> None:
    data = (folder / "parity").read_bytes()
    (folder / "cut").write_bytes(data[:-4])
    with pytest.raises(KrohnError, match="cut is damaged"):
        krohn.verify(folder / "cut", "C2")


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_networks_of_which_no_theorem_tells() -> None:
    with pytest.raises(KrohnError, match="strict=True"):
        krohn.fine_tuned(krohn.compile("C2", 8), {})
    with pytest.raises(KrohnError, match="same names and shapes"):
        krohn.fine_tuned(plain(), {"embed.token": np.zeros((3, 5))})
    disguised = krohn.compile("C2", 8, disguise="rotate")
    with pytest.raises(KrohnError, match="without a disguise"):
        krohn.fine_tuned(disguised, {})
