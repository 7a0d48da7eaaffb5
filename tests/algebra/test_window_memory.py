"""Machines whose state is what a window of letters wrote last."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from random_machines import machines

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.windows import WindowMemory, as_window_memory


def machine_of(table: list[list[int]], start: int = 0) -> Automaton:
    letters = tuple(f"a{i}" for i in range(len(table)))
    states = tuple(f"q{i}" for i in range(len(table[0])))
    return Automaton(Semiautomaton(np.array(table), letters, states), start=start)


def run(found: WindowMemory, letters: int, word: tuple[int, ...]) -> list[int]:
    """The states after each letter, from what windows write alone."""
    context, label, failed, shown = len(found.state) - 1, found.start, False, []
    for letter in word:
        written = found.writes[context, letter]
        label = label if written < 0 else written
        failed |= bool(found.illegal[context, letter, label])
        context = (context * (letters + 1) + letter) % len(found.state)
        alive = int(found.state[context, label])
        shown.append(alive if not failed or found.sink is None else found.sink)
    return shown


@given(machines(2, 4))
def test_windows_say_the_state(machine: Automaton) -> None:
    found = as_window_memory(machine)
    if found is not None:
        letters = len(machine.letters)
        for word in product(range(letters), repeat=6):
            trace = machine.semiautomaton.trace(word, machine.start)
            assert run(found, letters, word) == trace.tolist()


@pytest.mark.parametrize(
    ("name", "width", "sink"),
    [
        ("FlipFlop", 1, None),
        ("FFLTracker2", 2, None),
        ("FFLTracker5", 2, None),
        ("Adder", 2, None),
        ("FFL2", 2, "error"),
        ("FFL4", 2, "error"),
    ],
)
def test_the_least_width(name: str, width: int, sink: str | None) -> None:
    machine = zoo.machine(name)
    found = as_window_memory(machine)
    assert found is not None
    assert found.width == width
    assert sink == (None if found.sink is None else machine.states[found.sink])


@pytest.mark.parametrize("name", ["C2", "S3", "Grid4", "Dyck4,2", "abab"])
def test_counters_and_stacks_are_none(name: str) -> None:
    assert as_window_memory(zoo.machine(name)) is None


@pytest.mark.parametrize("width", [2, 3, 4])
def test_machines_of_the_last_letters(width: int) -> None:
    """A shift register holds the last letters and writes at every position."""
    size = 2**width
    register = machine_of([[(2 * q + a) % size for q in range(size)] for a in (0, 1)])
    found = as_window_memory(register)
    assert found is not None
    assert found.width == width
    assert (found.writes >= 0).all()
