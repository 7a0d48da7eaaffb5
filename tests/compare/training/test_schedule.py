"""The learning rate rises, stays at its highest for a step, and falls to nothing."""

from dataclasses import replace

import pytest

from krohn.compare.training import Recipe
from krohn.compare.training.trainer import rate

FLIP_FLOPS = Recipe(steps=10_000, rate=3e-4, warmup=50, decay="linear")


def test_the_step_after_the_last_one_would_have_rate_zero() -> None:
    assert rate(FLIP_FLOPS, 10_000) == 0
    assert rate(FLIP_FLOPS, 9_999) == pytest.approx(3e-4 / 9_950)


def test_the_warm_up_rises_in_equal_parts_to_the_highest_rate() -> None:
    rises = [rate(FLIP_FLOPS, step) for step in range(51)]
    assert rises[0] == pytest.approx(3e-4 / 50)
    assert rises[49] == rises[50] == 3e-4
    assert rises == sorted(rises)


@pytest.mark.parametrize(("decay", "share"), [("cosine", 0.5), ("constant", 1.0)])
def test_half_way_the_other_schedules_are_where_they_should_be(
    decay: str, share: float
) -> None:
    recipe = replace(FLIP_FLOPS, warmup=0, decay=decay)
    assert rate(recipe, 5_000) == pytest.approx(3e-4 * share)


def test_a_run_may_consist_of_warm_up_only() -> None:
    recipe = Recipe(steps=10, warmup=20, rate=1.0)
    assert rate(recipe, 9) == 0.5
