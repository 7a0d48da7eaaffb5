"""The loss is over revealed positions, and draws what it draws from seed and step."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from krohn.algebra.errors import KrohnError
from krohn.compare.models import Gpt, Lstm, build
from krohn.compare.tasks import Batch
from krohn.compare.tasks.catalogue import task
from krohn.compare.training import Balance, Recipe, Sharpening
from krohn.compare.training.objective import Objective, accuracy, mean_loss, on_device

CPU = torch.device("cpu")
SMALL = Recipe(steps=10, batch=4, length=6, probe=8)


def value(loss: Tensor) -> float:
    return float(loss.detach())


def batch(trained: list[list[bool]]) -> Batch:
    shape = np.array(trained).shape
    zeros = np.zeros(shape, dtype=np.int64)
    return Batch(zeros, zeros, np.ones(shape, dtype=bool), np.array(trained))


def test_only_revealed_labels_enter_the_loss() -> None:
    logits = torch.tensor([[[0.0, 0.0], [0.0, 9.0], [0.0, -9.0]]])
    one = on_device(batch([[True, False, False]]), CPU)
    assert float(mean_loss(logits, one)) == pytest.approx(math.log(2))
    two = on_device(batch([[True, False, True]]), CPU)
    assert float(mean_loss(logits, two)) == pytest.approx(math.log(2) / 2, abs=1e-4)


def test_a_batch_without_a_revealed_label_teaches_nothing() -> None:
    assert (
        float(mean_loss(torch.zeros(1, 2, 3), on_device(batch([[False] * 2]), CPU)))
        == 0
    )


def test_ties_and_nan_are_never_right() -> None:
    labels, asked = torch.tensor([[0, 0, 0, 1]]), torch.tensor([[True] * 4])
    logits = torch.tensor([[[1, 0], [1, 1], [math.nan, 0], [math.inf, math.inf]]])
    assert accuracy(logits, labels, asked) == 1 / 4
    with pytest.raises(KrohnError, match="no answer"):
        accuracy(logits, labels, ~asked)


def test_the_loss_of_a_step_depends_on_seed_and_step_only() -> None:
    network = build(Lstm(4, 8), 2, 2, 8, seed=0)
    objective = Objective(task("C2"), SMALL, seed=3)
    losses = [value(objective(network, step, CPU)) for step in (5, 7, 5)]
    assert losses[0] == losses[2] != losses[1]
    other = Objective(task("C2"), SMALL, seed=4)
    assert value(other(network, 5, CPU)) != losses[0]


def test_shifted_positions_need_a_longer_table_and_vary_by_step() -> None:
    recipe = Recipe(steps=10, batch=4, length=6, shift=9, longest=20)
    objective = Objective(task("C2"), recipe, seed=0)
    assert objective.longest == 29
    assert {objective._shift(step) for step in range(99)} == set(range(10))


def test_regularisers_add_to_the_loss() -> None:
    network = build(Gpt(1, 8, 2, 8), 4, 31, 20, seed=0)
    plain = value(Objective(task("Dyck4,2"), SMALL, 0)(network, 0, CPU))
    for more in (
        {"sharpening": Sharpening(0.5)},
        {"balance": Balance(0.5)},
        {"sharpening": Sharpening(0.5), "balance": Balance(0.5)},
    ):
        recipe = Recipe(steps=10, batch=4, length=6, probe=8, **more)
        assert value(Objective(task("Dyck4,2"), recipe, 0)(network, 0, CPU)) > plain


def test_balance_asks_for_brackets_and_for_room_in_front_of_words() -> None:
    recipe = Recipe(length=6, balance=Balance(1.0))
    assert Objective(task("Dyck4,2"), recipe, 0).longest == 6 + 2 * 4
    with pytest.raises(KrohnError, match="no machine of brackets"):
        Objective(task("C2"), recipe, 0)
