"""What other verifiers are asked about is the network that Krohn compiles."""

import itertools

import numpy as np
import pytest
import torch
from verifier_peers import Case, Unrolled, boxes, by_krohn, only_state

from krohn.network.model import Model

LENGTH = 4
NAMES = pytest.mark.parametrize("name", ["FlipFlop", "C2"])


@NAMES
def test_the_unrolled_network_is_that_of_the_file(name: str) -> None:
    file, machine = Case(name, LENGTH).network()
    letters = range(len(machine.letters))
    words = torch.tensor([*itertools.product(letters, repeat=LENGTH)])
    right = Model(file)(words)[:, -1]
    found = Unrolled(file, LENGTH)(torch.eye(len(letters))[words].flatten(1))
    torch.testing.assert_close(found, right)


@NAMES
def test_krohn_proves_it_for_every_length(name: str) -> None:
    verdict, _ = by_krohn(Case(name, LENGTH))
    assert verdict == "verified"


@NAMES
def test_a_box_holds_the_words_with_its_last_letters(name: str) -> None:
    _, machine = Case(name, LENGTH).network()
    k = len(machine.letters)
    words = np.array([*itertools.product(range(k), repeat=LENGTH)])
    states = machine.semiautomaton.trace(words, machine.start)[:, -1]
    one_hot = np.eye(k)[words].reshape(len(words), -1)
    for size in range(LENGTH + 1):
        for end in itertools.product(range(k), repeat=size):
            low, high = (side.numpy() for side in boxes([end], LENGTH, k))
            inside = ((low <= one_hot) & (one_hot <= high)).all(axis=1)
            assert inside.sum() == k ** (LENGTH - size)
            reached = {*states[inside].tolist()}
            only = only_state(machine, LENGTH, end)
            assert ({only} if only is not None else reached) == reached
            assert (only is None) == (len(reached) > 1)
