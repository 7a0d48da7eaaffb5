"""Counting programs on short words are finite machines, of which all answers are right."""

from itertools import product

import numpy as np
import pytest

from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import minimise
from krohn.instruments.compare.tasks.catalogue import Surviving
from krohn.instruments.compare.tasks.task import Task
from krohn.kinds.counting import commands_machines as counting_machines
from krohn.kinds.counting.commands_machines import unroll_program
from krohn.kinds.counting.source import (
    find_by_name,
    parse,
)
from krohn.kinds.counting.source_examples import CATALOGUE

LENGTH = 7


@pytest.mark.parametrize("name", CATALOGUE)
def test_all_short_words(name: str) -> None:
    program = find_by_name(name)
    machine = unroll_program(program, LENGTH)
    assert machine.output is not None
    every = product(range(len(program.letters)), repeat=LENGTH)
    words = np.array(list(every))
    words = words[:: max(1, len(words) // 20_000)]
    trace = machine.semiautomaton.trace(words, machine.start)
    said = machine.output.table[trace].astype(bool)
    assert (said == program.accepts(words)).all()


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["Dyck1", "AnBnCn", "MoreAThanB"])
def test_long_words_that_survive(name: str) -> None:
    program = find_by_name(name)
    task = Task(name, unroll_program(program, 60), Surviving(), "outputs")
    batch = task.batch(np.random.default_rng(0), 200, 60)
    assert (batch.labels == program.accepts(batch.letters)).all()
    assert batch.labels.any(axis=1).mean() > 0.2


def test_what_cannot_be_accepted_any_more_is_one_state() -> None:
    """After n letters of 2n a balanced word is at depth n; no other state is left."""
    machine = minimise(unroll_program(find_by_name("Dyck1"), 20))
    # Depths 0 to 10, the empty word apart from other balanced ones, and what is lost.
    assert len(machine.states) == 11 + 1 + 1


def test_words_never_leave_what_can_be_accepted_before_they_are_free() -> None:
    machine = unroll_program(find_by_name("Dyck1"), 30)
    words = Surviving().draw(machine, np.random.default_rng(1), 400, 30)
    depth = np.where(words == 0, 1, -1).cumsum(axis=1)
    whole = (depth >= 0).all(axis=1) & (depth[:, -1] == 0)
    assert 0.3 < whole.mean() < 0.9


def test_a_language_of_no_words() -> None:
    machine = unroll_program(parse("letters a b\nno := false", "no.crasp"), 5)
    assert len(machine.states) == 1
    assert set(machine.run("abab")) == {"0"}


def test_too_much_to_remember(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting_machines, "MOST_MEMORIES", 50)
    with pytest.raises(KrohnError, match="needs more than 50"):
        unroll_program(find_by_name("AnBnCn"), 40)


def test_words_of_what_accepts_nothing() -> None:
    from krohn.algebra import zoo

    with pytest.raises(KrohnError, match="accepts no words"):
        Surviving().draw(zoo.machine("C2"), np.random.default_rng(0), 1, 3)
