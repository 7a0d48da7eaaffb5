"""Stacks of bounded depth are recognised; the distribution of nested brackets."""

from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
import pytest
from bestiary import machines
from hypothesis import given, strategies as st

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.brackets import BracketDistribution, as_brackets, distribution
from krohn.algebra.errors import MachineError

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


sizes = st.tuples(st.integers(1, 4), st.integers(1, 3))
chances = st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=10)


def brackets(depth: int, kinds: int, opening: Fraction) -> BracketDistribution:
    return distribution(zoo.machine(f"Dyck{depth},{kinds}"), opening)


def printed(law: BracketDistribution, word: tuple[int, ...]) -> Fraction:
    """Formula (3.20) with its last exponent completed (erratum D1)."""
    depth, kinds, q = law.brackets.depth, law.brackets.kinds, law.opening
    after = [len(stack) for stack in law.stacks(word)]
    opened = [law.brackets.opens[a] is not None for a in word]
    factors = [
        (Fraction(1, kinds) if d == 1 else q / kinds)
        if opens
        else (1 - q if d < depth - 1 else Fraction(1))
        for d, opens in zip(after[1:], opened, strict=True)
    ]
    return prod(factors, start=Fraction(1))


@given(sizes, chances, st.integers(0, 6))
def test_the_probabilities_of_all_prefixes_of_one_length_sum_to_one(
    size: tuple[int, int], opening: Fraction, length: int
) -> None:
    law = brackets(*size, opening)
    words = [word for word, _ in law.prefixes(min(length, 9 // sum(size) + 2))]
    assert sum(map(law.probability, words)) == 1
    assert all(law.probability(word) == printed(law, word) for word in words)


@pytest.mark.parametrize(
    ("depth", "kinds", "length", "count"),
    [(4, 2, 8, 1_920), (4, 2, 10, 11_616), (3, 2, 10, 4_608), (2, 2, 12, 6_144)],
)
def test_prefixes_are_counted_without_listing_them(
    depth: int, kinds: int, length: int, count: int
) -> None:
    law = brackets(depth, kinds, Fraction(1, 2))
    assert law.count(length) == count
    assert sum(1 for _ in law.prefixes(min(length, 8))) == law.count(min(length, 8))


def test_the_law_depends_on_depth_and_innermost_bracket() -> None:
    law = brackets(2, 2, Fraction(1, 3))
    half, sixth, rest = Fraction(1, 2), Fraction(1, 6), Fraction(2, 3)
    assert law.law(()) == (half, 0, half, 0)
    assert law.law((1,)) == (sixth, 0, sixth, rest)
    assert law.law((1, 0)) == (0, 1, 0, 0)


def test_a_prefix_leaves_the_stack_that_the_machine_is_in() -> None:
    machine = zoo.machine("Dyck3,2")
    law = distribution(machine, Fraction(1, 2))
    for word, stack in law.prefixes(7):
        state = machine.semiautomaton.trace(np.array(word), machine.start)[-1]
        assert law.brackets.stacks[state] == stack == law.stacks(word)[-1]


@pytest.mark.slow
def test_samples_have_the_probabilities_of_the_law() -> None:
    law = brackets(2, 1, Fraction(1, 4))
    words = law.sample(np.random.default_rng(0), 4_000, 4)
    for word, _ in law.prefixes(4):
        share = (words == word).all(axis=1).mean()
        assert abs(share - float(law.probability(word))) < 0.03


def test_an_illegal_letter_has_probability_zero_and_is_named() -> None:
    law = brackets(2, 2, Fraction(1, 2))
    assert law.probability((0, 3)) == 0
    with pytest.raises(MachineError, match="letter 2 of the word is illegal"):
        law.stacks((0, 3))


def test_other_machines_and_impossible_probabilities_are_refused() -> None:
    with pytest.raises(MachineError, match="no empty stack"):
        distribution(zoo.machine("Grid4"), Fraction(1, 2))
    with pytest.raises(MachineError, match="no empty stack"):
        distribution(zoo.machine("Dyck2,2").with_start("("), Fraction(1, 2))
    with pytest.raises(MachineError, match="between 0 and 1"):
        brackets(2, 2, Fraction(1))
