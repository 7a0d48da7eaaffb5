"""The presets: what the thesis states, and what a desk can do."""

from pathlib import Path

import pytest

from krohn.algebra.errors import KrohnError
from krohn.compare.models import build
from krohn.compare.tasks import catalogue
from krohn.compare.tasks.task import Task
from krohn.compare.training.presets import family, gpt, lstm

TASKS = [catalogue.task(name) for name in ("C2", "D8", "flip-flop", "brackets")]


def parameters(network: object) -> int:
    return sum(p.numel() for p in network.parameters())


def test_the_flip_flop_networks_have_as_many_parameters_as_in_the_thesis() -> None:
    task = catalogue.task("flip-flop")
    small, recipe = lstm("paper", task)
    letters = len(task.letters)
    # 133,381 with the five letters of the language as classes.
    assert parameters(build(small, letters, letters, 512, 0)) == 133_381
    large, _ = gpt("paper", task)
    found = parameters(build(large, letters, letters, 512, 0))
    assert found == pytest.approx(19e6, rel=0.01)
    assert (recipe.steps, recipe.length, recipe.rate) == (500, 512, 3e-4)


def test_simulation_is_that_of_section_3_4() -> None:
    network, recipe = gpt("paper", catalogue.task("A5"), depth=16)
    assert (network.width, network.inner, network.heads) == (512, 512, 8)
    assert (network.depth, network.dropout) == (16, 0.0)
    assert (recipe.batch, recipe.length, recipe.weight_decay) == (16, 100, 1e-4)
    assert recipe.steps * recipe.batch == 1_000_000
    _, other = lstm("paper", catalogue.task("A5"))
    assert other.steps * other.batch == 1_000_000
    assert gpt("paper", catalogue.task("D8"))[0].dropout == 0.1
    assert gpt("paper", catalogue.task("C4 (zero)"))[1].length == 40


@pytest.mark.parametrize("task", TASKS, ids=lambda t: t.name)
@pytest.mark.parametrize("name", ["desk", "paper"])
def test_networks_have_positions_for_longer_words(name: str, task: Task) -> None:
    for _, recipe in (gpt(name, task), lstm(name, task)):
        assert recipe.reads == 4 * recipe.length
    assert gpt(name, task, length=10)[1].reads == 40


def test_tasks_belong_to_the_experiments_of_their_words() -> None:
    found = [family(task) for task in TASKS]
    assert found == ["simulation", "simulation", "flip-flop", "brackets"]


def test_other_presets_are_refused() -> None:
    for preset in (gpt, lstm):
        with pytest.raises(KrohnError, match="desk and paper, not 'huge'"):
            preset("huge", TASKS[0])


def test_the_table_of_the_desk_says_what_the_desk_does() -> None:
    """Docs: training.md, section 7."""
    docs = Path(__file__).parents[3] / "docs" / "training.md"
    lines = [x for x in docs.read_text(encoding="utf-8").splitlines() if "| " in x]
    rows = {line.split("|")[1].strip(): line for line in lines}
    (_, taught), (_, learnt) = (make("desk", TASKS[0]) for make in (gpt, lstm))
    for row, recipe in (("its training", taught), ("LSTM", learnt)):
        assert f"at most {recipe.steps * recipe.batch:,} words" in rows[row]
        assert f"T = {recipe.length}," in rows[row].split("|")[3]
    (_, taught), (_, learnt) = (make("desk", TASKS[2]) for make in (gpt, lstm))
    stated = f"T = {taught.length}, batch {taught.batch}, {taught.steps:,} steps"
    assert stated in rows["flip-flops"]
    assert f"LSTM {learnt.steps:,} steps" in rows["flip-flops"]
