"""Probe maps: the truth about a network whose truth is known, and honest words."""

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from sample_network import Layered
from torch import Tensor, nn

from krohn.algebra.automaton import Automaton, Output, Semiautomaton
from krohn.instruments.compare.models import (
    Compiled,
    Gpt,
    Lstm,
    Specification,
    build,
)
from krohn.instruments.compare.probes.exchange import Agreement
from krohn.instruments.compare.probes.interchange import Interchange
from krohn.instruments.compare.probes.probe_map import (
    ProbeMap,
    conclusion,
    is_readable,
    sentences,
    use,
)
from krohn.instruments.compare.probes.scores import Score
from krohn.instruments.compare.probes.survey import (
    Survey,
    survey,
)
from krohn.instruments.compare.probes.variables import variables
from krohn.instruments.compare.tasks.catalogue import task
from krohn.instruments.compare.tasks.task import Task

Tasks = Callable[[str], Task]
SMALL = Survey(words=180, length=12, exchanges=3)


@pytest.fixture(scope="module")
def car(task_of: Tasks, derived: Callable[..., Compiled]) -> ProbeMap:
    """The compiled network of D6, looked into as if it had been trained."""
    return survey(derived("D6", "semidirect-car", 12), task_of("D6"), None, SMALL)


@pytest.mark.slow
def test_the_direction_of_a_compiled_car_is_found_and_used(car: ProbeMap) -> None:
    row = car.find_by_name("semidirect-car: h.count0")
    assert row.verdict == "used"
    assert row.readable[0] == 2
    assert car.layers[2] == "MLP of block 0"
    assert "semidirect-car" in row.constructions
    assert row.exchanged
    assert row.name in car.conclusion


@pytest.mark.slow
def test_what_the_compiled_car_does_not_compute_is_not_found(car: ProbeMap) -> None:
    for name in ("scan: product of the last 4 letters", "count of drive mod 2"):
        assert car.find_by_name(name).verdict == "not readable"
    assert car.find_by_name("letter").verdict == "free"
    assert not car.find_by_name("letter").readable


@pytest.mark.slow
def test_functions_of_the_answer_are_no_intermediate_results(car: ProbeMap) -> None:
    assert car.find_by_name("answer").of_answer
    assert not car.find_by_name("answer").intermediate
    assert not car.find_by_name("position").intermediate
    assert not car.find_by_name("semidirect-car: n.count0").intermediate
    assert car.find_by_name("semidirect-car: h.count0").intermediate
    assert car.find_by_name("semidirect-car: h.sum0").intermediate


@pytest.mark.slow
def test_maps_are_the_same_each_time_and_fit_into_json(
    task_of: Tasks, derived: Callable[..., Compiled]
) -> None:
    network, task = derived("C3", "counter", 12), task_of("C3")
    how = Survey(words=90, length=12, exchanges=1)
    found = survey(network, task, None, how)
    assert found == survey(network, task, None, how)
    stored = json.loads(json.dumps(found.to_object()))
    assert stored["rows"][0]["names"][0] == "answer"
    assert stored["said"] == list(found.said)


@pytest.mark.slow
def test_an_untrained_network_is_not_said_to_hold_anything(task_of: Tasks) -> None:
    task = task_of("C2")
    fresh = build(Gpt(1, 16, 2, 32), 2, 2, 12, 0)
    found = survey(fresh, task, build(Gpt(1, 16, 2, 32), 2, 2, 12, 0), SMALL)
    assert {row.verdict for row in found.rows} <= {"not readable", "free"}
    assert found.accuracy < 0.7
    assert "too few to say how" in found.said[0]
    assert found.conclusion.startswith("No intermediate variable")
    assert np.all([c.trained == c.untrained for r in found.rows for c in r.cells])


def test_a_probe_must_beat_what_comes_for_free_by_half_of_its_errors() -> None:
    score = Score(0.97, 0.001, 0.5, 0.6, None)
    assert is_readable(score, [])
    assert not is_readable(replace(score, accuracy=0.94), [])
    assert not is_readable(score, [replace(score, accuracy=0.95)])
    assert not is_readable(replace(score, majority=0.96), [])
    assert not is_readable(replace(score, control=0.95), [])
    perfect = replace(score, accuracy=1.0)
    assert not is_readable(perfect, [perfect])
    numbers = Score(None, None, None, None, 0.99)
    assert is_readable(numbers, [replace(numbers, explained=0.9)])
    assert not is_readable(numbers, [replace(numbers, explained=0.99)])


def exchange(
    changed: float, kept: float, decided: float | None, random: float
) -> Interchange:
    return Interchange(
        "scan",
        1,
        2,
        "probe",
        0.99,
        1000,
        100 if decided is not None else 0,
        Agreement(changed, 0.01, kept, decided),
        Agreement(random, 0.01, 0.9, 0.0),
        Agreement(random, 0.01, 0.9, 0.0),
        Agreement(0.3, 0.01, 0.3, 0.0),
        Agreement(0.3, 0.01, 0.3, 0.0),
    )


def test_use_needs_all_kinds_of_cases_and_a_control_that_fails() -> None:
    assert use(exchange(0.97, 0.99, 0.95, 0.03)) == "used"
    assert use(exchange(0.97, 0.99, None, 0.03)) == "used"
    assert use(exchange(0.97, 0.8, 0.95, 0.03)) == "partly used"
    assert use(exchange(0.97, 0.99, 0.6, 0.03)) == "partly used"
    assert use(exchange(0.6, 0.9, None, 0.03)) == "partly used"
    assert use(exchange(0.97, 0.99, 0.95, 0.96)) == "readable"
    assert use(exchange(0.4, 0.99, 0.4, 0.03)) == "readable"
    assert use(replace(exchange(1, 1, 1, 0), cases=40)) == "readable"
    strict = replace(exchange(1, 1, 1, 0), varying=Agreement(1, 0.01, 1, None))
    assert use(strict) == "readable"
    answered = replace(exchange(1, 1, 1, 0), answer=Agreement(1, 0.01, 1, None))
    assert use(answered) == "readable"
    assert use(replace(exchange(1, 1, 1, 0), answer=None)) == "used"
    assert use(replace(exchange(1, 1, 1, 0), carried=0.5)) == "readable"


@pytest.mark.slow
def test_sentences_say_no_more_than_the_exchange_shows(car: ProbeMap) -> None:
    row = replace(
        car.find_by_name("semidirect-car: h.sum0"),
        verdict="used",
        exchanged=(exchange(0.97, 0.99, 0.95, 0.03),),
    )
    used = replace(car, rows=(row,))
    said = " ".join(sentences(used))
    assert (
        "in 97% of 1,000 cases (random subspaces: 3%, directions in which states vary "
        "most: 3%" in said
    )
    assert "in the 100 cases whose predicted answer is that of neither word, " in said
    assert (
        "100 of them to an answer of neither word; controls at most 30%"
    ) in conclusion(used)
    plain = replace(row, exchanged=(exchange(0.97, 0.99, None, 0.03),))
    same = replace(car, rows=(plain,))
    assert "as predicted, each to the answer of the source word;" in conclusion(same)
    read = replace(car, rows=(replace(row, verdict="readable"),))
    assert "not shown to be used" in " ".join(sentences(read))
    assert "97% of changes as predicted, controls 30%" in " ".join(sentences(read))
    assert "but no use of them was shown" in conclusion(read)
    idle = replace(row.exchanged[0], carried=0.83)
    other = replace(car, rows=(replace(row, verdict="readable", exchanged=(idle,)),))
    assert ", 83% from the exchanged part, 97% of changes" in conclusion(other)
    assert "from the exchanged part" not in conclusion(read)
    untested = replace(car, rows=(replace(row, verdict="readable", exchanged=()),))
    assert "was not tested" in " ".join(sentences(untested))


class DepthAlone(Layered):
    """How many brackets are open, exactly, and nothing of their kinds."""

    def __init__(self, task: Task, length: int) -> None:
        letters, classes = len(task.letters), len(task.classes)
        super().__init__(Specification(Lstm(), letters, classes, length))
        self.embedding = nn.Embedding.from_pretrained(torch.eye(letters))
        self.block = nn.Identity()
        self.head = nn.Linear(1, classes)
        self.rises = torch.tensor([1.0, -1.0] * (letters // 2))

    def forward(self, letters: Tensor, shift: int = 0) -> Tensor:
        rises = self.embedding(letters) @ self.rises
        logits: Tensor = self.head(self.block(rises.cumsum(dim=1)[..., None]))
        return logits


@pytest.mark.slow
def test_what_a_network_without_the_answer_holds_of_it_is_not_hidden(
    task_of: Tasks,
) -> None:
    """Depth is a function of the stack, but no way to write a stack that is not there."""
    task = task_of("Dyck2,2")
    found = survey(DepthAlone(task, 12), task, None, SMALL)
    assert found.accuracy < 0.9
    assert not found.find_by_name("answer").readable
    assert found.find_by_name("stack depth").readable == (1,)
    assert found.find_by_name("stack depth").intermediate
    assert "stack depth" in found.conclusion


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
