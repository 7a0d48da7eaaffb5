"""The thesis's tasks, and a task for any machine."""

import numpy as np
import pytest

from krohn.algebra import zoo
from krohn.algebra.errors import KrohnError
from krohn.algebra.zoo.samplers import READ, VALUES
from krohn.instruments.compare.tasks import (
    Biased,
    FlipFlop,
)
from krohn.instruments.compare.tasks.catalogue import (
    INDIRECT,
    THESIS,
    names,
    task,
)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize("name", names())
def test_labels_are_what_the_machine_shows(name: str) -> None:
    found = task(name)
    batch = found.batch(rng(), 4, 12)
    assert batch.labels.min() >= 0
    assert batch.labels.max() < len(found.classes)
    assert not (batch.asked & ~batch.trained).any()
    if found.predicts == "class":
        for letters, labels in zip(batch.letters, batch.labels, strict=True):
            word = [found.letters[a] for a in letters]
            shown = found.machine.run(word)
            assert tuple(found.classes[c] for c in labels) == shown


def test_the_thesis_has_nineteen_machines_and_seven_observations() -> None:
    assert len(set(THESIS)) == 19
    assert len(INDIRECT) == 7


def test_observations_hide_states() -> None:
    for name in INDIRECT:
        found = task(name)
        assert len(found.classes) < len(found.machine.states)
    assert task("S5 (first-chair)").classes == ("1", "2", "3", "4", "5")
    assert len(task("S5 (first-chair)").letters) == 5


@pytest.mark.parametrize("name", ["flip-flop", "flip-flop, mixed"])
def test_a_clean_flip_flop_asks_for_what_was_written_after_each_read(
    name: str,
) -> None:
    batch = task(name).batch(rng(), 30, 20)
    assert np.array_equal(batch.asked, batch.letters == READ)
    assert np.array_equal(batch.asked, batch.trained)
    row, column = np.nonzero(batch.asked)
    said = batch.labels[row, column]
    assert np.array_equal(said, batch.letters[row, column + 1] - VALUES)


def test_a_generative_flip_flop_trains_on_every_letter() -> None:
    batch = task("flip-flop, generative").batch(rng(), 30, 20)
    assert batch.trained[:, :-1].all()
    assert not batch.trained[:, -1].any()
    assert np.array_equal(batch.asked, batch.letters == READ)
    assert np.array_equal(batch.labels[:, :-1], batch.letters[:, 1:])


def test_brackets_are_asked_for_where_one_closes() -> None:
    found = task("brackets")
    batch = found.batch(rng(), 30, 27)
    closes = np.isin(batch.labels, [1, 3])
    assert np.array_equal(batch.asked[:, :-1], closes[:, :-1])
    assert not batch.asked[:, -1].any()
    assert batch.asked[:, -2].all()


def test_a_task_for_a_machine_has_its_own_words_or_others() -> None:
    machine = zoo.machine("C2")
    assert task(machine).inputs == task("C2").inputs
    assert task(machine, Biased(0.1)).inputs == Biased(0.1)
    assert task("flip-flop", FlipFlop((0.98,))).asked == ("r",)
    assert task("Grid4 (boundary)").shows == "outputs"
    assert task(zoo.machine("FFL2"), shows="outputs").classes[0] == "w"


def test_revealed_labels_enter_the_loss_with_their_probability() -> None:
    batch = task("S5", reveal=0.25).batch(rng(), 200, 100)
    assert batch.trained.mean() == pytest.approx(0.25, abs=0.01)
    assert batch.asked.all()


@pytest.mark.parametrize("name", ["C1x", "C2 (boundary)", "nothing"])
def test_what_has_no_such_name_is_refused(name: str) -> None:
    with pytest.raises(KrohnError):
        task(name)
