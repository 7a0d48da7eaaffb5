"""Recurrent layers that train with noise, so that they can be proved."""

from pathlib import Path

import pytest
import torch

from krohn.algebra.errors import KrohnError
from krohn.compare.models import RecurrentLayer, build, cost, load, save
from krohn.compare.models.cost import parameters
from krohn.compare.tasks.catalogue import task
from krohn.comparison.measurements import Settings
from krohn.comparison.result import LSTM
from krohn.comparison.trained_networks import plans, proved

CELLS = ("rnn", "gru", "lstm")


@pytest.mark.parametrize("cell", CELLS)
def test_files_hold_all_of_it(cell: str, tmp_path: Path) -> None:
    network = build(RecurrentLayer(cell, 5, 0.1), 3, 2, 16, 0)  # type: ignore[arg-type]
    save(network, tmp_path / "network")
    again, words = load(tmp_path / "network"), torch.randint(3, (6, 10))
    assert (again(words) == network.eval()(words)).all()
    count = sum(weight.numel() for weight in network.parameters())
    assert parameters(network.specification) == count == cost(network, 10).parameters
    assert cost(network, 10).steps == 10


@pytest.mark.parametrize("cell", CELLS)
def test_every_other_word_meets_noise_while_it_trains(cell: str) -> None:
    network = build(RecurrentLayer(cell, 5, 0.1), 3, 2, 16, 0)  # type: ignore[arg-type]
    words = torch.randint(3, (6, 10))
    usual, taught = network.eval()(words), network.train()(words)
    off = (taught - usual).abs().amax(dim=(1, 2))
    assert (off[::2] < 1e-5).all()
    assert (off[1::2] > 1e-4).all()


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(KrohnError, match="rnn, gru, lstm"):
        RecurrentLayer("elman")  # type: ignore[arg-type]
    with pytest.raises(KrohnError, match="negative"):
        RecurrentLayer("gru", 4, -0.1)


def test_a_comparison_trains_one_and_proves_it_or_not() -> None:
    asked = task("C2")
    usual, _ = plans(asked, Settings())[LSTM]
    provable, recipe = plans(asked, Settings(provable=True))[LSTM]
    assert isinstance(provable, RecurrentLayer)
    assert provable.noise > 0
    assert not isinstance(usual, RecurrentLayer)
    fresh = build(RecurrentLayer("rnn", 4), 2, 2, recipe.reads, 0)
    assert proved(fresh.eval(), asked) == "refuted"
    assert proved(build(usual, 2, 2, recipe.reads, 0).eval(), asked) is None
