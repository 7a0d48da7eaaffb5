"""Heads see the positions that the mask says: measured for emitted networks."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from seen_positions import Seen, equation_6, observe_heads

import krohn
from krohn.instruments.attack.rounding import (
    Arithmetic,
    network,
)
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.network.meaning import arrays, fast_tensors, tensors
from krohn.network.meaning.arrays import Arrays
from krohn.network.meaning.net import Net
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.transformer import Transformer
from krohn.program.attention import Sparse

KIND, SEES = ChainsOfThought(), Sparse.sees


def looked(file: ModelFile) -> list[Seen]:
    """The positions that the heads see on one random text."""
    source, network = KIND.of_file(file), Model(file).network
    assert isinstance(network, Transformer)
    low, high = np.array(source.prompt).T
    prompt = np.random.default_rng(1).integers(low, high + 1, size=(1, len(low)))
    return observe_heads(
        network, torch.from_numpy(source.continue_prompts(prompt)[0, :-1])
    )


def mask(file: ModelFile, one: Seen) -> np.ndarray:
    told = file.header["architecture"]["blocks"][one.block]["attention"]
    sizes = (told[name] for name in ("block", "windows", "last"))
    return equation_6(len(one.depends), *sizes)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["EditDistance4,4:letters=4", "LocalEditDistance3,3", "LIS6", "Knapsack2,3"]
)
def test_sparse_heads_depend_on_nothing_outside_of_equation_6(name: str) -> None:
    file = krohn.compile(name, attention="sparse").file
    source = KIND.of_file(file)
    for one in looked(file):
        shown = mask(file, one)
        assert not (one.depends & ~shown).any()
        assert not one.weights[:, ~shown].any()
        assert (one.depends & shown).sum() > 0.9 * shown.sum()
        i, j = np.nonzero((one.weights[:, :, 1:] > 0.01).any(axis=0))
        assert (i - (j + 1)).max() < max(source.locality, 1)


def wider(kind: Sparse, i: Any, j: Any) -> Any:
    """One position more in the window."""
    return SEES(kind, i, j) | (i - j == kind.window)


def printed(kind: Sparse, i: Any, j: Any) -> Any:
    """No causality (E1)."""
    return SEES(kind, i, j) | ((j - 1) % kind.block >= kind.block - kind.last)


@pytest.mark.sample(1)
@pytest.mark.parametrize("wrong", [wider, printed])
def test_who_runs_heads_sees_what_the_mask_says(
    wrong: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one is found; numpy and the worst arithmetic of attacks follow it."""
    file = krohn.compile("EditDistance3,3:letters=2", attention="sparse").file
    # The kernel is of this mask: it only looks at windows, and at the ends of blocks.
    monkeypatch.setattr(tensors, "KERNELS", {})
    # All that is seen has the same weight, so that each position counts.
    alike = {n: t * (not n.endswith("query")) for n, t in file.tensors.items()}
    flat = replace(file, tensors=alike)
    shape, net = flat.architecture, Net.of(flat.architecture, alike)
    size = 4, shape.positions - 1
    words = np.random.default_rng(0).integers(shape.vocabulary - 1, size=size)

    def said() -> list[Any]:
        torches = network(flat).net
        bad = Arithmetic(file.precision, np.random.default_rng(0))
        return [
            fast_tensors.whole(torches, torch.from_numpy(words)).numpy(),
            arrays.whole(net, Arrays(), words),
            bad.run(torches, torch.from_numpy(words))[1].numpy(),
        ]

    before = said()
    monkeypatch.setattr(Sparse, "sees", wrong)
    assert any((one.depends & ~mask(file, one)).any() for one in looked(file))
    after = said()
    for x, y in zip(before, after, strict=True):
        assert np.abs(x - y).max() > 1
        assert np.abs(y - after[0]).max() < 0.1


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["standard", "linear"])
def test_other_heads_see_all_that_came_before(kind: str) -> None:
    file = krohn.compile("EditDistance3,3:letters=2", attention=kind).file
    for one in looked(file):
        assert not np.triu(one.depends, 1).any()
        assert one.depends.sum() > 0.9 * np.tril(one.depends | True).sum()
