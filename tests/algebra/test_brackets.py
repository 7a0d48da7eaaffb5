"""Stacks of bounded depth are recognised whatever their states are called."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from bestiary import machines
from hypothesis import given, strategies as st

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.brackets import as_brackets

NAMES = ["Dyck1,1", "Dyck1,2", "Dyck2,2", "Dyck3,1", "Dyck4,2", "Dyck2,3"]


def renamed(a: Automaton, letters: list[int], states: list[int]) -> Automaton:
    """The machine with its letters and states in another order."""
    place = np.argsort(states)
    table = place[a.transitions[letters][:, states]]
    names = tuple(a.letters[x] for x in letters), tuple(a.states[q] for q in states)
    return Automaton(Semiautomaton(table, *names), int(place[a.start]))


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", NAMES)
@given(st.data())
def test_renamed_stacks_are_recognised(name: str, data: st.DataObject) -> None:
    machine = zoo.machine(name)
    letters = data.draw(st.permutations(range(len(machine.letters))))
    states = data.draw(st.permutations(range(len(machine.states))))
    found = as_brackets(renamed(machine, letters, states))
    assert found is not None
    depth, kinds = map(int, name.removeprefix("Dyck").split(","))
    assert (found.depth, found.kinds) == (depth, kinds)
    lengths = [len(s) for s in found.stacks if s is not None]
    shown = [machine.states[q] for q in states if machine.states[q] != "error"]
    expected = [0 if s == "ε" else len(s) for s in shown]
    # With one kind, opening and closing can trade places.
    turned = [depth - n for n in expected]
    assert lengths == expected or (kinds == 1 and lengths == turned)


@pytest.mark.parametrize("name", ["Dyck2,2", "Dyck3,1"])
def test_one_changed_arrow_is_noticed(name: str) -> None:
    machine = zoo.machine(name)
    for letter, state in np.ndindex(machine.transitions.shape):
        table = machine.transitions.copy()
        table[letter, state] = (table[letter, state] + 1) % table.shape[1]
        other = Semiautomaton(table, machine.letters, machine.states)
        assert as_brackets(replace(machine, semiautomaton=other)) is None


@pytest.mark.parametrize("name", ["C3", "Grid4", "FlipFlop", "abab", "Memory3"])
def test_other_machines_are_no_stacks(name: str) -> None:
    assert as_brackets(zoo.machine(name)) is None


@given(machines())
def test_what_is_recognised_is_a_stack(machine: Any) -> None:
    found = as_brackets(Automaton(machine))
    if found is not None:
        assert len(set(found.stacks)) == len(machine.states)
        assert sum(s is None for s in found.stacks) == 1
