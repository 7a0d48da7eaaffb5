"""Machines so small that nothing varies are looked into like others."""

import numpy as np
import pytest

from krohn.algebra.automaton import Automaton, Output, Semiautomaton
from krohn.compare.models import Gpt, Lstm, build
from krohn.compare.probes.survey import Survey, survey
from krohn.compare.probes.variables import variables
from krohn.compare.tasks.catalogue import task


def machine(table: list[list[int]]) -> Automaton:
    letters = tuple("ab"[: len(table)])
    states = tuple(map(str, range(len(table[0]))))
    return Automaton(Semiautomaton(np.array(table), letters, states), name="small")


@pytest.mark.sample(2)
@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize(
    "table",
    [[[0]], [[0], [0]], [[1, 0]], [[0, 1], [1, 0]], [[0, 0], [1, 1]]],
    ids=["nothing", "one state", "one letter", "parity", "resets"],
)
@pytest.mark.parametrize("model", [Gpt(1, 8, 2, 8), Lstm(4, 4)], ids=["gpt", "lstm"])
def test_small_machines_are_looked_into(
    table: list[list[int]], length: int, model: Gpt | Lstm
) -> None:
    asked = task(machine(table))
    sizes = len(asked.letters), len(asked.classes), length
    fresh = build(model, *sizes, 0)
    found = survey(fresh, asked, fresh, Survey(24, length, exchanges=1))
    assert found.conclusion
    references = [row.name for row in found.rows if row.kind == "reference"]
    varies = {"letter": len(asked.letters) > 1, "position": length > 1}
    for name, there in varies.items():
        assert any(name in row.names for row in found.rows) == there
    assert len(references) <= 2


def test_where_the_letter_says_all_there_is_no_answer_to_beat() -> None:
    """Nothing else is taken for the answer, whatever comes first."""
    table = np.array([[0, 0, 0], [1, 1, 1], [2, 2, 2]])
    shown = Output("states", np.array([0, 1, 1]), ("no", "yes"))
    states = Semiautomaton(table, ("a", "b", "c"), ("p", "q", "r"))
    asked = task(Automaton(states, output=shown, name="letters"), shows="outputs")
    words = asked.inputs.draw(asked.machine, np.random.default_rng(0), 40, 6)
    found = variables(asked, words)
    assert "answer" in found.of_letter
    assert found.answer is None
    assert found.found
    same = variables(task(machine([[0, 0], [1, 1]])), words % 2)
    assert same.answer is not None
    assert {"answer", "letter"} <= set(same.answer.names)


@pytest.mark.slow
def test_an_answer_of_too_many_values_is_known_all_the_same() -> None:
    """A variable that the answer determines is no intermediate one, probe or not."""
    steps = np.array([[(q + by) % 200 for q in range(200)] for by in (1, 14)])
    states = Semiautomaton(steps, ("a", "b"), tuple(map(str, range(200))))
    shown = Output("states", np.arange(200), tuple(map(str, range(200))))
    asked = task(Automaton(states, output=shown, name="wheel"), shows="outputs")
    words = asked.inputs.draw(asked.machine, np.random.default_rng(0), 300, 24)
    found = variables(asked, words)
    assert found.answer is not None
    assert not found.answer.told_apart
    assert found.answer not in found.found
    assert "answer: too many values" in found.left_out
