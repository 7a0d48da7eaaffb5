"""A scratchpad fills in one answer after the other, and reads each of them."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models import (
    Architecture,
    Gpt,
    Lstm,
)
from krohn.instruments.compare.tasks.catalogue import task
from krohn.instruments.compare.tasks.task import Task
from krohn.instruments.compare.training import (
    Recipe,
    train,
)
from krohn.instruments.compare.training.objective import (
    Scratchpad,
    scratchpad,
)

NETWORKS: list[Architecture] = [
    Lstm(8, 16),
    Gpt(2, 16, 2, 16),
    Gpt(1, 16, 2, 16, positions="alibi"),
    Gpt(1, 16, 2, 16, positions="rope"),
]
TASKS = [task("C3"), task("D8 (location)"), task("Dyck4,2")]
SMALL = Recipe(steps=20, batch=8, length=6, every=10, probe=32, scratchpad=True)


def one_by_one(network: Scratchpad, letters: Tensor) -> Tensor:
    """Logits, from a pass for each position that reads the answers before."""
    read = letters[:, :1]
    while True:
        logits = network.inner(read)
        if read.shape[1] == 2 * letters.shape[1] - 1:
            return logits[:, ::2]
        said = logits[:, -1:].argmax(-1) + network.specification.letters
        at = (read.shape[1] + 1) // 2
        read = torch.cat([read, said, letters[:, at : at + 1]], dim=1)


def wild(asked: Task, architecture: Architecture, seed: int) -> Scratchpad:
    """A network with large weights, whose answers depend on those before."""
    network = scratchpad(asked, architecture, 12, seed).eval()
    with torch.no_grad():
        for weight in network.parameters():
            weight.mul_(3.0)
    return network


@pytest.mark.sample(1)
@pytest.mark.parametrize("asked", TASKS, ids=lambda t: t.name)
@pytest.mark.parametrize("architecture", NETWORKS, ids=lambda a: a.description)
def test_answers_are_those_of_one_pass_for_each_position(
    asked: Task, architecture: Architecture
) -> None:
    letters = torch.randint(
        len(asked.letters), (20, 12), generator=torch.Generator().manual_seed(0)
    )
    for seed in range(3):
        network = wild(asked, architecture, seed)
        with torch.no_grad():
            assert torch.allclose(
                network(letters), one_by_one(network, letters), atol=1e-4
            )


def test_teaching_reads_labels_and_shows_positions_of_letters() -> None:
    network = scratchpad(TASKS[0], Gpt(2, 16, 2, 16), 9, 0).eval()
    letters, labels = torch.tensor([[0, 1, 2, 1]]), torch.tensor([[0, 1, 0, 1]])
    seen = network.taught_inside(letters, labels)
    assert torch.allclose(
        seen.logits, network.logits_after_answers(letters, labels), atol=1e-6
    )
    assert [tuple(h.shape) for h in seen.hidden] == [(1, 4, 16)] * 3
    for attention in seen.attention:
        assert attention.shape == (1, 2, 4, 4)
        assert torch.allclose(attention.sum(-1), torch.ones(1, 2, 4), atol=1e-5)
        assert torch.equal(attention, attention.tril())
    own = network.inside(letters)
    assert torch.allclose(own.logits, network(letters), atol=1e-6)
    assert network.longest == 9


def test_a_label_changes_answers_after_it_only() -> None:
    network = wild(TASKS[0], Gpt(1, 16, 2, 16), 0)
    letters = torch.zeros(1, 5, dtype=torch.int64)
    labels = torch.tensor([[0, 0, 0, 0, 0], [0, 0, 1, 0, 0]])
    one, two = network.logits_after_answers(letters.expand(2, -1), labels)
    assert torch.allclose(one[:3], two[:3], atol=1e-6)
    assert not torch.allclose(one[3:], two[3:], atol=1e-3)


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("architecture", NETWORKS[:2], ids=lambda a: a.description)
def test_training_with_a_scratchpad_learns_one_step_of_the_machine(
    architecture: Architecture,
) -> None:
    recipe = replace(SMALL, steps=150, batch=32, rate=1e-2, warmup=10, every=150)
    run = train(task("C2"), architecture, recipe, 0)
    assert run.history[-1].accuracy > 0.9
    assert isinstance(run.network, Scratchpad)


def test_runs_with_a_scratchpad_are_kept_and_read(tmp_path: object) -> None:
    run = train(task("C2"), Lstm(4, 8), SMALL, 0, tmp_path)
    again = train(task("C2"), Lstm(4, 8), SMALL, 0, tmp_path)
    letters = torch.randint(2, (5, 6), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        assert torch.equal(run.network(letters), again.network(letters))


@pytest.mark.parametrize(
    "asked", [task("flip-flop"), task("brackets"), task("C2", reveal=0.5)]
)
def test_every_answer_must_be_taught(asked: Task) -> None:
    with pytest.raises(KrohnError, match="a scratchpad holds an answer after each"):
        scratchpad(asked, Lstm(4, 8), 8, 0)
