"""One unit for each rectangle of states and letters (docs/constructions.md, RNN)."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.architectures.recurrent.build import (
    Units,
    rectangles,
)
from krohn.network.model import Model

FORMATS = ("float64", "float32", "float16", "bfloat16")


def machine_of(transitions: IntArray, start: int = 0) -> Automaton:
    letters, states = (tuple(map(str, range(n))) for n in transitions.shape)
    return Automaton(Semiautomaton(transitions, letters, states), start=start)


@st.composite
def tables(draw: st.DrawFn) -> IntArray:
    letters, states = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    row = st.lists(st.integers(0, states - 1), min_size=states, max_size=states)
    return np.array(draw(st.lists(row, min_size=letters, max_size=letters)))


@given(tables())
def test_rectangles_are_a_partition_of_all_pairs(transitions: IntArray) -> None:
    found, seen = rectangles(transitions), np.zeros(transitions.shape, np.int64)
    for unit, target in enumerate(found.arrived.tolist()):
        states = found.states[found.states[:, 0] == unit, 1]
        letters = found.letters[found.letters[:, 0] == unit, 1]
        pairs = np.ix_(letters, states)
        assert (transitions[pairs] == target).all()
        seen[pairs] += 1
    assert (seen == 1).all()


@given(tables())
def test_one_unit_a_state_wherever_what_leads_to_each_is_a_rectangle(
    transitions: IntArray,
) -> None:
    entered = np.unique(transitions)
    whole = all(
        (found := transitions == q).sum() == found.any(0).sum() * found.any(1).sum()
        for q in entered.tolist()
    )
    assert (len(rectangles(transitions).arrived) == len(entered)) == whole


@given(tables(), st.sampled_from(FORMATS))
def test_every_machine_is_proved_in_every_format(
    transitions: IntArray, dtype: str
) -> None:
    built = krohn.compile(machine_of(transitions), arch="rnn", dtype=dtype)
    assert built.proof is not None
    assert built.proof.verdict == "verified"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "units"),
    [
        ("Cyclic-DET5,5@3", 15),  # states × letters: 25
        ("S5", 960),  # a letter leads to a state from one other: no rectangle is wider
        ("FlipFlop", 4),  # who sets a state comes from anywhere; who keeps it, from it
        ("regex:(ab)*", 2),  # what is lost is no unit at all
    ],
)
def test_how_many_units_machines_need(name: str, units: int) -> None:
    assert krohn.compile(name, arch="rnn").summary()["d_model"] == units


@pytest.mark.parametrize("window", [1, 2, 3])
def test_who_remembers_the_last_letters_has_one_unit_a_state(window: int) -> None:
    letters = 3
    states = np.arange(letters**window)
    shifted = np.array([states * letters % len(states) + a for a in range(letters)])
    units = Units.of(machine_of(shifted))
    assert len(units.arrived) == len(states)
    assert units.silent is None


def test_a_state_that_no_letter_leaves_is_silent() -> None:
    machine = zoo.machine("Dyck2,2")
    units, built = Units.of(machine), krohn.compile(machine, arch="rnn")
    assert units.silent is not None
    lost = machine.states[units.alive[units.silent]]
    word = [machine.letters[-1], machine.letters[0]]
    assert built.file.header["architecture"]["hidden"] == len(units.arrived)
    assert Model(built.file).run(word)[-1] == lost


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("tensor", "at", "value"),
    [
        ("hidden.start", 0, 0.0),
        ("hidden.bias", 0, -2.0),
        ("hidden.bias", 0, 0.0),
        ("input.weight", 0, 0.5),
        ("unembed.bias", 0, 3.0),
    ],
)
def test_a_changed_weight_is_refused(tensor: str, at: int, value: float) -> None:
    file = krohn.compile("Cyclic-DET5,5@3", arch="rnn").file
    place = int(np.flatnonzero(file.tensors[tensor])[at])
    file.tensors[tensor].put(place, value)
    assert krohn.verify(file, proof=True).verdict != "verified"
