"""Recurrent layers that train with noise and forget it, so that they can be proved."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from sample_comparison import sample

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.comparison.machines import MachineQuestion
from krohn.instruments.compare.comparison.models import headline
from krohn.instruments.compare.comparison.result import (
    LSTM,
    TrainedProof,
)
from krohn.instruments.compare.comparison.settings import Settings
from krohn.instruments.compare.comparison.trained_networks import (
    prove_trained,
)
from krohn.instruments.compare.models import (
    RecurrentLayer,
    Rnn,
    build,
    cost,
    load,
    save,
)
from krohn.instruments.compare.models.cost import parameters
from krohn.instruments.compare.models.network import RecurrentLayerNetwork
from krohn.instruments.compare.tasks.catalogue import task
from krohn.instruments.compare.training import (
    Recipe,
    Steadiness,
)
from krohn.instruments.compare.training.objective import Objective

CELLS = ("rnn", "gru", "lstm")


@pytest.mark.parametrize("cell", CELLS)
def test_files_hold_all_of_it(cell: str, tmp_path: Path) -> None:
    network = build(RecurrentLayer(cell, 5), 3, 2, 16, 0)  # type: ignore[arg-type]
    save(network, tmp_path / "network")
    again, words = load(tmp_path / "network"), torch.randint(3, (6, 10))
    assert (again(words) == network.eval()(words)).all()
    count = sum(weight.numel() for weight in network.parameters())
    assert parameters(network.specification) == count == cost(network, 10).parameters
    assert cost(network, 10).steps == 10


@pytest.mark.parametrize("cell", CELLS)
def test_words_are_read_without_noise_and_with_it(cell: str) -> None:
    network = build(RecurrentLayer(cell, 5), 3, 2, 16, 0)  # type: ignore[arg-type]
    assert isinstance(network, RecurrentLayerNetwork)
    words = torch.randint(3, (6, 10))
    logits, apart = network.read_with_noise(words, 0.1)
    assert torch.allclose(logits[:6], network(words), atol=1e-6)
    assert (logits[6:, 0] == logits[:6, 0]).all()
    assert ((logits[6:, 1:] - logits[:6, 1:]).abs().amax(dim=-1) > 0).all()
    assert float(apart.detach()) > 0


@pytest.mark.parametrize("cell", CELLS)
def test_words_go_on_after_letters_without_gradients(cell: str) -> None:
    network = build(RecurrentLayer(cell, 5), 3, 2, 16, 0)  # type: ignore[arg-type]
    assert isinstance(network, RecurrentLayerNetwork)
    words = torch.randint(3, (6, 10))
    words[:, 7] = torch.randint(2, (6,))
    memory, said = network.compute_memory(words[:, :7])
    assert torch.allclose(said, network(words)[:, 6], atol=1e-6)
    logits, _ = network.read_with_noise(words[:, 7:], 0.1, memory)
    assert torch.allclose(logits[:6], network(words)[:, 7:], atol=1e-6)
    logits[:6, 0].sum().backward()  # type: ignore[no-untyped-call]
    once = network.recurrent.weight_ih_l0.grad
    assert once is not None
    assert (once[:, 2] == 0).all()  # read before, and not as the letter that is asked
    assert (once[:, :2] != 0).any()


def test_words_are_short_at_first_and_go_on_after_others_at_last() -> None:
    how, rng = (
        Steadiness(0.3, start=0.5, before=8, shortest=4),
        np.random.default_rng(0),
    )
    assert [how.length(passed, 24) for passed in (0, 0.25, 0.5, 1)] == [4, 14, 24, 24]
    assert Steadiness(0.3).length(0, 24) == 24
    assert {how.read_before(0.4, rng) for _ in range(20)} == {0}
    later = [how.read_before(0.6, rng) for _ in range(400)]
    assert set(later) == set(range(9))
    assert 160 < later.count(0) < 280
    asked, cpu = task("C2"), torch.device("cpu")
    recipe = Recipe(10, 4, 6, steadiness=replace(how, start=0))
    network = build(RecurrentLayer("gru", 4), 2, 2, 16, 0)
    for step in range(4):
        assert 0 < float(Objective(asked, recipe, 0)(network, step, cpu).detach()) < 2


def test_what_is_forgotten_at_once_is_no_distance() -> None:
    network = build(RecurrentLayer("rnn", 5), 3, 2, 16, 0)
    assert isinstance(network, RecurrentLayerNetwork)
    with torch.no_grad():
        network.recurrent.weight_hh_l0.zero_()
    apart = network.read_with_noise(torch.randint(3, (6, 10)), 0.1)[1]
    assert float(apart.detach()) == 0


def test_steadiness_sets_in_late_and_adds_to_the_loss() -> None:
    how = Steadiness(8.0, start=0.25, rise=0.5)
    assert [how.strength(passed) for passed in (0, 0.25, 0.5, 0.75, 1)] == [
        0,
        0,
        4,
        8,
        8,
    ]
    asked, cpu = task("C2"), torch.device("cpu")
    network = build(RecurrentLayer("gru", 4), 2, 2, 16, 0)
    losses = []
    for weight in (0.0, 1.0):
        recipe = Recipe(10, 4, 6, steadiness=Steadiness(weight, start=0, rise=0))
        torch.manual_seed(0)
        losses.append(float(Objective(asked, recipe, 0)(network, 5, cpu).detach()))
    assert losses[1] > losses[0]


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(KrohnError, match="rnn, gru, lstm"):
        RecurrentLayer("elman")  # type: ignore[arg-type]
    with pytest.raises(KrohnError, match="above 0"):
        Steadiness(1.0, noise=0.0)
    with pytest.raises(KrohnError, match="negative"):
        Steadiness(-1.0)
    with pytest.raises(KrohnError, match="no scratchpad"):
        Recipe(steadiness=Steadiness(1.0), scratchpad=True)
    with pytest.raises(KrohnError, match="one recurrent layer"):
        Steadiness(1.0)(build(Rnn(4), 2, 2, 8, 0), torch.zeros(1, 2).long(), 0.5)


def test_a_comparison_trains_one_and_proves_it_or_not() -> None:
    asked = task("C2")
    usual = MachineQuestion(asked, Settings()).plans()[LSTM].architecture
    plan = MachineQuestion(asked, Settings(provable=True)).plans()[LSTM]
    provable, recipe = plan.architecture, plan.recipe
    assert isinstance(provable, RecurrentLayer)
    assert recipe.steadiness is not None
    assert not isinstance(usual, RecurrentLayer)
    fresh = build(RecurrentLayer("rnn", 4), 2, 2, recipe.reads, 0)
    proof = prove_trained(fresh.eval(), asked)
    assert proof is not None
    assert proof.verdict == "refuted"
    assert prove_trained(build(usual, 2, 2, recipe.reads, 0).eval(), asked) is None


def test_the_headline_says_what_is_proved_of_trained_networks() -> None:
    again = "krohn verify --machine=C2 -- runs/a/weights.safetensors"
    proofs = iter(
        [
            TrainedProof("verified", "all words", again),
            TrainedProof("undecided", "there are too many sets"),
        ]
    )
    found = sample()
    contestants = tuple(
        replace(c, ones=tuple(replace(one, proof=next(proofs, None)) for one in c.ones))
        if c.key == LSTM
        else c
        for c in found.contestants
    )
    said = " ".join(headline(replace(found, contestants=contestants)))
    assert "of seed 0 is proved: all words" in said
    assert "of seed 1 is undecided: there are too many sets." in said
