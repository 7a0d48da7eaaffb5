"""Heads see the positions that the mask says: measured for emitted networks."""

from typing import Any

import numpy as np
import pytest
import torch
from seen_positions import Seen, equation_6, observe_heads

import krohn
from krohn.network.mixing import SparseMixing
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.transformer import Transformer
from krohn.source_kinds.chains_of_thought import ChainsOfThought

KIND = ChainsOfThought()


def looked(file: ModelFile) -> list[Seen]:
    """The positions that the heads see on one random text."""
    source, network = KIND.of_file(file), Model(file).network
    assert isinstance(network, Transformer)
    low, high = np.array(source.prompt).T
    prompt = np.random.default_rng(1).integers(low, high + 1, size=(1, len(low)))
    return observe_heads(network, torch.from_numpy(source.continued(prompt)[0, :-1]))


def mask(file: ModelFile, one: Seen) -> np.ndarray:
    told = file.header["architecture"]["blocks"][one.block]["attention"]
    sizes = (told[name] for name in ("block", "windows", "last"))
    return equation_6(len(one.depends), *sizes)


@pytest.mark.sample(1)
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


def test_a_runtime_with_another_mask_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One position more in the window, or no causality (E1)."""
    file = krohn.compile("EditDistance3,3:letters=2", attention="sparse").file
    right = SparseMixing.sees

    def wider(self: SparseMixing, i: Any, j: Any) -> Any:
        return right(self, i, j) | (i - j == self.kind.window)

    def printed(self: SparseMixing, i: Any, j: Any) -> Any:
        ends = (j - 1) % self.kind.block >= self.kind.block - self.kind.last
        return right(self, i, j) | ends

    for wrong in (wider, printed):

        def whole(
            self: SparseMixing, q: Any, k: Any, v: Any, wrong: Any = wrong
        ) -> Any:
            t = torch.arange(q.shape[2])
            hidden = ~wrong(self, t[:, None], t)
            scores = (q @ k.transpose(-1, -2)).masked_fill(hidden, -torch.inf)
            return scores.softmax(dim=-1) @ v

        monkeypatch.setattr(SparseMixing, "whole", whole)
        found = looked(file)
        assert any((one.depends & ~mask(file, one)).any() for one in found)


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["standard", "linear"])
def test_other_heads_see_all_that_came_before(kind: str) -> None:
    file = krohn.compile("EditDistance3,3:letters=2", attention=kind).file
    for one in looked(file):
        assert not np.triu(one.depends, 1).any()
        assert one.depends.sum() > 0.9 * np.tril(one.depends | True).sum()
