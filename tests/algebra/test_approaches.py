"""Every state has a word that leads to it, of one length where that is possible."""

import pytest
from hypothesis import given, strategies as st
from random_machines import machines

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton
from krohn.algebra.graphs import approaches
from krohn.algebra.minimisation import reachable


@given(machines(most=6), st.integers(0, 8))
def test_words_lead_to_their_states(machine: Automaton, longest: int) -> None:
    words = approaches(machine, longest)
    for state, word in enumerate(words):
        if word is not None:
            now = machine.start
            for letter in word:
                now = int(machine.transitions[letter, now])
            assert now == state
    found = {s for s, w in zip(machine.states, words, strict=True) if w is not None}
    assert found == set(reachable(machine).states)


@pytest.mark.parametrize(("name", "length"), [("S5", 4), ("FlipFlop", 1), ("Grid4", 3)])
def test_all_states_can_be_reached_by_words_of_one_length(
    name: str, length: int
) -> None:
    words = approaches(zoo.machine(name), 30)
    assert {len(word) for word in words if word is not None} == {length}
