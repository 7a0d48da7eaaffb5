"""Training on beliefs: stages, losses, blocks, and runs that go on where they were."""

import importlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.measures.beliefs import (
    entropies,
    excesses,
)
from krohn.instruments.compare.models import (
    Gpt,
    Lstm,
    Rnn,
    build,
    cost,
)
from krohn.instruments.compare.models.files import load
from krohn.instruments.compare.tasks.beliefs import BeliefTask
from krohn.instruments.compare.training import (
    Recipe,
    train,
)
from krohn.instruments.compare.training.beliefs import (
    BeliefObjective,
    BeliefRecipe,
    block_chain,
    doubling,
    outputs,
)
from krohn.instruments.compare.training.folder import (
    CHECKPOINT,
    RECORD,
    WEIGHTS,
    RunFolder,
)
from krohn.instruments.compare.training.run import Cell, Job, identity
from krohn.instruments.compare.training.trainer import Trainer
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.linear_systems.source import (
    LinearSystem,
    find_by_name,
)

CPU = torch.device("cpu")
STEP = np.array([[0.9, 0.3], [0.1, 0.7]])
SAY = np.array([[0.8, 0.1], [0.2, 0.9]])
WEATHER = BeliefTask(HiddenMarkovModel.of("weather", STEP, SAY, before=[1.0, 0.0]))
SMALL = BeliefRecipe(steps=40, batch=8, length=6, every=10, probe=16, warmup=2)


def linear(name: str) -> LinearSystem:
    found = find_by_name(name)
    assert found is not None
    return found


sweeps = importlib.import_module("krohn.instruments.compare.training.sweep")
CYCLES = BeliefTask(linear("Cyclic-DET3,2@1"))


def test_stages_of_the_curriculum() -> None:
    """8 − L of them for 120 letters: so L = 7 has no curriculum at all."""
    assert doubling(7, 120) == (120,)
    assert doubling(6, 120) == (64, 120)
    assert doubling(1, 120) == (2, 4, 8, 16, 32, 64, 120)
    assert doubling(2, 16) == (4, 8, 16)
    assert doubling(6, 16) == (16,)


def test_each_stage_has_as_many_steps_and_the_last_one_the_rest() -> None:
    recipe = BeliefRecipe(steps=100, length=120, stages=doubling(5, 120))
    lengths = [recipe.length_at(step) for step in range(100)]
    assert lengths == [32] * 33 + [64] * 33 + [120] * 34


@pytest.mark.parametrize("longest", [1, 16, 17, 120])
@pytest.mark.parametrize("depth", [1, 3])
def test_a_trial_has_steps_of_each_length_as_often_as_they_come(
    depth: int, longest: int
) -> None:
    recipe = BeliefRecipe(steps=700, length=longest, stages=doubling(depth, longest))
    trial, counts = recipe.for_trial(4)
    assert (trial.steps, trial.every) == (4 * len(counts),) * 2
    each = [trial.length_at(step) for step in range(0, trial.steps, 4)]
    assert [x for x in each for _ in range(4)] == [
        trial.length_at(step) for step in range(trial.steps)
    ]
    own = [recipe.length_at(step) for step in range(700)]
    assert [x for x, n in zip(each, counts, strict=True) for _ in range(n)] == own


class Squares:
    """A training whose steps cost the square of how long their words are."""

    now = 0.0

    def __init__(self, cell: Cell) -> None:
        self.recipe, self.step = cell.recipe, 0

    def advance(self) -> None:
        assert isinstance(self.recipe, BeliefRecipe)
        Squares.now += self.recipe.length_at(self.step) ** 2
        self.step += 1


def test_the_cost_of_a_curriculum_is_that_of_its_stages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = BeliefRecipe(steps=700, length=17, stages=doubling(1, 17))
    own = sum(recipe.length_at(step) ** 2 for step in range(700))
    monkeypatch.setattr(sweeps, "fresh", Squares)
    job, cell = Job(tmp_path, None, "cpu", ""), Cell(CYCLES, Rnn(4), recipe, 0)
    assert sweeps.cost_of(job, [cell], lambda: Squares.now).seconds == own


def test_recipes_that_make_no_sense() -> None:
    with pytest.raises(KrohnError, match="1 to 6 letters"):
        replace(SMALL, stages=(7,))
    with pytest.raises(KrohnError, match="no scratchpad"):
        replace(SMALL, scratchpad=True)
    with pytest.raises(KrohnError, match="its recipe is a BeliefRecipe"):
        train(CYCLES, Rnn(4), Recipe(steps=1), 0)
    with pytest.raises(KrohnError, match="is for Transformers"):
        train(CYCLES, Lstm(4, 4), replace(SMALL, block=2), 0)


def test_the_loss_is_the_mean_of_floor_and_excess() -> None:
    objective = BeliefObjective(WEATHER, SMALL, 3)
    network = build(Rnn(8), 2, 2, 6, 0)
    loss = float(objective(network, 0, CPU).detach())
    words = WEATHER.batch(np.random.default_rng((3, 0)), SMALL.batch, SMALL.length)
    found = outputs(network, WEATHER, words.letters)
    expected = entropies(words.truth) + excesses(found, words.truth)
    assert loss == pytest.approx(expected.mean(), abs=1e-6)


def test_vectors_that_are_no_laws_have_square_errors() -> None:
    task = BeliefTask(linear("MatMul3,2@1"))
    network = build(Rnn(8), 2, 3, 6, 0)
    with torch.no_grad():
        for weight in network.parameters():
            weight.zero_()
    loss = BeliefObjective(task, SMALL, 0)(network, 0, CPU)
    assert float(loss.detach()) == pytest.approx(1 / 3)  # ‖b‖₂ = 1
    _, errors = BeliefObjective(task, SMALL, 0).evaluate(network, 0, CPU)
    assert errors == pytest.approx([1] * 6)


@pytest.mark.slow
def test_an_rnn_learns_to_count_and_its_errors_are_kept(tmp_path: Path) -> None:
    recipe = replace(SMALL, steps=300, batch=32, every=100, rate=1e-2)
    run = train(CYCLES, Rnn(24), recipe, 0, tmp_path)
    errors = run.history[-1].errors
    assert errors is not None
    assert max(e for e in errors if e is not None) < 0.05
    again = train(CYCLES, Rnn(24), recipe, 0, tmp_path)
    assert again.history == run.history
    words = torch.randint(2, (4, 6))
    network = load(tmp_path / WEIGHTS)
    assert torch.equal(network(words), again.network(words))
    assert cost(network, 6).parameters == sum(p.numel() for p in network.parameters())


@pytest.mark.slow
@pytest.mark.parametrize("recipe", [SMALL, replace(SMALL, block=2, stages=(2, 4, 6))])
def test_a_run_that_is_stopped_ends_with_the_same_weights(
    recipe: BeliefRecipe, tmp_path: Path
) -> None:
    shape = Gpt(1, 16, 2, 16, positions="learned", dropout=0.1)
    at_once = train(CYCLES, shape, recipe, 1)
    objective = BeliefObjective(CYCLES, recipe, 1)
    network = (
        block_chain(CYCLES, shape, recipe.block, 6, 1)
        if recipe.block
        else build(shape, 2, 3, 6, 1)
    )
    trainer = Trainer(objective, network, "cpu")
    for _ in range(15):
        trainer.advance()
    kept = RunFolder(tmp_path, identity(CYCLES, shape, recipe, 1))
    kept.keep(trainer)
    assert (tmp_path / CHECKPOINT).exists()
    assert (tmp_path / RECORD).exists()
    on = train(CYCLES, shape, recipe, 1, tmp_path)
    pairs = zip(on.network.parameters(), at_once.network.parameters(), strict=True)
    assert all(torch.equal(p, q) for p, q in pairs)
    assert [p.errors for p in on.history] == [p.errors for p in at_once.history]


def test_block_chains_feed_back_their_own_answers() -> None:
    """Passes over one block each, by hand, say the same as one over what was fed back."""
    network = block_chain(CYCLES, Gpt(2, 16, 2, 16), 2, 7, 0).eval()
    words = torch.randint(2, (5, 7), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        said = network(words)
        assert network.answers(words).shape == (5, 3, 3)
        for k, answer in enumerate(network.answers(words).unbind(1), 1):
            assert torch.allclose(answer, said[:, 2 * k - 1].softmax(-1), atol=1e-5)
        for k in range(1, 8):  # causal: longer words say the same at their start
            assert torch.allclose(network(words[:, :k]), said[:, :k], atol=1e-5)


def test_only_what_is_fed_back_tells_blocks_of_a_chain_of_their_past() -> None:
    """An answer that is changed changes the next blocks; without a map, nothing does."""
    network = block_chain(CYCLES, Gpt(1, 16, 2, 16), 2, 6, 0).eval()
    words = torch.randint(2, (5, 6), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        fed = network(words)
        plain = network.inner(words)
        assert torch.equal(fed[:, :2], plain[:, :2])
        assert not torch.allclose(fed[:, 2:], plain[:, 2:], atol=1e-4)
        network.fed.weight.zero_()
        assert torch.allclose(network(words), plain, atol=1e-6)


def test_gradients_stop_at_answers() -> None:
    network = block_chain(CYCLES, Gpt(1, 16, 2, 16), 2, 6, 0)
    words = torch.randint(2, (5, 6), generator=torch.Generator().manual_seed(0))
    assert not network.answers(words).requires_grad
    network(words).sum().backward()
    assert network.fed.weight.grad is not None
