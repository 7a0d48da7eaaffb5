"""Recipes that make no sense are refused; schedules and presets are as stated."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models import build
from krohn.instruments.compare.tasks import catalogue
from krohn.instruments.compare.tasks.task import Task
from krohn.instruments.compare.training import (
    Balance,
    Recipe,
    Sharpening,
)
from krohn.instruments.compare.training.presets import (
    family,
    gpt,
    lstm,
)
from krohn.instruments.compare.training.trainer import rate


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"steps": 0}, "steps must be at least 1"),
        ({"probe": 0}, "probe must be at least 1"),
        ({"rate": -1.0}, "rate must not be negative"),
        ({"rate": float("nan")}, "rate must not be negative"),
        ({"shift": -1}, "shift must not be negative"),
        ({"average": 1.0}, "decays by a number in"),
        ({"clip": 0.0}, "clip must be above 0"),
        ({"decay": "sudden"}, "decays linear, cosine, constant, halving"),
        ({"format": "float16"}, "formats are float32, bfloat16"),
        ({"scratchpad": True, "balance": Balance(1.0)}, "without a scratchpad"),
    ],
)
def test_a_recipe_says_what_is_wrong_with_it(
    numbers: dict[str, object], said: str
) -> None:
    with pytest.raises(KrohnError, match=said):
        Recipe(**numbers)


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [
        (Balance, {"weight": 0.0}),
        (Sharpening, {"weight": 0.0}),
        (Sharpening, {"weight": 1.0, "start": -1}),
        (Sharpening, {"weight": 1.0, "form": "l1"}),
    ],
)
def test_so_do_regularisers(kind: type, numbers: dict[str, object]) -> None:
    with pytest.raises(KrohnError):
        kind(**numbers)


def test_networks_reach_as_far_as_they_are_asked_to() -> None:
    assert Recipe(length=32).reads == 32
    assert Recipe(length=32, longest=128).reads == 128
    assert Recipe(length=32, longest=8).reads == 32
    assert "longest" in asdict(Recipe())


FLIP_FLOPS = Recipe(steps=10_000, rate=3e-4, warmup=50, decay="linear")


def test_the_step_after_the_last_one_would_have_rate_zero() -> None:
    assert rate(FLIP_FLOPS, 10_000) == 0
    assert rate(FLIP_FLOPS, 9_999) == pytest.approx(3e-4 / 9_950)


def test_the_warm_up_rises_in_equal_parts_to_the_highest_rate() -> None:
    rises = [rate(FLIP_FLOPS, step) for step in range(51)]
    assert rises[0] == pytest.approx(3e-4 / 50)
    assert rises[49] == rises[50] == 3e-4
    assert rises == sorted(rises)


@pytest.mark.parametrize(
    ("decay", "share"), [("cosine", 0.5), ("constant", 1.0), ("halving", 0.25)]
)
def test_half_way_the_other_schedules_are_where_they_should_be(
    decay: str, share: float
) -> None:
    recipe = replace(FLIP_FLOPS, warmup=0, decay=decay)
    assert rate(recipe, 5_000) == pytest.approx(3e-4 * share)


def test_a_rate_is_halved_after_each_fifth_of_the_steps() -> None:
    recipe = Recipe(steps=100, warmup=0, rate=1.0, decay="halving")
    rates = [rate(recipe, step) for step in range(100)]
    assert rates == [0.5**fifth for fifth in range(5) for _ in range(20)]


def test_a_run_may_consist_of_warm_up_only() -> None:
    recipe = Recipe(steps=10, warmup=20, rate=1.0)
    assert rate(recipe, 9) == 0.5


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
        with pytest.raises(KrohnError, match="desk, paper, not 'huge'"):
            preset("huge", TASKS[0])


def test_the_table_of_the_desk_says_what_the_desk_does() -> None:
    """Docs: training.md, section 7."""
    docs = Path(__file__).parents[4] / "docs" / "training.md"
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
