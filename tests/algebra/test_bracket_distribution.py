"""The distribution of nested brackets: laws, probabilities, counts, samples."""

from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import given, strategies as st

from krohn.algebra import zoo
from krohn.algebra.brackets import BracketDistribution, distribution
from krohn.algebra.errors import MachineError

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
