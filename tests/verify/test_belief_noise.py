"""Theorem W9, number by number: what every channel holds is what the checker says of it."""

import numpy as np
import pytest
import torch
from linear_networks import runner, shown
from normalised_networks import built, climbed, positive, words_of

from krohn.network.precision import FloatArray
from krohn.program import LetterMatrix, MatrixProduct, Normalised, Shift
from krohn.sources.hidden_markov import HiddenMarkovModel
from krohn.verify.checker.established import Established
from krohn.verify.checker.positive_noise import Held

NEAR = 1e-11
"""More than logarithms of exact numbers are off here."""


def exact(source: HiddenMarkovModel, found: Established, words: FloatArray) -> dict:
    """For each channel its matrices of mass 1, ``(words, T + 1, n, n)``."""
    first = np.outer(source.start, np.ones(source.size))
    values: dict[str, FloatArray] = {}
    for name, operation in found.streams[0].program.operations.items():
        if isinstance(operation, LetterMatrix):
            bos = np.broadcast_to(first, (len(words), 1, *first.shape))
            made = np.concatenate([bos, source.operators[words]], axis=1)
        elif isinstance(operation, Shift):
            at = np.maximum(np.arange(words.shape[1] + 1) - operation.by, 0)
            made = values[operation.source][:, at]
        elif isinstance(operation, MatrixProduct):
            made = values[operation.left] @ values[operation.right]
        elif isinstance(operation, Normalised):
            made = values[operation.source]
        else:
            continue
        mass = (made @ source.start).sum(axis=-1)
        values[name] = made / mass[..., None, None]
    return values


@pytest.mark.sample(1)
@pytest.mark.parametrize("scale", [2.0**5, 2.0**8, None])
@pytest.mark.parametrize("seed", [0, 1])
def test_each_channel_is_as_far_off_as_it_may_be(
    seed: int, scale: float | None
) -> None:
    source = positive(3, 2, seed, 0.1)
    file = built(source, 12, scale=scale)
    found, words = shown(file), words_of(file, 30)
    ideal = exact(source, found, words)
    with torch.no_grad():
        held = runner(file).snapshots(torch.tensor(words))
    count = 0
    for stream, x in zip(found.streams, held, strict=True):
        for name, noise in stream.noise.items():
            span, count = stream.program.channels[name].span, count + 1
            said = x[..., list(span)].numpy().reshape(*x.shape[:2], *[source.size] * 2)
            known = Held.of(noise)
            mass = (said @ source.start).sum(axis=-1)
            assert (known.mass.low * (1 - NEAR) <= mass).all()
            assert (mass <= known.mass.high * (1 + NEAR)).all()
            beside = np.where(ideal[name] == 0, np.abs(said), 0).max(axis=(0, 2, 3))
            assert (beside <= known.beside.high).all()
            with np.errstate(divide="ignore", invalid="ignore"):
                off = np.log(said / ideal[name])
            off[ideal[name] == 0] = np.nan
            spread = np.nanmax(off, axis=(2, 3)) - np.nanmin(off, axis=(2, 3))
            assert (spread <= known.spread.high + NEAR).all()
            columns = np.nanmax(off, axis=2) - np.nanmin(off, axis=2)
            assert (columns <= known.columns.high[:, None] + NEAR).all()
    assert count > 20


ROUNDED = 2.0**-44
"""More than the reference, in float64, is off on short words."""


@pytest.mark.sample(1)
@pytest.mark.parametrize("scale", [2.0**5, 2.0**9, None])
@pytest.mark.parametrize("seed", [1, 3])
def test_no_word_that_a_climb_finds_is_worse_than_what_is_shown(
    seed: int, scale: float | None
) -> None:
    file = built(positive(3, 3, seed, 0.1), 10, scale=scale)
    first, worst = climbed(file, 12, seed)
    assert first <= worst <= shown(file).error + ROUNDED
