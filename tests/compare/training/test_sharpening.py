"""Attention sharpening is least where every row is on one letter."""

import math

import pytest
import torch

from krohn.algebra.errors import KrohnError
from krohn.compare.training import Sharpening
from krohn.compare.training.recipe import Form

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
