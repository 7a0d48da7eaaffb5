"""Nested brackets in front of a word are closed again, so no answer should change."""

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st
from torch import Tensor

from krohn.instruments.compare.models import (
    Network,
    Specification,
)
from krohn.instruments.compare.models.architecture import Lstm
from krohn.instruments.compare.tasks.catalogue import task
from krohn.instruments.compare.training import Balance
from krohn.instruments.compare.training.recipe import (
    draw_nested_pairs,
    stacks,
)

DYCK = task("Dyck4,2")
STACKS = stacks(DYCK.machine)


@given(st.integers(0, 2**32 - 1))
def test_nested_brackets_return_to_the_empty_stack_after_one_peak(seed: int) -> None:
    front = draw_nested_pairs(STACKS, np.random.default_rng(seed), 5)
    states = DYCK.states(front)
    assert (states[:, -1] == DYCK.machine.start).all()
    depths = [[len(STACKS.stacks[q]) for q in row] for row in states]
    pairs = front.shape[1] // 2
    peak = [*range(1, pairs + 1), *reversed(range(pairs))]
    assert depths == [peak] * 5
    assert 1 <= pairs <= STACKS.depth


def test_all_depths_and_kinds_occur() -> None:
    rng = np.random.default_rng(0)
    fronts = [draw_nested_pairs(STACKS, rng, 8) for _ in range(50)]
    assert {f.shape[1] // 2 for f in fronts} == {1, 2, 3, 4}
    assert set(np.concatenate([f.ravel() for f in fronts])) == {0, 1, 2, 3}


class Positions(Network):
    """The logit of a class is the number of letters read so far, times its number."""

    def __init__(self) -> None:
        super().__init__(Specification(Lstm(), 4, 2, 99))

    def forward(self, letters: Tensor, shift: int = 0) -> Tensor:
        read = torch.arange(1, letters.shape[1] + 1) + 0.0
        return (read[:, None] * torch.arange(2)).expand(len(letters), -1, -1)


def test_it_is_the_mean_squared_change_of_logits() -> None:
    network, letters = Positions(), torch.zeros(3, 5, dtype=torch.int64)
    front = np.zeros((3, 4), dtype=np.int64)
    loss = Balance(0.5)(network, letters, network(letters), front, 0)
    # Four letters more: class 0 does not change, class 1 by 4.
    assert float(loss) == pytest.approx(0.5 * (0 + 16) / 2)
