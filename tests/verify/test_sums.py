"""Sums of channels are proved channel by channel; what adds anything else is refused."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from model_files import place, redescribed, stated

import krohn
from krohn.algebra import zoo
from krohn.instruments.attack.rounding import (
    network,
    whole,
)
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.verify.checker import sublayers, transformer as checker
from krohn.verify.checker.residual_stream import Stream
from krohn.verify.proof import prove
from krohn.verify.search.find import model_of
from krohn.verify.testing.exhaustive import exhaustive


@cache
def corridor(dtype: str = "float32") -> ModelFile:
    return krohn.compile("Grid3", 6, "corridor", dtype=dtype).file


def verdict(file: ModelFile) -> str:
    return prove(file, zoo.machine("Grid3")).verdict


def changed(file: ModelFile, tensor: str, index: int, value: float) -> ModelFile:
    array = file.tensors[tensor].copy()
    array.reshape(-1)[index] = value
    return replace(file, tensors={**file.tensors, tensor: array})


def last(file: ModelFile) -> str:
    """Where the tensors of the last MLP are, which adds up."""
    return f"blocks.{len(file.header['architecture']['blocks']) - 1}.mlp"


def adds(file: ModelFile) -> tuple[list[str], int]:
    """The channels that are added up, and where their sum stands."""
    cell = stated(file, "cell")
    assert cell["function"] == "sum"
    return cell["inputs"], cell["dims"][0]


def test_the_sum_is_proved() -> None:
    file = corridor()
    assert verdict(file) == "verified"
    assert len(adds(file)[0]) == 3


@pytest.mark.slow
@pytest.mark.parametrize("layer", [0, 1])
def test_every_weight_of_the_sum_matters(layer: int) -> None:
    file = corridor()
    weight = file.tensors[f"{last(file)}.{layer}.weight"].reshape(-1)
    used = np.flatnonzero(weight).tolist()
    assert used
    for index in used[::3]:
        for value in (-1.0, 0.4):
            wrong = changed(file, f"{last(file)}.{layer}.weight", index, value)
            assert verdict(wrong) != "verified"
            assert not exhaustive(Model(wrong), zoo.machine("Grid3"), 4).has_passed


@pytest.mark.slow
def test_a_constant_is_not_added() -> None:
    file = corridor()
    _, dimension = adds(file)
    for value in (1.0, 0.25):
        wrong = changed(file, f"{last(file)}.1.bias", dimension, value)
        assert verdict(wrong) == "undecided"


@pytest.mark.slow
def test_nothing_else_is_added() -> None:
    file = corridor()
    weight = file.tensors[f"{last(file)}.0.weight"]
    for index in np.flatnonzero(weight.reshape(-1) == 0)[::15].tolist():
        wrong = changed(file, f"{last(file)}.0.weight", index, 1.0)
        if verdict(wrong) == "verified":
            assert exhaustive(Model(wrong), zoo.machine("Grid3"), 6).has_passed


def with_inputs(file: ModelFile, inputs: list[str]) -> ModelFile:
    return redescribed(file, "cell", inputs=inputs)


@pytest.mark.slow
def test_the_file_states_what_is_added() -> None:
    file = corridor()
    inputs, _ = adds(file)
    for wrong in (inputs[:2], [*inputs, inputs[0]], [inputs[0]] * 3, []):
        assert verdict(with_inputs(file, wrong)) != "verified"
    assert verdict(with_inputs(file, inputs[::-1])) == "verified"


torch.set_num_threads(1)
TOTAL = "#Q_a-#Q_b"
SUM = f"{TOTAL}.codes"


@cache
def majority(length: int, dtype: str = "float32") -> ModelFile:
    return krohn.compile("crasp:Majority", length, dtype=dtype).file


def summed(file: ModelFile) -> Stream:
    """The bounds after the heads of the first block."""
    model = model_of(file)
    program = checker.read_program(model, len(file.header["source"]["letters"]))
    return sublayers.attention(model, sublayers.embedding(model, program), 0)[0]


def held(file: ModelFile, words: torch.Tensor) -> torch.Tensor:
    """The values after each letter where the sum is stored, by several kernels."""
    seen = whole(network(file).net, words)[0][1][:, 1:, place(file, SUM)]
    return seen.double()


def words_of(length: int) -> torch.Tensor:
    """All a, all b, and runs and chance in between."""
    rng = np.random.default_rng(0)
    shares = np.linspace(0, 1, 9)[:, None]
    drawn = rng.random((9, length)) < shares
    runs = np.arange(length) < shares * length
    return torch.from_numpy(np.concatenate([drawn, runs, ~runs]).astype(np.int64))


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_each_value_of_a_sum_is_within_its_own_bound(dtype: str) -> None:
    length = {"float32": 1000, "bfloat16": 6, "float16": 40}[dtype]
    file = majority(length, dtype)
    stream = summed(file)
    noise, channel = stream.noise[SUM], stream.program.channels[SUM]
    words = words_of(length)
    expected = 2 * (words == 0).cumsum(dim=1)
    off = (held(file, words) - expected).abs().numpy()
    bound = noise[channel.place(expected.numpy())]
    assert (off <= bound).all()
    assert off.max() > 0


@pytest.mark.slow
def test_the_bound_is_in_proportion_to_the_value() -> None:
    stream = summed(majority(1000))
    noise, values = stream.noise[SUM], stream.program.channels[SUM].domain
    assert noise[0] == 0
    assert (np.diff(noise) >= 0).all()
    half = noise[np.searchsorted(values, values[-1] // 2)]
    assert 0.24 < noise[-1] < 0.5
    assert half < 0.51 * noise[-1]


@pytest.mark.slow
def test_a_sum_of_two_is_read_with_the_noise_of_what_fits_into_it() -> None:
    stream = summed(majority(60))
    program = stream.program
    first, second = (program.channels[n] for n in program.channels[TOTAL].inputs)
    rng = np.random.default_rng(0)
    for _ in range(20):
        noise = {c.name: rng.random(len(c.domain)) * 0.4 for c in (first, second)}
        noisy = replace(stream, noise={**stream.noise, **noise})
        total = program.channels[TOTAL]
        sums = np.append(total.later, total.bos)
        read = noisy.halves(total, np.zeros((len(sums), len(stream.owner))))
        allowed = read.slopes.sum(axis=0) + read.rest
        for s, row in zip(sums, allowed, strict=True):
            for one, other in ((first, second), (second, first)):
                fits = np.isin(s - one.domain, other.domain)
                most = noise[one.name][fits].max(initial=0)
                assert most <= row[one.span.start]
