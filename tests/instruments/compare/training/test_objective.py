"""The loss is over revealed positions; what is added to it, and which weights count."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models import (
    Gpt,
    Lstm,
    build,
)
from krohn.instruments.compare.tasks import Batch
from krohn.instruments.compare.tasks.catalogue import task
from krohn.instruments.compare.training import (
    Balance,
    Recipe,
    Sharpening,
)
from krohn.instruments.compare.training.objective import (
    Objective,
    accuracy,
    mean_loss,
    on_device,
)
from krohn.instruments.compare.training.recipe import Form
from krohn.instruments.compare.training.trainer import Average

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


def test_the_average_is_the_weighted_sum_of_all_weights_so_far() -> None:
    network = build(Lstm(2, 3), 2, 2, 8, seed=0)
    average, bias = Average(network, 0.9), network.head.bias
    seen = [bias.detach().clone()]
    for value in (1.0, -2.0, 5.0):
        bias.data.fill_(value)
        average.follow()
        seen.append(bias.detach().clone())
    shares = [0.9**3, 0.1 * 0.9**2, 0.1 * 0.9, 0.1]
    expected = sum(s * b for s, b in zip(shares, seen, strict=True))
    assert torch.allclose(average.network.head.bias, expected)
    assert seen[-1].tolist() == [5.0, 5.0]


def test_without_decay_the_network_itself_is_measured() -> None:
    network = build(Lstm(2, 3), 2, 2, 8, seed=0)
    average = Average(network, 0.0)
    average.follow()
    assert average.network is network


def test_frozen_weights_are_no_part_of_it() -> None:
    network = build(Lstm(2, 3), 2, 2, 8, seed=0)
    network.embedding.requires_grad_(False)
    average = Average(network, 0.5)
    network.head.bias.data.fill_(4.0)
    average.follow()
    held = average.network.embedding.weight
    assert torch.equal(held, network.embedding.weight)
    before = build(Lstm(2, 3), 2, 2, 8, seed=0).head.bias
    assert torch.allclose(average.network.head.bias, 2.0 + before / 2)


UNIFORM = torch.tensor([[[[1.0, 0.0], [0.5, 0.5]]]])
SHARP = torch.tensor([[[[1.0, 0.0], [0.0, 1.0]]]])


@pytest.mark.parametrize(
    ("form", "uniform", "sharp"),
    [
        ("entropy", math.log(2) / 2, 0.0),
        ("l2", -(1 + math.sqrt(0.5)) / 2, -1.0),
        ("linf", -0.75, -1.0),
    ],
)
def test_each_form_is_its_formula_averaged_over_rows(
    form: Form, uniform: float, sharp: float
) -> None:
    loss = Sharpening(2.0, form)
    assert float(loss([UNIFORM, UNIFORM], 0)) == pytest.approx(2 * uniform)
    assert float(loss([SHARP], 0)) == pytest.approx(2 * sharp, abs=1e-6)
    assert float(loss([UNIFORM, SHARP], 0)) == pytest.approx(uniform + sharp)


@pytest.mark.parametrize("form", ["entropy", "l2", "linf"])
def test_masked_entries_have_finite_gradients(form: Form) -> None:
    scores = torch.tensor([[[[0.0, -math.inf], [1.0, 2.0]]]], requires_grad=True)
    Sharpening(1.0, form)([scores.softmax(-1)], 0).backward()
    assert bool(scores.grad.isfinite().all())
    assert float(scores.grad[0, 0, 1, 1]) < 0


def test_it_sets_in_late_and_rises_linearly() -> None:
    loss = Sharpening(8.0, start=10, rise=4)
    assert [loss.strength(step) for step in (0, 9, 10, 11, 13, 99)] == [
        *(0, 0, 2, 4, 8, 8)
    ]


def test_networks_without_attention_have_none_to_sharpen() -> None:
    with pytest.raises(KrohnError, match="no attention"):
        Sharpening(1.0)([], 0)
