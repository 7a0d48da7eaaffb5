"""Subsequences that decide: against all subsequences of all short words."""

from itertools import combinations, product

import numpy as np
import pytest
from layered_machines import machine, ordered

from krohn import read
from krohn.algebra.automaton import Automaton, Output, Semiautomaton
from krohn.algebra.departures.subsequences import Subsequences, subsequences
from krohn.algebra.minimisation import minimise


def answers(found: Subsequences, word: tuple[int, ...]) -> tuple[int, ...]:
    """Each test by looking at all choices of positions."""
    return tuple(
        int(
            any(
                all(found.sets[s, a] for s, a in zip(test, chosen, strict=True))
                for chosen in combinations(word, len(test))
            )
        )
        for test in found.tests
    )


def decided_by(m: Automaton, longest: int, length: int) -> bool:
    """Whether words up to a length with equal subsequences lead to equal states."""
    seen: dict[frozenset[tuple[int, ...]], int] = {}
    for size in range(length + 1):
        for word in product(range(len(m.letters)), repeat=size):
            parts = frozenset(
                c for k in range(longest + 1) for c in combinations(word, k)
            )
            state = m.start
            for a in word:
                state = int(m.transitions[a, state])
            if seen.setdefault(parts, state) != state:
                return False
    return True


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(40))
def test_tests_decide_exactly_if_all_subsequences_do(seed: int) -> None:
    m = ordered(np.random.default_rng(seed), most_states=5)
    length = {2: 7, 3: 5, 4: 4}[len(m.letters)]
    for longest in (1, 2):
        found = subsequences(m, longest)
        if found is None:
            # Longer words may be needed to see it; these machines show it at once.
            assert not decided_by(m, longest, length) or len(m.states) == 1
            continue
        assert max(map(len, found.tests)) <= longest
        for word in product(range(len(m.letters)), repeat=length):
            state = m.start
            for a in word:
                state = int(m.transitions[a, state])
            assert found.state[answers(found, word)] == state


def test_places_for_sets_need_fewer_tests() -> None:
    m = minimise(read("regex:a*b*c*d*"))
    found = subsequences(m, 2)
    assert found is not None
    assert any(found.sets[s].sum() > 1 for test in found.tests for s in test)


@pytest.mark.slow
def test_outputs_need_fewer_tests_than_states() -> None:
    m = minimise(read("regex:a*b*c*d*"))
    shown = Automaton(
        m.semiautomaton, m.start, Output("states", m.transitions[0] * 0, ("x",))
    )
    assert subsequences(shown, 2) is None  # one output: there is nothing to decide
    states = Automaton(m.semiautomaton, m.start)
    by_output, by_state = subsequences(m, 2), subsequences(states, 2)
    assert by_output is not None
    assert by_state is not None
    assert sum(map(len, by_output.tests)) < sum(map(len, by_state.tests))


@pytest.mark.slow
def test_the_last_letter_is_no_subsequence() -> None:
    m = machine(np.array([[0, 0], [1, 1]]))
    assert subsequences(m, 4) is None


def test_thousands_of_letters_are_not_looked_at() -> None:
    """The arrays would have more entries than are made; it is seen before they are."""
    table = np.array([[1, 2, 2], *[[0, 1, 2]] * 20_000])
    names = tuple(map(str, range(len(table)))), ("0", "1", "2")
    assert subsequences(Automaton(Semiautomaton(table, *names)), 2) is None
    few = Automaton(Semiautomaton(table[:3], names[0][:3], names[1]))
    assert subsequences(few, 2) is not None
