"""Sums are off in proportion to themselves, and readers of sums count on no more."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

import krohn
from krohn.network.modelfile import ModelFile
from krohn.verify.attack.rounding import network, whole
from krohn.verify.checker import sublayers, transformer as checker
from krohn.verify.checker.residual_stream import Stream
from krohn.verify.search.find import model_of

torch.set_num_threads(1)
TOTAL = "#Q_a-#Q_b"
SUM = f"{TOTAL}.codes"


@cache
def majority(length: int, dtype: str = "float32") -> ModelFile:
    return krohn.compile("crasp:Majority", length, dtype=dtype).file


def summed(file: ModelFile) -> Stream:
    """The bounds after the heads of the first block."""
    model = model_of(file)
    program = checker.stated(model, len(file.header["source"]["letters"]))
    return sublayers.attention(model, sublayers.embedding(model, program), 0)[0]


def held(file: ModelFile, words: torch.Tensor) -> torch.Tensor:
    """The values after each letter where the sum is stored, by several kernels."""
    channel = next(c for c in file.header["program"]["channels"] if c["name"] == SUM)
    seen = whole(network(file, file.tensors), words)[0][1][:, 1:, channel["dims"][0]]
    return seen.double()


def words_of(length: int) -> torch.Tensor:
    """All a, all b, and runs and chance in between."""
    rng = np.random.default_rng(0)
    shares = np.linspace(0, 1, 9)[:, None]
    drawn = rng.random((9, length)) < shares
    runs = np.arange(length) < shares * length
    return torch.from_numpy(np.concatenate([drawn, runs, ~runs]).astype(np.int64))


@pytest.mark.sample(2)
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
