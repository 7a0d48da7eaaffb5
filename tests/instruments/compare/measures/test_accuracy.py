"""Token and sequence accuracy of networks whose faults are known."""

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from krohn.compilation import compile as compiled
from krohn.instruments.compare.measures import (
    by_bias,
    by_count,
    by_length,
    countable,
    simulator,
)
from krohn.instruments.compare.measures.accuracy import (
    accuracy,
    right,
    tally,
)
from krohn.instruments.compare.measures.curves import by_opening
from krohn.instruments.compare.tasks import (
    DyckPrefixes,
    Task,
)
from krohn.instruments.compare.tasks.catalogue import (
    THESIS,
    task,
)
from krohn.network.model import Model
from krohn.verify.testing.counterexample import CheckError, Simulator
from krohn.verify.testing.examination import BlackBox

Knows = Callable[..., Simulator]


@pytest.mark.parametrize("name", [*THESIS[:4], "D8 (location)", "flip-flop", "S5"])
def test_who_knows_the_machine_is_always_right(
    name: str, knows: Knows, rng: np.random.Generator
) -> None:
    asked = task(name)
    found = accuracy(knows(asked), asked, rng, 12, 100)
    assert found.tokens.perfect
    assert found.words.perfect


def test_the_compiled_network_is_always_right(rng: np.random.Generator) -> None:
    asked = task("D8")
    model = Model(compiled(asked.machine, 12).file)
    assert accuracy(model, asked, rng, 12, 200).words.perfect
    assert by_length(model, asked, rng, (4, 12, 16), 50).at == (4, 12)


def test_a_network_that_forgets_the_last_letter(
    knows: Knows, rng: np.random.Generator
) -> None:
    """It fails at every position where the parity has just changed: half of them."""
    asked = task("C2")

    def late(letters: np.ndarray, said: np.ndarray) -> np.ndarray:
        return said ^ letters

    found = accuracy(knows(asked, late), asked, rng, 8, 2000)
    assert found.tokens.low < 0.5 < found.tokens.high
    assert found.words.low <= 2**-8 <= found.words.high
    assert all(p is not None and p.of == 2000 for p in found.positions)


def test_faults_show_at_their_position(knows: Knows, rng: np.random.Generator) -> None:
    asked = task("C5")

    def third(letters: np.ndarray, said: np.ndarray) -> np.ndarray:
        said = said.copy()
        said[:, 2] = (said[:, 2] + 1) % 5
        return said

    found = accuracy(knows(asked, third), asked, rng, 6, 50)
    assert [p and p.value for p in found.positions] == [1, 1, 0, 1, 1, 1]
    assert found.tokens.value == pytest.approx(5 / 6)
    assert found.words.right == 0


def test_ties_and_numbers_that_are_none_are_never_right(
    rng: np.random.Generator,
) -> None:
    asked = task("C2")
    batch = asked.batch(rng, 3, 5)
    for value in (0.0, float("nan"), float("inf")):
        model = simulator(lambda a, v=value: np.full((*a.shape, 2), v), asked)
        assert not right(model, asked, batch).any()


def test_classes_and_letters_are_matched_by_name(
    knows: Knows, rng: np.random.Generator
) -> None:
    asked = task("Grid4")
    turned = replace(
        asked,
        machine=replace(
            asked.machine,
            semiautomaton=type(asked.machine.semiautomaton)(
                3 - asked.machine.transitions[::-1, ::-1], ("R", "L"), tuple("3210")
            ),
            start=3,
        ),
    )
    model = knows(turned)
    assert model.classes == tuple("3210")
    assert right(model, asked, asked.batch(rng, 20, 10)).all()


def test_a_network_without_a_word_for_it_is_wrong(rng: np.random.Generator) -> None:
    asked = task("C2")
    silent = BlackBox(lambda a: np.zeros_like(a), asked.letters, ("0",))
    batch = asked.batch(rng, 30, 10)
    expected = batch.labels == 0
    assert np.array_equal(right(silent, asked, batch), expected)


def test_only_what_is_asked_counts(knows: Knows, rng: np.random.Generator) -> None:
    asked = task("flip-flop")

    def elsewhere(letters: np.ndarray, said: np.ndarray) -> np.ndarray:
        return np.where(letters == 1, said, (said + 1) % 3)

    found = accuracy(knows(asked, elsewhere), asked, rng, 20, 50)
    assert found.tokens.perfect
    assert found.positions[0] is None
    counted = tally(knows(asked), asked, rng, 50, 20)
    assert counted.word_asked.sum() == counted.asked.sum() == counted.right.sum()


def test_dropout_is_switched_off_and_on_again(rng: np.random.Generator) -> None:
    asked = task("C2")
    network = nn.Sequential(nn.Embedding(2, 2), nn.Dropout(0.5))
    network[0].weight.data = torch.eye(2)
    model = simulator(network, asked)
    batch = asked.batch(rng, 40, 10)
    assert np.array_equal(right(model, asked, batch), batch.labels == batch.letters)
    assert network[1].training


def test_longer_words_than_it_can_read_are_refused(
    knows: Knows, rng: np.random.Generator
) -> None:
    asked = task("C2")
    with pytest.raises(CheckError, match="up to 8"):
        accuracy(knows(asked, longest=8), asked, rng, 9, 2)
    with pytest.raises(CheckError, match="letters of C3"):
        accuracy(knows(asked), task("C3"), rng, 9, 2)


def test_a_network_that_counts_to_three_fails_by_bias_and_by_count(
    knows: Knows, rng: np.random.Generator
) -> None:
    asked = task("C2")

    def few(letters: np.ndarray, said: np.ndarray) -> np.ndarray:
        return np.where(letters.cumsum(axis=1) > 3, 0, said)

    model = knows(asked, few)
    counted = by_count(model, asked, rng, 10, range(11), 50)
    assert [found.words.perfect for found in counted.found] == [True] * 5 + [False] * 6
    assert counted.letter == "1"
    biased = by_bias(model, asked, rng, 10, (0.05, 0.5, 0.95), 200)
    shares = [found.tokens.value for found in biased.found]
    assert shares == sorted(shares, reverse=True)
    assert json.loads(json.dumps(biased.to_object()))["at"] == [0.05, 0.5, 0.95]


def test_counts_are_spread_over_the_length(
    knows: Knows, rng: np.random.Generator
) -> None:
    asked = task("C2")
    assert by_count(knows(asked), asked, rng, 4, None, 5).at == (0, 1, 2, 3, 4)
    assert len(by_count(knows(asked), asked, rng, 100, None, 5).at) == 21


def test_the_bias_of_a_flip_flop_is_how_often_it_ignores(
    knows: Knows, rng: np.random.Generator
) -> None:
    asked: Task = task("flip-flop")
    found = by_bias(knows(asked), asked, rng, 12, (0.1, 0.9), 20)
    assert found.letter == "i"
    assert [a.inputs for a in found.found] == ["FFL(0.1)", "FFL(0.9)"]


def test_brackets_that_open_often_are_deep(
    knows: Knows, rng: np.random.Generator
) -> None:
    """A network that knows nothing of stacks of three brackets and more."""
    asked = task("Dyck4,2")
    deep = np.array([len(name) > 2 for name in asked.classes])

    def shallow(letters: np.ndarray, said: np.ndarray) -> np.ndarray:
        return np.where(deep[said], 0, said)

    found = by_opening(knows(asked, shallow), asked, rng, 24, (0.1, 0.5, 0.9), 100)
    shares = [a.tokens.value for a in found.found]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.9
    assert shares[2] < 0.5


def test_legal_letters_open_as_often_as_there_are_kinds(
    rng: np.random.Generator,
) -> None:
    asked = task("Dyck4,2")
    alike = replace(asked, inputs=DyckPrefixes(2 / 3, closed=False))
    shares = [(t.batch(rng, 4000, 12).letters % 2).mean() for t in (asked, alike)]
    assert shares[0] == pytest.approx(shares[1], abs=0.01)


def test_letters_that_are_forbidden_cannot_be_counted() -> None:
    assert countable(task("Grid4").machine)
    assert not countable(task("Dyck4,2").machine)
    assert not countable(task("flip-flop").machine)


def test_the_bias_of_brackets_is_how_often_they_open(
    knows: Knows, rng: np.random.Generator
) -> None:
    asked = task("Dyck4,2")
    assert by_bias(knows(asked), asked, rng, 8, (0.5,), 5).over == "opening"
    named = by_bias(knows(asked), asked, rng, 8, (0.5,), 5, letter=asked.letters[0])
    assert (named.over, named.letter) == ("bias", asked.letters[0])
