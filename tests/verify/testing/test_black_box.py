"""Networks known from outside: answers of any form, every short word, worse words."""

from collections.abc import Callable
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st
from torch import Tensor, nn

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, IntArray
from krohn.network.model import NOT_FINITE
from krohn.network.precision import FloatArray
from krohn.verify.testing.counterexample import CheckError, Counterexample, pair
from krohn.verify.testing.examination import black_box
from krohn.verify.testing.sampling import mutate, sample, worst
from krohn.verify.testing.shortest_failing import minimise, run_all
from krohn.verify.testing.strategies import uniform


def simulating(machine: Automaton, words: IntArray) -> IntArray:
    return machine.semiautomaton.trace(words, machine.start)


class Counting(nn.Module):
    """Parity by a running sum, with one parameter, so that it is somewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(()))

    def forward(self, tokens: Tensor) -> Tensor:
        odd = tokens.cumsum(dim=1) % 2
        return torch.stack([1.0 - odd, odd], dim=-1) * self.gain


FORMS: dict[str, Callable[[IntArray], Any]] = {
    "states": lambda states: states,
    "logits": lambda states: np.eye(4)[states],
    "whole logits": lambda states: np.eye(4, dtype=int)[states],
    "tensors": lambda states: torch.eye(4)[torch.from_numpy(states)],
    "an object with logits": lambda s: SimpleNamespace(logits=np.eye(4)[s]),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("form", FORMS)
def test_answers_come_in_many_forms(form: str) -> None:
    grid = zoo.machine("Grid4")
    model = black_box(lambda words: FORMS[form](simulating(grid, words)), grid)
    assert sample(model, grid, 64, 9, 0).has_passed


def test_a_module_reads_tensors_where_its_parameters_are() -> None:
    parity = zoo.machine("C2")
    model = black_box(Counting(), parity)
    assert model.device == torch.device("cpu")
    assert sample(model, parity, 64, 9, 0).has_passed


def test_outputs_are_the_classes_if_these_are_said() -> None:
    machine = zoo.machine("Parity8@2,3,7")
    assert machine.output is not None
    table = machine.output.table
    model = black_box(
        lambda words: table[simulating(machine, words)], machine, "outputs"
    )
    assert model.classes == machine.output.names
    assert sample(model, machine, 64, 8, 0).has_passed


def test_what_is_not_a_number_is_wrong() -> None:
    parity = zoo.machine("C2")
    model = black_box(lambda words: np.full((*words.shape, 2), np.nan), parity)
    found = sample(model, parity, 8, 3, 0).counterexample
    assert found is not None
    assert found.actual == (NOT_FINITE,)


def test_a_wrong_word_is_shortened() -> None:
    flip_flop = zoo.machine("FlipFlop")
    forgets = 11

    def forgetful(words: IntArray) -> IntArray:
        states = simulating(flip_flop, words)
        states[:, forgets:] = 0
        return states

    model = black_box(forgetful, flip_flop)
    found = sample(model, flip_flop, 256, 40, 0).counterexample
    assert found is not None
    assert len(minimise(model, flip_flop, found).found.word) == forgets + 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda words: np.zeros((len(words), 2)), "of shape"),
        (lambda words: np.zeros((*words.shape, 3)), "of shape"),
        (lambda words: words + 5, "numbered 0..1"),
        (lambda words: (words, None), "'tuple'"),
    ],
)
def test_what_is_no_answer_is_refused(answer: Callable[[Any], Any], said: str) -> None:
    parity = zoo.machine("C2")
    with pytest.raises(CheckError, match=said):
        sample(black_box(answer, parity), parity, 8, 4, 0)


def test_a_longest_word_is_kept_to() -> None:
    parity = zoo.machine("C2")
    model = black_box(lambda words: simulating(parity, words), parity, longest=6)
    with pytest.raises(CheckError, match="up to 6 letters"):
        pair(model, parity, 7)
    found = Counterexample(parity.letters[:1], (), ())
    assert minimise(model, parity, found).found == found


GRID = zoo.machine("Grid4")
PARITY = zoo.machine("C2")


def grid(words: IntArray) -> IntArray:
    return GRID.semiautomaton.trace(words, GRID.start)


def parity(words: IntArray) -> IntArray:
    return PARITY.semiautomaton.trace(words, PARITY.start)


@pytest.mark.sample(1)
@pytest.mark.parametrize("length", [1, 5, 11])
def test_all_words_are_run(length: int) -> None:
    seen: list[tuple[int, ...]] = []

    def watched(words: IntArray) -> IntArray:
        seen.extend(map(tuple, words.tolist()))
        return grid(words)

    result = run_all(black_box(watched, GRID), GRID, length)
    expected = [w for n in range(1, length + 1) for w in product((0, 1), repeat=n)]
    assert seen == expected
    assert result.has_passed
    assert result.words == len(expected)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=9))
def test_one_wrong_word_is_found(planted: list[int]) -> None:
    def wrong(words: IntArray) -> IntArray:
        states = grid(words)
        if words.shape[1] == len(planted):
            hit = (words == planted).all(axis=1)
            states[hit, -1] = (states[hit, -1] + 1) % 4
        return states

    found = run_all(black_box(wrong, GRID), GRID, 9).counterexample
    assert found is not None
    assert found.word == tuple(GRID.letters[a] for a in planted)
    assert found.at == len(planted)


def test_a_network_that_looks_ahead_keeps_its_word_whole() -> None:
    def looks_ahead(words: IntArray) -> IntArray:
        states = parity(words)
        states[:, 0] ^= words[:, -1] & (words.shape[1] == 6)
        return states

    found = run_all(black_box(looks_ahead, PARITY), PARITY, 7).counterexample
    assert found is not None
    assert len(found.word) == 6
    assert found.at == 1
    assert found.expected[1:] == found.actual[1:]


def test_chance_is_no_answer() -> None:
    seen: set[bytes] = set()

    def noisy(words: IntArray) -> IntArray:
        again = words.tobytes() in seen
        seen.add(words.tobytes())
        return parity(words) ^ (len(words) > 100 and not again)

    with pytest.raises(CheckError, match="dropout"):
        run_all(black_box(noisy, PARITY), PARITY, 8)
    with pytest.raises(CheckError, match="dropout"):
        sample(black_box(noisy, PARITY), PARITY, 9000, 8, 0)


def counts_badly(words: IntArray) -> FloatArray:
    """Parity with a margin that falls with every 1, and is gone after 40."""
    margin = 1.0 - (words == 1).cumsum(axis=1) / 40.5
    right = np.eye(2)[parity(words)]
    return right * margin[..., None]


def test_climbing_finds_what_only_the_margin_leads_to() -> None:
    model = black_box(counts_badly, PARITY)
    judge = pair(model, PARITY, 64)
    rng = np.random.default_rng(0)
    words, margins = np.empty((0, 64), dtype=np.int64), np.empty(0)
    start = uniform(rng, PARITY, 16, 64) * uniform(rng, PARITY, 16, 64)
    for drawn in (start, *(None,) * 12):
        new = mutate(rng, PARITY, words, 16) if drawn is None else drawn
        least = judge.margins(new).min(axis=1)
        found = (np.concatenate([words, new]), np.append(margins, least))
        words, margins = worst(*found)
    assert judge.margins(start).min() > 0.3
    assert (judge.good(uniform(rng, PARITY, 16 * 13, 64)) == 64).mean() > 0.95
    assert margins.min() < 0


def test_margins_are_positive_exactly_where_answers_are_right() -> None:
    judge = pair(black_box(counts_badly, PARITY), PARITY, 64)
    words = np.ones((1, 64), dtype=np.int64)
    margins = judge.margins(words)
    assert (margins[0] > 0).argmin() == judge.good(words)[0] == 40
    nothing = black_box(lambda w: counts_badly(w) * np.nan, PARITY)
    assert (pair(nothing, PARITY, 64).margins(words) == -np.inf).all()


def test_samples_are_drawn_made_and_counted() -> None:
    model = black_box(counts_badly, PARITY)
    assert sample(model, PARITY, 64, 30, 0).words == 64
    found = sample(model, PARITY, 256, 64, 0)
    assert found.counterexample is not None
    assert found.about.startswith(" (found by ")
