"""Windows of letters as beliefs of linear systems."""

import numpy as np
import pytest

from krohn.instruments.compare.measures.beliefs import best_window, scores
from krohn.instruments.compare.tasks.beliefs import BeliefTask
from krohn.kinds.linear_systems.source import LinearSystem, find_by_name

RESETS = np.zeros((2, 3, 3))
RESETS[0, 1] = RESETS[1, 2] = 1  # letter o leads to state o + 1 from everywhere


def test_one_letter_tells_all_of_a_machine_of_resets() -> None:
    task = BeliefTask(LinearSystem("resets", ("a", "b"), RESETS, np.eye(3)[0]))
    window = best_window(task, 0, 8, tokens=800)
    assert window.orders[-1] == 1
    found = scores(window, task, 8, 1, words=50)
    assert found.error == 0
    assert found.errors == (0,) * 8
    assert (found.fits, found.within) == ((8, 8), 1)
    assert found.floor == found.excess == 0


def test_cycles_are_known_as_far_as_words_occurred_and_a_mean_is_said_beyond() -> None:
    system = find_by_name("Cyclic-DET5,3@1")
    assert system is not None
    task = BeliefTask(system)
    window = best_window(task, 0, 12, tokens=12000)  # 1,000 of 3^12 words
    found = scores(window, task, 12, 1)
    assert 3 <= found.fits[0] <= 7
    assert found.errors[-1] == pytest.approx(0.8, abs=0.1)  # even: 1 − 1/5
    assert found.floor == 0
    said = window(np.zeros((1, 12), dtype=np.int64))
    assert said.sum(-1) == pytest.approx(np.ones((1, 12)))


def test_nothing_is_asked() -> None:
    system = find_by_name("Cyclic-DET3,2@1")
    assert system is not None
    task = BeliefTask(system, after=("2",))
    found = scores(lambda words: task.label(words).truth, task, 6, 1, words=64)
    assert found.error == 0
    never = scores(
        lambda words: np.full((len(words), 6, 3), np.nan), task, 6, 1, words=64
    )
    assert never.excess is None
    assert never.fits == (0, 0)
    assert never.within == 0
