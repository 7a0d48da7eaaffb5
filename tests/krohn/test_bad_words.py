"""Errors that are looked for are below what is proved, in every order of sums."""

from pathlib import Path

import bad_words
import numpy as np
import pytest
from brought_models import WAYS, drawn
from worst_orders import Products, worst

import krohn
from krohn.sources.hidden_markov import HiddenMarkovModel


@pytest.mark.parametrize("seed", [10, 14])
def test_no_error_that_is_found_is_above_the_proof(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bad_words, "HELD_STEPS", 10)
    monkeypatch.setattr(bad_words, "ORDER_STEPS", 2)
    monkeypatch.setattr(bad_words, "STEPS", 1)
    source = WAYS["Python"](drawn(seed), tmp_path)
    for dtype in ("float32", "float64"):
        model = krohn.compile(
            source, 8, construction="attention-products", dtype=dtype, within=1e-3
        )
        found, in_bad_orders = bad_words.largest_errors(model)
        assert in_bad_orders is not None
        assert max(found, in_bad_orders) <= model.file.header["claim"]["error"]


def test_beliefs_in_bad_orders_are_beliefs(tmp_path: Path) -> None:
    """Where states share rows, and words are shorter than the window."""
    say = np.eye(3)[[0, 1, 2, 0, 1]].T
    step = np.random.default_rng(0).dirichlet(np.ones(5), 5).T
    source = HiddenMarkovModel.of("five", step, say, before=np.eye(5)[0])
    model = krohn.compile(
        source, 5, construction="attention-products", dtype="float64", within=1e-3
    )
    made = Products.of(model.file)
    words = source.sample(8, 5, np.random.default_rng(1))[0]
    right = source.filter(words)[0][:, -1]
    states = right.argmax(axis=1)
    for up in (-1.0, 1.0):
        said = worst(made, words, states, np.full(8, up))
        off = np.abs(said - right[np.arange(8), states]).max()
        assert off <= model.file.header["claim"]["error"] + 2.0**-44
