"""Any function from words to answers is held against a machine like a compiled network."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, IntArray
from krohn.network.model import NOT_FINITE
from krohn.verify.testing.counterexample import CheckError, Counterexample, pair
from krohn.verify.testing.examination import black_box
from krohn.verify.testing.sampling import sample
from krohn.verify.testing.shortest_failing import minimise


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


@pytest.mark.parametrize("form", FORMS)
def test_answers_come_in_many_forms(form: str) -> None:
    grid = zoo.machine("Grid4")
    model = black_box(lambda words: FORMS[form](simulating(grid, words)), grid)
    assert sample(model, grid, 64, 9, 0).passed


def test_a_module_reads_tensors_where_its_parameters_are() -> None:
    parity = zoo.machine("C2")
    model = black_box(Counting(), parity)
    assert model.device == torch.device("cpu")
    assert sample(model, parity, 64, 9, 0).passed


def test_outputs_are_the_classes_if_these_are_said() -> None:
    machine = zoo.machine("Parity8@2,3,7")
    assert machine.output is not None
    table = machine.output.table
    model = black_box(
        lambda words: table[simulating(machine, words)], machine, "outputs"
    )
    assert model.classes == machine.output.names
    assert sample(model, machine, 64, 8, 0).passed


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
