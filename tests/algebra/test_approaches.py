"""Every state has a word that leads to it, of one length where that is possible."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.graphs import approaches
from krohn.algebra.minimisation import reachable


@st.composite
def machines(draw: st.DrawFn) -> Automaton:
    letters, states = draw(st.integers(1, 3)), draw(st.integers(1, 6))
    rows = st.lists(st.integers(0, states - 1), min_size=states, max_size=states)
    table = np.array([draw(rows) for _ in range(letters)])
    names = (
        tuple(f"a{i}" for i in range(letters)),
        tuple(f"q{i}" for i in range(states)),
    )
    return Automaton(Semiautomaton(table, *names), draw(st.integers(0, states - 1)))


@given(machines(), st.integers(0, 8))
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
