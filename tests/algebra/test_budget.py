"""Budgets count work: what is counted, and what is said when nothing is left."""

from math import inf

import pytest

from krohn.algebra.budget import EFFORTS, ENTRIES, Budget, BudgetExceeded, steps_of
from krohn.algebra.errors import KrohnError


def test_a_step_is_a_call_or_a_thousand_entries() -> None:
    budget = Budget(10)
    budget.spend(ENTRIES - 1)
    assert budget.spent == 1
    budget.spend(3 * ENTRIES, calls=2)
    assert (budget.spent, budget.left) == (6, 4)
    budget.check(7, "things")
    budget.spend(0, calls=4)
    assert budget.is_exhausted
    with pytest.raises(BudgetExceeded, match="stopped after 10 steps with 7 things"):
        budget.check(7, "things")


def test_too_many_things_end_the_search_whatever_the_work() -> None:
    with pytest.raises(BudgetExceeded, match="more than 3 things") as refused:
        Budget(size=3).check(4, "things")
    assert refused.value.found == 4


def test_what_a_part_spends_and_leaves_out_counts_in_the_whole() -> None:
    whole = Budget(100, size=5)
    part = whole.part(60)
    assert (part.steps, part.size) == (60, 5)
    inner = part.part(1_000, size=7)
    assert (inner.steps, inner.size) == (60, 7)
    inner.spend(0, calls=60)
    assert inner.is_exhausted
    assert part.is_exhausted
    assert whole.left == 40
    for what in ("one thing", "another", "one thing"):
        inner.leave_out(what)
    assert whole.cut == part.cut == ("one thing", "another")
    assert whole.record() == {"effort": 100, "cut_short": ["one thing", "another"]}


def test_no_limit() -> None:
    budget = Budget()
    budget.spend(10**15)
    budget.check(10**9, "things")
    assert not budget.is_exhausted
    assert budget.part(inf).left == inf
    assert budget.record() == {"effort": None, "cut_short": []}


@pytest.mark.parametrize(
    ("effort", "steps"),
    [*EFFORTS.items(), (5, 5), ("5000", 5000), ("1,000,000", 10**6), (inf, inf)],
)
def test_efforts(effort: str | float, steps: float) -> None:
    assert steps_of(effort) == steps


@pytest.mark.parametrize("effort", ["much", "-1", -1, "inf", "nan", float("nan"), ""])
def test_no_efforts(effort: str | float) -> None:
    with pytest.raises(KrohnError, match="effort= takes low, normal, high, unlimited"):
        steps_of(effort)
