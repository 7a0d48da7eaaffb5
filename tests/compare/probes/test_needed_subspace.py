"""Directions that stand idle beside a probe's own have no part in an exchange."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from sample_network import Layered
from torch import Tensor, nn

from krohn.algebra.automaton import IntArray
from krohn.compare.models import Lstm, Specification
from krohn.compare.probes.exchange import Trial, probed_network
from krohn.compare.probes.interchange import interchange
from krohn.compare.probes.probe_map import use
from krohn.compare.probes.scores import split
from krohn.compare.probes.subspace import needed_subspace
from krohn.compare.probes.survey import Survey, survey
from krohn.compare.probes.variables import variables
from krohn.compare.tasks.task import Task

T = 12


class Idle(nn.Module):
    """The letter, the count of ones on a circle modulo 4, and the count on a sphere."""

    code: Tensor

    def __init__(self, size: float) -> None:
        super().__init__()
        drawn = torch.randn(T + 1, 6, generator=torch.Generator().manual_seed(0))
        self.register_buffer("code", size * drawn / drawn.norm(dim=1, keepdim=True))

    def forward(self, letters: Tensor) -> Tensor:
        count = letters[..., 1].cumsum(dim=1)
        turn = count * torch.pi / 2
        circle = torch.stack([turn.cos(), turn.sin()], dim=-1)
        return torch.cat([letters, circle, self.code[count.round().long()]], dim=-1)


class OnACircle(Layered):
    """Parity from the count modulo 4; the whole count is there and nothing reads it."""

    def __init__(self, size: float = 1.0) -> None:
        super().__init__(Specification(Lstm(), 2, 2, T))
        self.embedding = nn.Embedding.from_pretrained(torch.eye(2))
        self.block = Idle(size)

    def forward(self, letters: Tensor, shift: int = 0) -> Tensor:
        stream: Tensor = self.block(self.embedding(letters))
        odd = 4 * (stream[..., 3] ** 2 - stream[..., 2] ** 2)
        return torch.stack([-odd, odd], dim=-1)


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("size", [0.3, 1.0])
def test_a_count_that_nothing_reads_is_not_used(
    task_of: Callable[[str], Task], size: float
) -> None:
    """To exchange the count with what is read does all that the count should do."""
    found = survey(OnACircle(size), task_of("C2"), None, Survey(180, T, exchanges=3))
    row = found.named("count of 1")
    assert found.accuracy == 1
    assert row.verdict == "readable"
    assert row.exchanged[0].found.changed == 1
    assert "no use of them was shown: count of 1" in found.conclusion


def test_only_what_is_read_is_needed(
    task_of: Callable[[str], Task], words_for: Callable[..., IntArray]
) -> None:
    task, network = task_of("C2"), OnACircle()
    words = words_for(task, 120, T)
    bench = probed_network(network, task, words, split(120, np.random.default_rng(0)))
    home = variables(task, words).named("counter: sum").homes[0]
    pairs = bench.pairs(bench.parts.fit, np.random.default_rng(1))
    cases = bench.cases(home, pairs)
    part = needed_subspace(Trial(bench, 1, pairs, cases), pairs, cases, np.eye(10))
    assert part.shape == (10, 2)
    assert np.allclose(np.delete(part, [2, 3], axis=0), 0, atol=1e-6)


def test_the_rule_that_says_so_is_that_the_needed_part_carries_the_variable(
    task_of: Callable[[str], Task], words_for: Callable[..., IntArray]
) -> None:
    task = task_of("C2")
    words = words_for(task, 240, T)
    bench = probed_network(
        OnACircle(), task, words, split(240, np.random.default_rng(0))
    )
    found = interchange(bench, variables(task, words).named("count of 1"), 1)
    assert found is not None
    assert found.found.mean_share == 1
    assert found.decisive == 0
    assert found.carried < 0.95
    assert use(found) == "readable"
