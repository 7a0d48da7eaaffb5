"""Compiled heads are found again, attend to their landmarks, and are told from others."""

from collections.abc import Callable

import numpy as np
import pytest

from krohn.algebra.automaton import IntArray
from krohn.instruments.compare.models import (
    Compiled,
    Gpt,
    Lstm,
    build,
)
from krohn.instruments.compare.probes.attention_landmarks import (
    NOWHERE,
    compare_heads,
    heads,
    landmarks,
    similarity,
    uniform,
    weight_on,
)
from krohn.instruments.compare.tasks.task import Task

Tasks = Callable[[str], Task]
Words = Callable[..., IntArray]
Networks = Callable[..., Compiled]


def test_rows_are_weights_on_letters_that_were_read(
    derived: Networks, task_of: Tasks, words_for: Words
) -> None:
    words = words_for(task_of("Grid4"), 8, 12)
    found = heads(derived("Grid4", "gridworld", 12), words)
    assert found
    for head in found:
        seen = head.weight > 0
        assert np.allclose(head.pattern.sum(axis=2), seen)
        assert not np.triu(head.pattern, 1).any()


def test_a_counter_attends_to_all_letters_alike(
    derived: Networks, task_of: Tasks, words_for: Words
) -> None:
    (head,) = heads(derived("C3", "counter", 12), words_for(task_of("C3"), 8, 12))
    assert head.title == "counter: sum"
    assert similarity(head, uniform(head)) == pytest.approx(1)


def test_a_memory_attends_to_the_last_reset_and_a_scan_to_the_letter_before(
    derived: Networks, task_of: Tasks
) -> None:
    task = task_of("Memory3")
    (pointing,) = compare_heads(
        derived("Memory3", "memory", 12), task, length=12
    ).pointings
    assert pointing.landmark == "the last reset"
    assert pointing.weight == pytest.approx(1)
    assert pointing.elsewhere is not None
    assert pointing.elsewhere < 0.7
    scan = compare_heads(derived("A4", "scan", 12), task_of("A4"), length=12)
    first = next(p for p in scan.pointings if p.head == "scan: back1")
    assert (first.landmark, first.elsewhere) == ("the letter before", None)
    assert first.weight == pytest.approx(1)


def test_every_compiled_head_is_most_like_itself(
    derived: Networks, task_of: Tasks
) -> None:
    network = derived("Grid4", "gridworld", 12)
    found = compare_heads(network, task_of("Grid4"), [network], length=12)
    for likeness, row in zip(found.likenesses, found.matrix, strict=True):
        assert likeness.similarity == pytest.approx(1)
        assert max(row) == pytest.approx(likeness.similarity)
    assert all(x.similarity == pytest.approx(1) for x in found.counterparts)
    assert any(
        "attends like gridworld: met" in sentence for sentence in found.sentences
    )
    met = next(x for x in found.likenesses if "met" in x.compiled)
    assert met.elsewhere < 0.8


def test_fresh_heads_are_like_uniform_ones_and_networks_without_heads_have_none(
    task_of: Tasks, derived: Networks
) -> None:
    task, network = task_of("Grid4"), derived("Grid4", "gridworld", 12)
    fresh = build(Gpt(1, 16, 2, 16), len(task.letters), len(task.classes), 12, 0)
    found = compare_heads(fresh, task, [network], length=12)
    for likeness in found.likenesses:
        assert likeness.similarity == pytest.approx(likeness.uniform, abs=0.05)
    lstm = build(Lstm(8, 8), len(task.letters), len(task.classes), 12, 0)
    none = compare_heads(lstm, task, [network], length=12)
    assert (none.likenesses, none.pointings, none.matrix) == ((), (), ())
    assert (
        none.sentences
        == found.sentences
        == (
            "No head attends 80% like a head of a compiled network, or mostly to one "
            "landmark.",
        )
    )


def test_landmarks_are_where_they_should_be(task_of: Tasks) -> None:
    grid = task_of("Grid4")
    left, right = (grid.letters.index(x) for x in "LR")
    word = np.array([[right, right, left, right, right, left]])
    states = grid.states(word)[0]
    found = landmarks(grid, word)
    assert found["the letter before"].tolist() == [[NOWHERE, 0, 1, 2, 3, 4]]
    assert found["the last such letter"].tolist() == [[NOWHERE, 0, NOWHERE, 1, 3, 2]]
    walls = found["the last time at a wall"][0]
    for t, place in enumerate(walls.tolist()):
        at = [u for u in range(t + 1) if states[u] in (0, 3)]
        assert place == max(at, default=NOWHERE)


def test_the_bracket_on_top_is_the_one_that_is_closed_next(
    task_of: Tasks, words_for: Words
) -> None:
    task = task_of("Dyck3,2")
    words = words_for(task, 20, 12)
    top = landmarks(task, words)["the bracket on top"]
    for word, places in zip(words.tolist(), top.tolist(), strict=True):
        stack: list[int] = []
        for t, letter in enumerate(word):
            if task.letters[letter] in "([":
                stack.append(t)
            else:
                stack.pop()
            assert places[t] == (stack[-1] if stack else NOWHERE)


def test_weights_on_landmarks_are_means_over_rows_that_have_one(
    derived: Networks, task_of: Tasks, words_for: Words
) -> None:
    words = words_for(task_of("C3"), 8, 12)
    (head,) = heads(derived("C3", "counter", 12), words)
    first = np.zeros_like(words)
    shares = 1 / np.arange(2, 13)
    assert weight_on(head, first) == pytest.approx(shares.mean(), abs=1e-5)
    assert weight_on(head, first + NOWHERE) == 0
