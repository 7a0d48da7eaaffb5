"""Exchanging what is stored does to a compiled network what its Program says."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from sample_network import Layered
from torch import Tensor, nn

from krohn.algebra.automaton import IntArray
from krohn.algebra.errors import KrohnError
from krohn.compiler.constructions.registry import construct
from krohn.instruments.compare.models import (
    Compiled,
    Gpt,
    Lstm,
    Specification,
)
from krohn.instruments.compare.probes.exchange import (
    UNDEFINED,
    Pairs,
    Positions,
    ProbedNetwork,
    Trial,
    agreement,
    answers,
    cases_of,
    counterfactual,
    draw_pairs,
    probed_network,
)
from krohn.instruments.compare.probes.interchange import (
    best_subspace,
    interchange,
    search_subspace,
)
from krohn.instruments.compare.probes.probe_map import use
from krohn.instruments.compare.probes.scores import (
    score,
    split,
)
from krohn.instruments.compare.probes.subspace import (
    needed_subspace,
    orthonormal,
    uniform,
    varying,
)
from krohn.instruments.compare.probes.survey import (
    Survey,
    survey,
)
from krohn.instruments.compare.probes.variables import (
    VariableLocation,
    one_per_program,
    variables,
)
from krohn.instruments.compare.tasks.task import Task
from krohn.instruments.compare.training.objective import scratchpad
from krohn.program.interpreter import interpret

Tasks = Callable[[str], Task]
Words = Callable[..., IntArray]
Networks = Callable[..., Compiled]


def home_of(task: Task, construction: str, *channels: str) -> VariableLocation:
    machine = replace(task.machine, output=None)
    return VariableLocation(
        construction, construct(construction, machine, 12), channels
    )


@pytest.fixture
def bench(
    task_of: Tasks, words_for: Words, derived: Networks
) -> Callable[..., ProbedNetwork]:
    def build(name: str, construction: str) -> ProbedNetwork:
        task = task_of(name)
        words = words_for(task, 240, 12)
        parts = split(240, np.random.default_rng(0))
        return probed_network(derived(name, construction, 12), task, words, parts)

    return build


@pytest.mark.sample(1)
@pytest.mark.parametrize("positions", ["all", "one"])
@pytest.mark.parametrize(
    ("name", "construction", "channel"),
    [
        ("C5", "counter", "sum"),
        ("C5", "counter", "increment"),
        ("Grid4", "gridworld", "lap"),
        ("Grid4", "gridworld", "met2"),
        ("D6", "semidirect-car", "h.sum0"),
        ("PermReset3", "cascade", "sum0"),
    ],
)
def test_dimensions_of_a_channel_carry_it(
    task_of: Tasks,
    words_for: Words,
    derived: Networks,
    name: str,
    construction: str,
    channel: str,
    positions: Positions,
) -> None:
    """At the snapshot where it is born, all answers are those of the Program."""
    task, network = task_of(name), derived(name, construction, 12)
    pairs = draw_pairs(
        words_for(task, 60, 12), np.arange(60), 40, np.random.default_rng(1), positions
    )
    place = network.model.places()[channel]
    width = network.inside(torch.from_numpy(pairs.base)).hidden[0].shape[2]
    basis = np.eye(width)[:, place.dims[0] : place.dims[1]]
    predicted = counterfactual(home_of(task, construction, channel), pairs)
    known = predicted != UNDEFINED
    assert known.any()
    changed = (predicted != task.states(pairs.base)) & known
    assert changed.any()
    said = answers(network, pairs, place.snapshots[0], basis)
    assert np.array_equal(said[known], predicted[known])


def test_answers_that_no_word_of_the_task_has_are_no_cases(
    task_of: Tasks, words_for: Words, bench: Callable[..., ProbedNetwork]
) -> None:
    """Legal words only: an exchanged count would make many of them illegal."""
    task, subject = task_of("Dyck2,2"), bench("Dyck2,2", "dyck")
    error = task.machine.states.index("error")
    assert error not in subject.labels.labels
    pairs = subject.pairs(subject.parts.test, np.random.default_rng(0))
    home = home_of(task, "dyck", "ups")
    assert error in counterfactual(home, pairs)
    cases = subject.cases(home, pairs)
    assert cases.changing.any()
    assert error not in cases.predicted


def test_exchanging_all_gives_the_source_and_exchanging_nothing_the_base(
    task_of: Tasks, words_for: Words, derived: Networks
) -> None:
    task, network = task_of("Grid4"), derived("Grid4", "gridworld", 12)
    words = words_for(task, 60, 12)
    pairs = draw_pairs(words, np.arange(60), 30, np.random.default_rng(0))
    width = network.inside(torch.from_numpy(words)).hidden[0].shape[2]
    for layer in range(len(network.layers())):
        whole = answers(network, pairs, layer, np.eye(width))
        assert np.array_equal(whole, task.states(pairs.source))
        none = answers(network, pairs, layer, np.zeros((width, 1)))
        assert np.array_equal(none, task.states(pairs.base))


def test_positions_before_the_exchange_answer_as_before(
    task_of: Tasks, words_for: Words, derived: Networks
) -> None:
    task, network = task_of("D6"), derived("D6", "semidirect-car", 12)
    words = words_for(task, 60, 12)
    pairs = draw_pairs(words, np.arange(60), 30, np.random.default_rng(0), "one")
    width = network.inside(torch.from_numpy(words)).hidden[0].shape[2]
    said = answers(network, pairs, 1, np.eye(width))
    earlier = np.cumsum(pairs.where, axis=1) == 0
    assert np.array_equal(said[earlier], task.states(pairs.base)[earlier])


def test_a_program_without_a_row_for_a_pair_has_no_answer_to_it_alone(
    task_of: Tasks, words_for: Words
) -> None:
    task = task_of("C5")
    home = home_of(task, "counter", "sum")
    words = words_for(task, 10, 12)
    short = replace(home.program, length=12)
    table = short.operations["count"].function  # type: ignore[union-attr]
    highest = int(interpret(short, words)["sum"].max())
    rows = table.rows[:, 0] < highest  # type: ignore[union-attr]
    cut = replace(table, rows=table.rows[rows], values=table.values[rows])  # type: ignore[union-attr]
    count = replace(short.operations["count"], function=cut)  # type: ignore[type-var]
    program = short.with_operations({**short.operations, "count": count})
    pairs = draw_pairs(words, np.arange(10), 20, np.random.default_rng(0))
    found = counterfactual(replace(home, program=program), pairs)
    reached = interpret(short, pairs.source)["sum"].max(axis=1) == highest
    assert reached.any()
    assert not reached.all()
    assert (found[reached] == UNDEFINED).all()
    assert np.array_equal(found[~reached], counterfactual(home, pairs)[~reached])


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "construction", "channel", "layer"),
    [
        ("D6", "semidirect-car", "semidirect-car: h.count0", 2),
        ("Grid4", "gridworld", "gridworld: lap", 2),
        ("Grid4", "gridworld", "gridworld: level", 2),
    ],
)
def test_what_a_compiled_network_holds_and_uses_is_found_without_being_told_where(
    task_of: Tasks,
    bench: Callable[..., ProbedNetwork],
    name: str,
    construction: str,
    channel: str,
    layer: int,
) -> None:
    subject = bench(name, construction)
    v = variables(task_of(name), subject.words).find_by_name(channel)
    found = interchange(subject, v, layer)
    assert found is not None
    assert found.cases >= 50
    assert found.decisive > 0
    assert found.found.changed == pytest.approx(1, abs=0.02)
    assert found.found.decided == pytest.approx(1, abs=0.02)
    assert found.found.kept == pytest.approx(1, abs=0.02)
    assert found.random.changed < 0.75
    assert found.varying.changed < 0.9
    assert found.whole.decided == 0


@pytest.mark.slow
def test_what_is_held_but_not_read_any_more_does_not_come_out_as_used(
    task_of: Tasks, bench: Callable[..., ProbedNetwork]
) -> None:
    """The letter stands in the stream of a counter when the sum has been taken."""
    subject = bench("C5", "counter")
    letter = variables(task_of("C5"), subject.words).find_by_name("counter: increment")
    held = score(subject.states[1], [letter], subject.words, subject.parts)[0]
    assert held.accuracy == 1
    used, unused = (interchange(subject, letter, layer) for layer in (0, 1))
    assert used is not None
    assert unused is not None
    assert used.found.changed > 0.98
    assert unused.found.changed < 0.5


@pytest.mark.slow
def test_the_subspace_of_the_answer_passes_for_what_determines_it_and_is_told_apart(
    task_of: Tasks, bench: Callable[..., ProbedNetwork]
) -> None:
    """Products of all last letters fix every answer; a counter has none of them."""
    subject = bench("C5", "counter")
    found = variables(task_of("C5"), subject.words)
    answer = best_subspace(subject, found.find_by_name("answer"), 2)
    product = found.find_by_name("scan: product of the last 2 letters")
    passed = interchange(subject, product, 2, 0, answer)
    assert passed is not None
    assert passed.decisive == 0
    assert passed.found.changed > 0.9
    assert passed.carried < 0.5
    assert passed.answer is not None
    assert passed.answer.changed > 0.9
    assert use(passed) == "readable"


def test_networks_that_read_their_answers_are_refused(
    task_of: Tasks, words_for: Words
) -> None:
    task = task_of("C3")
    network = scratchpad(task, Gpt(1, 16, 2, 16), 6, 0)
    pairs = draw_pairs(
        words_for(task, 10, 6), np.arange(10), 8, np.random.default_rng(0)
    )
    with pytest.raises(KrohnError, match="scratchpad"):
        answers(network, pairs, 1, np.eye(16))


@pytest.mark.slow
def test_a_search_begins_with_a_basis_that_it_leaves_as_it_was(
    task_of: Tasks, bench: Callable[..., ProbedNetwork]
) -> None:
    subject = bench("C5", "counter")
    home = variables(task_of("C5"), subject.words).find_by_name("answer").homes[0]
    rng = np.random.default_rng(0)
    pairs = subject.pairs(subject.parts.fit, rng)
    start = uniform(subject.states[2].shape[2], 2, rng)
    before = start.copy()
    found = search_subspace(
        subject.network, pairs, subject.cases(home, pairs), 2, start, rng
    )
    assert np.array_equal(start, before)
    assert np.allclose(found.T @ found, np.eye(2), atol=1e-6)
    assert not np.allclose(found, before, atol=1e-3)
    trial = Trial(subject, 2, pairs, subject.cases(home, pairs))
    assert trial(found).mean_share > trial(before).mean_share


@pytest.mark.slow
def test_what_follows_from_the_answer_can_be_read_but_is_not_used(
    task_of: Tasks, bench: Callable[..., ProbedNetwork]
) -> None:
    subject = bench("D8", "semidirect-car")
    v = variables(task_of("D8"), subject.words).find_by_name("cascade: now2")
    last = len(subject.states) - 1
    held = score(subject.states[last], [v], subject.words, subject.parts)[0]
    assert held.accuracy == 1
    found = interchange(subject, v, last)
    assert found is not None
    assert found.found.changed < 0.8


def test_agreement_counts_cases_by_what_the_program_says() -> None:
    predicted = np.array([[0, 1, 2, UNDEFINED], [0, 0, 1, 1]])
    base = np.array([[0, 0, 0, 0], [0, 0, 0, 0]])
    source = np.array([[1, 1, 1, 1], [1, 1, 1, 1]])
    cases = cases_of(predicted, (base, source), (base, source), base == 0)
    assert int(cases.changing.sum()) == 4
    assert int(cases.decisive.sum()) == 1
    assert int(cases.staying.sum()) == 3
    found = agreement(cases, np.array([[0, 1, 0, 0], [0, 1, 1, 1]]))
    assert found.changed == 0.75
    assert found.decided == 0
    assert found.kept == pytest.approx(2 / 3)
    wrong = cases_of(predicted, (base, source), (source, source), base == 0)
    assert not wrong.counted.any()


def test_channels_of_one_program_are_exchanged_together(task_of: Tasks) -> None:
    task = task_of("Grid4")
    first, second = (home_of(task, "gridworld", c) for c in ("level", "target1"))
    assert [h.channels for h in one_per_program((first, second, first))] == [
        ("level", "target1")
    ]


def test_random_subspaces_are_orthonormal_and_follow_the_spread() -> None:
    rng = np.random.default_rng(0)
    states = np.zeros((20, 5, 4))
    states[..., :2] = rng.normal(size=(20, 5, 2))
    basis = varying(states, 1, np.arange(20), rng)
    assert np.allclose(basis.T @ basis, 1)
    assert np.allclose(basis[2:], 0)
    plain = uniform(4, 2, rng)
    assert np.allclose(plain.T @ plain, np.eye(2))
    assert orthonormal(np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 0.0]])).shape == (2, 1)


def test_pairs_are_of_different_words() -> None:
    words = np.arange(12).reshape(6, 2)
    found = draw_pairs(words, np.array([1, 3, 5]), 50, np.random.default_rng(0))
    assert (found.first != found.second).all()
    assert set(found.first.tolist()) == {1, 3, 5}
    part = found.some(slice(0, 4))
    assert isinstance(part, Pairs)
    assert len(part) == 4


T = 12


class Idle(nn.Module):
    """The letter, the count of ones on a circle modulo 4, and the count on a sphere."""

    code: Tensor

    def __init__(self, size: float) -> None:
        super().__init__()
        drawn = torch.randn(T + 1, 6, generator=torch.Generator().manual_seed(0))
        self.register_buffer("code", size * drawn / drawn.norm(dim=1, keepdim=True))

    def forward(self, letters: Tensor) -> Tensor:
        count = letters[..., 1].cumsum(dim=1)
        turn = count * torch.pi / 2
        circle = torch.stack([turn.cos(), turn.sin()], dim=-1)
        return torch.cat([letters, circle, self.code[count.round().long()]], dim=-1)


class OnACircle(Layered):
    """Parity from the count modulo 4; the whole count is there and nothing reads it."""

    def __init__(self, size: float = 1.0) -> None:
        super().__init__(Specification(Lstm(), 2, 2, T))
        self.embedding = nn.Embedding.from_pretrained(torch.eye(2))
        self.block = Idle(size)

    def forward(self, letters: Tensor, shift: int = 0) -> Tensor:
        stream: Tensor = self.block(self.embedding(letters))
        odd = 4 * (stream[..., 3] ** 2 - stream[..., 2] ** 2)
        return torch.stack([-odd, odd], dim=-1)


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("size", [0.3, 1.0])
def test_a_count_that_nothing_reads_is_not_used(
    task_of: Callable[[str], Task], size: float
) -> None:
    """To exchange the count with what is read does all that the count should do."""
    found = survey(OnACircle(size), task_of("C2"), None, Survey(180, T, exchanges=3))
    row = found.find_by_name("count of 1")
    assert found.accuracy == 1
    assert row.verdict == "readable"
    assert row.exchanged[0].found.changed == 1
    assert "no use of them was shown: count of 1" in found.conclusion


def test_only_what_is_read_is_needed(
    task_of: Callable[[str], Task], words_for: Callable[..., IntArray]
) -> None:
    task, network = task_of("C2"), OnACircle()
    words = words_for(task, 120, T)
    bench = probed_network(network, task, words, split(120, np.random.default_rng(0)))
    home = variables(task, words).find_by_name("counter: sum").homes[0]
    pairs = bench.pairs(bench.parts.fit, np.random.default_rng(1))
    cases = bench.cases(home, pairs)
    part = needed_subspace(Trial(bench, 1, pairs, cases), pairs, cases, np.eye(10))
    assert part.shape == (10, 2)
    assert np.allclose(np.delete(part, [2, 3], axis=0), 0, atol=1e-6)


@pytest.mark.slow
def test_the_rule_that_says_so_is_that_the_needed_part_carries_the_variable(
    task_of: Callable[[str], Task], words_for: Callable[..., IntArray]
) -> None:
    task = task_of("C2")
    words = words_for(task, 240, T)
    bench = probed_network(
        OnACircle(), task, words, split(240, np.random.default_rng(0))
    )
    found = interchange(bench, variables(task, words).find_by_name("count of 1"), 1)
    assert found is not None
    assert found.found.mean_share == 1
    assert found.decisive == 0
    assert found.carried < 0.95
    assert use(found) == "readable"
