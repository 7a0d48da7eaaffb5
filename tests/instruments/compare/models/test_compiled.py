"""Compiled networks among the others: frozen, free, and disturbed."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

import krohn
from krohn.algebra import zoo
from krohn.algebra.errors import KrohnError
from krohn.compiled_model import CompiledModel
from krohn.instruments.compare.models import (
    Compiled,
    Derived,
    build,
    wrap_compiled,
)
from krohn.instruments.compare.models.compiled import with_noise
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile

LENGTH = 12
MODELS = {
    "C2": ("C2", "counter", "float32"),
    "Grid4": ("Grid4", "gridworld", "float32"),
    "S3": ("S3", "scan", "float64"),
    "Memory3": ("Memory3", "memory", "bfloat16"),
    "C3 as RNN": ("C3", "rnn", "float32"),
}

each = pytest.mark.parametrize("name", MODELS)


@cache
def model_of(name: str) -> CompiledModel:
    machine, construction, dtype = MODELS[name]
    if construction == "rnn":
        return krohn.compile(machine, arch="rnn", dtype=dtype)
    return krohn.compile(machine, LENGTH, construction, dtype=dtype)


def file_of(name: str) -> ModelFile:
    return model_of(name).file


def words_of(network: Compiled, count: int = 6, seed: int = 0) -> Tensor:
    rng = torch.Generator().manual_seed(seed)
    return torch.randint(len(network.letters), (count, LENGTH), generator=rng)


def states(name: str, words: Tensor) -> Tensor:
    machine = zoo.machine(MODELS[name][0])
    return torch.from_numpy(machine.semiautomaton.trace(words.numpy(), machine.start))


@pytest.mark.sample(2)
@each
def test_it_says_the_states(name: str) -> None:
    network = wrap_compiled(file_of(name))
    words = words_of(network, 40)
    assert torch.equal(network(words).argmax(dim=-1), states(name, words))


@pytest.mark.sample(2)
@each
def test_it_is_frozen_unless_it_trains(name: str) -> None:
    assert not any(p.requires_grad for p in wrap_compiled(file_of(name)).parameters())
    free = wrap_compiled(file_of(name), Derived("", trains=True))
    learning = {key for key, p in free.named_parameters() if p.requires_grad}
    assert {key for key, _ in free.named_parameters()} - learning == {
        key for key, _ in free.named_parameters() if key.endswith(".mask")
    }
    assert all(p.dtype == torch.float32 for p in free.parameters())
    words = words_of(free)
    loss = torch.nn.functional.cross_entropy(
        free(words).flatten(0, 1), states(name, words).flatten()
    )
    loss.backward()  # type: ignore[no-untyped-call]
    assert any(p.grad is not None and bool(p.grad.any()) for p in free.parameters())


@pytest.mark.sample(1)
@each
def test_exact_weights_are_those_of_the_file(name: str) -> None:
    frozen, free = (
        wrap_compiled(file_of(name)),
        wrap_compiled(file_of(name), Derived("", True)),
    )
    for (_, ours), (_, theirs) in zip(
        free.named_parameters(), frozen.named_parameters(), strict=True
    ):
        assert torch.equal(ours, theirs.float())


@pytest.mark.parametrize("name", ["C2", "Grid4", "S3"])
def test_hidden_layers_are_the_snapshots_of_the_runtime(name: str) -> None:
    network = wrap_compiled(file_of(name))
    words = words_of(network)
    for ours, theirs in zip(
        network.inside(words).hidden,
        network.model.network.snapshots(words),
        strict=True,
    ):
        assert torch.equal(ours, theirs[:, 1:])


@pytest.mark.parametrize("name", ["C2", "Grid4", "S3"])
def test_a_channel_is_read_where_its_place_says(name: str) -> None:
    network = wrap_compiled(file_of(name))
    words = words_of(network)
    hidden = network.inside(words).hidden
    for channel, place in network.model.places().items():
        there = hidden[place.snapshots[0]][..., place.dims[0] : place.dims[1]]
        read = there.argmax(-1) if place.code == "one-hot" else there[..., 0].round()
        assert torch.equal(read.long(), network.model.read(words, channel)[:, 1:])


@pytest.mark.parametrize("name", ["C2", "Grid4", "S3"])
def test_attention_is_what_the_heads_weigh_with(name: str) -> None:
    """Column 0 is BOS: with its value, the weighted values are what was added."""
    network = wrap_compiled(file_of(name))
    words = words_of(network)
    stream = network.model.network.snapshots(words)
    for i, weights in enumerate(network.inside(words).attention):
        heads = network.model.network.attention[i]
        assert weights.shape[2:] == (LENGTH, LENGTH + 1)
        if not weights.shape[1]:
            continue
        value = torch.einsum("btd,hdv->bhtv", stream[2 * i], heads.value)
        added = torch.einsum("bhtv,hvd->btd", weights @ value, heads.out)
        found = stream[2 * i + 1][:, 1:] - stream[2 * i][:, 1:]
        assert torch.allclose(added, found, atol=1e-4)


@pytest.mark.parametrize("name", ["C2", "C3 as RNN"])
@pytest.mark.parametrize("noisy", ["nonzero", "all"])
def test_noise_is_of_the_stated_size_and_of_the_seed(name: str, noisy: str) -> None:
    exact = dict(wrap_compiled(file_of(name)).named_parameters())
    source = Derived("", trains=True, noise=0.1, noisy=noisy)  # type: ignore[arg-type]
    first, again, other = (
        dict(wrap_compiled(file_of(name), source, seed).named_parameters())
        for seed in (0, 0, 1)
    )
    assert all(torch.equal(first[key], again[key]) for key in exact)
    assert not all(torch.equal(first[key], other[key]) for key in exact)
    for key, weight in exact.items():
        zeros = weight == 0
        if key.endswith(".mask") or noisy == "nonzero":
            assert bool((first[key][zeros] == 0).all())


@pytest.mark.parametrize("noisy", ["nonzero", "all"])
def test_noise_is_relative(noisy: str) -> None:
    weight = torch.zeros(200, 200)
    weight[:100] = 3.0
    rng = torch.Generator().manual_seed(0)
    added = with_noise(weight, 0.1, noisy, rng) - weight  # type: ignore[arg-type]
    assert added[:100].std().item() == pytest.approx(0.3, rel=0.05)
    below = 0.3 if noisy == "all" else 0.0
    assert added[100:].std().item() == pytest.approx(below, rel=0.05)


def test_a_tensor_of_zeros_gets_no_noise() -> None:
    rng = torch.Generator().manual_seed(0)
    assert not with_noise(torch.zeros(3), 0.5, "all", rng).any()


def test_small_noise_keeps_the_function_and_much_destroys_it() -> None:
    def right(noise: float) -> float:
        network = wrap_compiled(file_of("S3"), Derived("", True, noise))
        words = words_of(network, 64)
        return (network(words).argmax(-1) == states("S3", words)).float().mean().item()

    assert right(1e-4) == 1
    assert right(0.5) < 0.9


def test_it_is_built_from_its_file(tmp_path: Path) -> None:
    path = str(tmp_path / "c2.safetensors")
    model_of("C2").save(path)
    network = build(Derived(path), 2, 2, LENGTH, 0)
    assert isinstance(network, Compiled)
    assert (network.letters, network.longest) == (zoo.machine("C2").letters, LENGTH)
    words = words_of(network)
    assert torch.equal(network(words), Model(file_of("C2"))(words))
    with pytest.raises(KrohnError, match="reads 2 letters and tells 2 classes apart"):
        build(Derived(path), 3, 2, LENGTH, 0)
    with pytest.raises(KrohnError, match=f"compile it with length={LENGTH + 1}"):
        build(Derived(path), 2, 2, LENGTH + 1, 0)
    with pytest.raises(KrohnError, match="cannot be read"):
        build(Derived(path + "x"), 2, 2, LENGTH, 0)


def test_an_rnn_reads_words_of_any_length() -> None:
    network = wrap_compiled(file_of("C3 as RNN"))
    assert network.longest is None
    rng = np.random.default_rng(0)
    words = torch.from_numpy(rng.integers(len(network.letters), size=(2, 300)))
    assert torch.equal(network(words).argmax(-1), states("C3 as RNN", words))


def test_what_it_cannot_do_is_refused() -> None:
    network = wrap_compiled(file_of("C2"))
    with pytest.raises(KrohnError, match="cannot be shifted"):
        network(words_of(network), 1)
    with pytest.raises(KrohnError, match="compile it with length=13"):
        network(torch.zeros(1, LENGTH + 1, dtype=torch.long))
    with pytest.raises(KrohnError, match="must not be negative"):
        Derived("", True, -1.0)
    with pytest.raises(KrohnError, match="noise is for"):
        Derived("", False, 0.1)
    with pytest.raises(KrohnError, match="'nonzero' or 'all'"):
        Derived("", True, 0.1, "some")  # type: ignore[arg-type]
    generator = krohn.compile_generator("Dyck2,2", 8, proof=False)
    with pytest.raises(KrohnError, match="generator"):
        wrap_compiled(generator.file)
