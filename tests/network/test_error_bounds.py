"""Random Transformers are run as nearly as A1 to A14 of docs/soundness.md let them be."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from error_bounds import enclosed
from many_digits import exact, near
from random_networks import KINDS, RandomNetwork, random_transformer

from krohn.network.meaning.arrays import Arrays, whole
from krohn.network.transformer import Transformer
from krohn.program.domains import FloatArray
from krohn.program.errors import Refused

WIDE, NARROW = ("float64", "float32"), ("float16", "bfloat16")
FORMATS = dict.fromkeys(WIDE, KINDS)
FORMATS |= dict.fromkeys(NARROW, ("softmax", "relu", "sparse"))
"""Kinds of heads in each format: nothing is assumed of features in 16 bits."""
TOGETHER, PARTS = 20, dict.fromkeys(WIDE, 100) | dict.fromkeys(NARROW, 10)
"""2,000 networks in wide formats, some at a time."""


def of_torch(given: RandomNetwork, dtype: str) -> Transformer:
    """The network as torch runs it, in any format."""
    held = {n: torch.from_numpy(x) for n, x in given.tensors.items()}
    kind = getattr(torch, dtype)
    return Transformer(given.architecture, {n: x.to(kind) for n, x in held.items()})


def whole_words(given: RandomNetwork, dtype: str) -> FloatArray:
    """By torch, at once."""
    said = of_torch(given, dtype)(torch.from_numpy(given.words))
    return said.double().numpy()  # type: ignore[no-any-return]


def letter_by_letter(given: RandomNetwork, dtype: str) -> FloatArray | None:
    """By torch; None if it reads words as a whole."""
    network, said = of_torch(given, dtype), []
    if not network.causal:
        return None
    cache = network.start(len(given.words))
    for letters in torch.from_numpy(given.words).T:
        logits, cache = network.step(letters, cache)
        said.append(logits.double())
    return torch.stack(said, dim=1).numpy()  # type: ignore[no-any-return]


def by_numpy(given: RandomNetwork, dtype: str) -> FloatArray | None:
    """By the operations of numpy, which has no 16-bit products."""
    if dtype in NARROW:
        return None
    net = given.net.each(lambda x: x.astype(dtype))
    return np.asarray(whole(net, Arrays(), given.words), np.float64)


RUNNERS: dict[str, Callable[[RandomNetwork, str], Any]] = {
    "whole words": whole_words,
    "letter by letter": letter_by_letter,
    "numpy": by_numpy,
}


def bounded(dtype: str, part: int) -> Iterator[tuple[RandomNetwork, Any, FloatArray]]:
    """Some random networks with true logits and bounds."""
    for seed in range(TOGETHER * part, TOGETHER * (part + 1)):
        given = random_transformer(seed, dtype, kinds=FORMATS[dtype], longest=12)
        try:
            yield given, *enclosed(given.net, given.words, dtype)
        except Refused:
            continue  # errors have grown until a linear head may divide by 0


def apart(said: FloatArray, true: Any) -> FloatArray:
    """How far numbers are from true ones."""
    return near(abs(exact(said) - true))


@pytest.mark.sample(3, at=205)
@pytest.mark.parametrize(
    ("dtype", "part"),
    [(dtype, part) for dtype, parts in PARTS.items() for part in range(parts)],
)
def test_all_runs_are_as_near_as_is_assumed(dtype: str, part: int) -> None:
    runs = 0
    for given, true, off in bounded(dtype, part):
        for name, run in RUNNERS.items():
            if (said := run(given, dtype)) is None:
                continue
            assert (apart(said, true) <= off).all(), (name, given.architecture)
            runs += 1
    assert runs >= TOGETHER


def test_coarser_arithmetic_is_farther() -> None:
    """So the bounds are not too wide: those of float64 tell sums of float32 apart."""
    for seed in range(TOGETHER):
        given = random_transformer(seed, "float32", longest=6)
        true, off = enclosed(given.net, given.words, "float64")
        assert (apart(whole_words(given, "float32"), true) > off).any(), seed
