"""A model answers words of its letters, up to its length, and nothing else."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

import krohn
from network.cache import Cache
from network.modelfile import ModelFileError

Build = Callable[..., Any]


def test_words_by_name(parts: Build, place: Build) -> None:
    model = krohn.load(place(parts("Grid4", "scan", 4).pack()))
    machine = krohn.zoo("Grid4")
    word = [machine.letters[i] for i in (1, 1, 0, 1)]
    expected = machine.semiautomaton.run(word, machine.start)
    assert model.run(word) == list(expected)
    assert model.run([]) == []
    assert (model.letters, model.states) == (machine.letters, machine.states)
    assert model.length == 4


@pytest.mark.parametrize("construction", ["scan", "sequential"])
def test_longer_words_are_refused(
    parts: Build, place: Build, construction: str
) -> None:
    model = krohn.load(place(parts("Grid4", construction, 4).pack()))
    letter = model.letters[0]
    assert len(model.run([letter] * 4)) == 4
    with pytest.raises(ModelFileError, match=r"up to 4 letters.*-T 5") as caught:
        model.run([letter] * 5)
    assert "\n" not in str(caught.value)
    with pytest.raises(ModelFileError, match="up to 4 letters"):
        model(torch.zeros((2, 9), dtype=torch.long))


def test_an_rnn_has_no_longest_word(parts: Build, place: Build) -> None:
    model = krohn.load(place(parts("C3", "elman").pack()))
    assert model.length is None
    assert model.run(["1"] * 500)[-1] == str(500 % 3)
    assert model.places() == {}


@pytest.mark.parametrize("letter", ["x", "", "0 ", "L\n"])
def test_unknown_letters_are_refused(parts: Build, place: Build, letter: str) -> None:
    model = krohn.load(place(parts("C3", "scan", 4).pack()))
    with pytest.raises(ModelFileError, match="is not a letter") as caught:
        model.run(["1", letter])
    assert "\n" not in str(caught.value)
    assert "0, 1, 2" in str(caught.value)


def test_unknown_channels_are_refused(parts: Build, place: Build) -> None:
    model = krohn.load(place(parts("C3", "scan", 4).pack()))
    with pytest.raises(ModelFileError, match="no channel 'nothing'"):
        model.read("nothing", torch.tensor([[0]]))


def test_places_say_what_they_hold(parts: Build, place: Build) -> None:
    model = krohn.load(place(parts("FlipFlop", "memory", 4).pack()))
    stored = model.places()["stored"]
    assert stored.code == "integer"
    assert stored.head == 0
    assert stored.operation["op"] == "latest"
    assert stored.dims[1] - stored.dims[0] == 1


@pytest.mark.parametrize("construction", ["scan", "elman"])
def test_caches_can_be_shared_by_words_with_a_common_beginning(
    parts: Build, place: Build, construction: str
) -> None:
    length = None if construction == "elman" else 3
    model = krohn.load(place(parts("C3", construction, length).pack()))
    _, cache = model.network.step(torch.tensor([1]), model.network.start())
    three = Cache(cache.seen, tuple(part[[0, 0, 0]] for part in cache.parts))
    logits, _ = model.network.step(torch.tensor([0, 1, 2]), three)
    assert logits.argmax(-1).tolist() == [1, 2, 0]
    assert cache.seen == three.seen


def test_an_rnn_step_by_step_is_the_rnn(parts: Build, place: Build) -> None:
    model = krohn.load(place(parts("Grid4", "elman").pack()))
    word = torch.tensor([[0, 1, 1, 0, 1, 1, 1]])
    cache = model.network.start()
    for t in range(7):
        logits, cache = model.network.step(word[:, t], cache)
        assert torch.equal(logits, model(word)[:, t])
