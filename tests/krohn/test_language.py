"""The names that `krohn explain` gives to languages."""

import json
from pathlib import Path

import numpy as np
import pytest

from krohn.algebra.automaton import Automaton, Output, Semiautomaton
from krohn.algebra.budget import Budget
from krohn.algebra.classification.languages import classify_language
from krohn.compilation import explain
from krohn.show.explanation import lines

TURNSTILE = Path(__file__).parents[2] / "examples" / "turnstile.dot"


def spoken(source: str, effort: str | float = "normal") -> tuple[dict, str]:
    facts = explain(source, 8, effort=effort)["language"]
    assert json.loads(json.dumps(facts))["classes"]
    return facts, "\n".join(lines(facts))


def test_a_strictly_local_language() -> None:
    facts, text = spoken("regex:(ab)*")
    assert facts["of"] == "the words it accepts"
    assert "  in: strictly 2-local, locally 2-testable, piecewise" in text
    assert "forbidden factors, shortest first: “⋊ b”, “a a”, “a ⋉”, “b b”" in text
    assert "for a network: in C-RASP (1 round of counts)" in text
    found = {p["name"]: p for p in facts["classes"]}
    assert found["strictly local"]["witness"]["k"] == 2
    weights = found["C-RASP"]["witness"]["components"][0]["counts"]
    assert weights == [{"a": -1, "b": 1}]


@pytest.mark.slow
def test_what_is_said_of_tiers_is_said_once() -> None:
    _, text = spoken("regex:(a|b|c)*a(a|b|c)*b(a|b|c)*")
    assert "tier-based locally 2-testable" in text
    assert "threshold" not in text.split("not in:")[0]
    assert "2-piecewise testable" in text
    assert (
        "for any k: for all n, a (a)ⁿ b and a b (a)ⁿ are words of the language" in text
    )


def test_letters_that_act_alike_and_counts() -> None:
    facts, text = spoken("regex:(b|c)*(a(b|c)*)?")
    assert facts["alike"] == (("b", "c"),)
    assert facts["tier"] == ("a",)
    assert "strictly 2-piecewise" in text
    assert "locally 1-testable with counts up to 2" in text
    assert "forbidden subsequences, shortest first: “a a”" in text


@pytest.mark.slow
def test_a_machine_without_acceptance() -> None:
    facts, text = spoken(str(TURNSTILE))
    assert "for each state" in facts["of"]
    assert (
        "a flip-flop in the machine: “push” leads both locked and paid to locked"
        in text
    )
    page = (TURNSTILE.parents[1] / "docs/start/explain.md").read_text()
    for line in text.splitlines():
        assert line.split(", ")[0][:60] in page


@pytest.mark.slow
@pytest.mark.parametrize("back", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_what_the_work_does_not_reach_is_not_guessed(back: int) -> None:
    machine = f"regex:(a|b)*a(a|b){{{back}}}"
    facts, text = spoken(machine, effort=200)
    open_ones = [p["name"] for p in facts["classes"] if p["holds"] is None]
    assert open_ones
    assert "not decided: " in text
    full, _ = spoken(machine)
    for few, more in zip(facts["classes"], full["classes"], strict=True):
        assert few["holds"] in (None, more["holds"])


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("states", [600, 3_000])
def test_large_machines_end_within_their_budget(states: int) -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(states, size=(4, states))
    output = Output("states", rng.integers(2, size=states), ("accept", "reject"))
    names = tuple(f"q{i}" for i in range(states))
    large = Automaton(Semiautomaton(rows, tuple("abcd"), names), 0, output)
    budget = Budget(100_000, 5_000)
    found = classify_language(large, budget)
    assert budget.spent <= 100_000
    assert found["star-free"].holds is False


@pytest.mark.slow
def test_the_same_input_gives_the_same_answer() -> None:
    once, again = (spoken("regex:a*b(a|c)*", effort=2_000)[0] for _ in range(2))
    assert once == again
