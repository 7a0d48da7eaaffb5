"""Counters, memories and side-by-side machines are recognised for what they are."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.errors import MachineError
from krohn.algebra.products import direct_product, parallel
from krohn.algebra.structure import (
    Counter,
    as_counter,
    as_memory,
    parallel_factors,
    reached_pairs,
)

# A busy machine may pause within an example; that is no failure.


def machine(table: npt.ArrayLike, start: int = 0) -> Automaton:
    table = np.array(table)
    letters = tuple(f"a{i}" for i in range(table.shape[0]))
    states = tuple(f"q{i}" for i in range(table.shape[1]))
    return Automaton(Semiautomaton(table, letters, states), start)


@st.composite
def tables(draw: st.DrawFn, most: int = 6) -> Automaton:
    n, letters = draw(st.integers(1, most)), draw(st.integers(1, 3))
    row = st.lists(st.integers(0, n - 1), min_size=n, max_size=n)
    return machine([draw(row) for _ in range(letters)], draw(st.integers(0, n - 1)))


@st.composite
def hidden_counters(draw: st.DrawFn) -> Automaton:
    """A counter whose states are numbered at random."""
    n = draw(st.integers(1, 12))
    renamed = np.array(draw(st.permutations(range(n))))
    steps = [1 % n, *draw(st.lists(st.integers(0, n - 1), max_size=3))]
    table = np.empty((len(steps), n), dtype=int)
    for row, step in enumerate(steps):
        table[row, renamed] = renamed[(np.arange(n) + step) % n]
    return machine(table, draw(st.integers(0, n - 1)))


def counts_like(counter: Counter, a: Automaton) -> bool:
    labels = np.array(counter.labels)
    steps = np.array(counter.increments)[:, None]
    expected = (labels + steps) % counter.modulus
    return np.array_equal(labels[a.transitions], expected)


class TestCounter:
    @given(hidden_counters())
    def test_renaming_states_hides_no_counter(self, a: Automaton) -> None:
        counter = as_counter(a)
        assert counter is not None
        assert counter.modulus == len(a.states)
        assert counter.labels[a.start] == 0
        assert sorted(counter.labels) == list(range(counter.modulus))
        assert counts_like(counter, a)

    @given(tables())
    def test_what_is_called_a_counter_counts(self, a: Automaton) -> None:
        counter = as_counter(a)
        assert counter is None or counts_like(counter, a)

    @pytest.mark.parametrize("n", range(2, 9))
    def test_cyclic_groups(self, n: int) -> None:
        counter = as_counter(zoo.machine(f"C{n}"))
        assert counter.increments == counter.labels == tuple(range(n))

    @pytest.mark.parametrize("name", ["C2xC3", "C2xC5", "C3xC4", "C4xC9"])
    def test_coprime_products_are_cyclic(self, name: str) -> None:
        a = zoo.machine(name)
        assert counts_like(as_counter(a), a)

    def test_no_single_letter_need_generate(self) -> None:
        a = machine([(np.arange(12) + 4) % 12, (np.arange(12) + 3) % 12])
        assert sorted(as_counter(a).increments) == [3, 4]

    def test_the_largest_increment_is_as_small_as_can_be(self) -> None:
        assert as_counter(machine([(np.arange(7) + 6) % 7])).increments == (1,)
        both = machine([(np.arange(7) + 3) % 7, (np.arange(7) + 6) % 7])
        assert as_counter(both).increments == (1, 2)

    def test_hundreds_of_states(self) -> None:
        assert as_counter(zoo.machine("C360")).modulus == 360

    @pytest.mark.parametrize(
        "name", ["C2xC2", "C2xC4", "D6", "Q8", "S4", "Grid4", "FlipFlop", "abab"]
    )
    def test_other_machines_are_no_counters(self, name: str) -> None:
        assert as_counter(zoo.machine(name)) is None

    def test_all_states_must_be_reachable(self) -> None:
        assert as_counter(machine([[1, 0, 2]])) is None


class TestMemory:
    def test_flip_flop(self) -> None:
        assert as_memory(zoo.machine("FlipFlop")).writes == (None, 0, 1)

    @given(tables())
    def test_letters_write_or_keep(self, a: Automaton) -> None:
        memory = as_memory(a)
        identity = np.arange(len(a.states))
        kinds = [
            np.array_equal(row, identity) or len(set(row.tolist())) == 1
            for row in a.transitions
        ]
        assert (memory is not None) == all(kinds)
        for row, value in enumerate(memory.writes if memory else ()):
            written = identity if value is None else np.full(len(a.states), value)
            assert np.array_equal(a.transitions[row], written)

    @pytest.mark.parametrize("name", ["C2", "Grid4", "PermReset3"])
    def test_other_machines_are_no_memories(self, name: str) -> None:
        assert as_memory(zoo.machine(name)) is None


class TestParallelFactors:
    SIZES = (
        ("C6", [2, 3]),
        ("C12", [3, 4]),
        ("C2xC2", [2, 2]),
        ("C2xC2xC2", [2, 2, 2]),
        ("C2xC2xC2xC2xC2", [2, 2, 2, 2, 2]),
        ("D6", [2, 3]),
    )

    @pytest.mark.parametrize(("name", "sizes"), SIZES)
    def test_sizes(self, name: str, sizes: list[int]) -> None:
        factors = parallel_factors(zoo.machine(name))
        assert [len(f.machine.states) for f in factors] == sizes

    @pytest.mark.parametrize(
        "name", ["C2", "C4", "C7", "C8", "Q8", "Grid9", "Dyck4,2", "FlipFlop", "C1"]
    )
    def test_machines_that_do_not_split(self, name: str) -> None:
        assert parallel_factors(zoo.machine(name)) is None

    def test_large_machines_are_left_alone(self) -> None:
        assert parallel_factors(zoo.machine("S5"), most_states=100) is None
        assert parallel_factors(zoo.machine("Grid200")) is None

    @pytest.mark.slow
    def test_machines_with_very_many_congruences_are_left_alone(self) -> None:
        assert parallel_factors(machine([np.arange(70)])) is None

    def test_a_hundred_states(self) -> None:
        factors = parallel_factors(zoo.machine("C3xC5xC7"))
        assert [len(f.machine.states) for f in factors] == [3, 5, 7]

    @given(tables())
    def test_factors_are_smaller_quotients_that_separate_states(
        self, a: Automaton
    ) -> None:
        factors = parallel_factors(a)
        if factors is None:
            return
        for factor in factors:
            block = np.array(factor.block)
            assert len(factor.machine.states) < len(a.states)
            assert factor.machine.letters == a.letters
            assert factor.machine.start == block[a.start]
            assert np.array_equal(
                block[a.transitions], factor.machine.transitions[:, block]
            )
        assert len(set(zip(*(f.block for f in factors), strict=True))) == len(a.states)

    @given(tables())
    def test_no_factor_is_redundant(self, a: Automaton) -> None:
        factors = parallel_factors(a) or ()
        for left_out in factors:
            rest = [f.block for f in factors if f is not left_out]
            assert len(set(zip(*rest, strict=True))) < len(a.states)

    @given(tables(most=4), st.lists(st.integers(0, 2), max_size=6))
    def test_running_the_factors_runs_the_machine(
        self, a: Automaton, word: list[int]
    ) -> None:
        factors = parallel_factors(a)
        if factors is None:
            return
        letters = np.array(word, dtype=int) % len(a.letters)
        together = parallel(*(f.machine for f in factors)).semiautomaton
        start = parallel(*(f.machine for f in factors)).start
        whole = a.semiautomaton.trace(letters, a.start)
        shape = [len(f.machine.states) for f in factors]
        expected = np.ravel_multi_index(
            [np.array(f.block)[whole] for f in factors], shape
        )
        assert np.array_equal(together.trace(letters, start), expected)


class TestReachedPairs:
    @pytest.mark.parametrize(
        ("name", "points", "order"),
        [("S3", 3, 6), ("S5", 5, 120), ("A5", 5, 60), ("D6", 3, 6), ("D8", 4, 8)],
    )
    def test_actions_are_faithful(self, name: str, points: int, order: int) -> None:
        pairs = reached_pairs(zoo.machine(name), range(points))
        assert len(pairs) == order
        assert set(pairs.values()) == set(range(order))

    def test_permutations_are_their_images(self) -> None:
        a = zoo.machine("S4")
        for image, state in reached_pairs(a, range(4)).items():
            assert "".join(str(p + 1) for p in image) == a.states[state]

    def test_two_places_determine_the_pose_of_a_car(self) -> None:
        assert len(reached_pairs(zoo.machine("D10"), (0, 1))) == 10

    def test_too_few_points_determine_nothing(self) -> None:
        assert reached_pairs(zoo.machine("S5"), (0, 1)) is None
        assert reached_pairs(zoo.machine("S5"), ()) is None

    def test_states_are_points_of_a_machine_without_action(self) -> None:
        a = zoo.machine("Grid4")
        assert reached_pairs(a, (0,)) == {(q,): q for q in range(4)}

    def test_products_keep_faithful_actions(self) -> None:
        a = direct_product(zoo.machine("S3"), zoo.machine("C2"))
        assert len(reached_pairs(a, range(5))) == 12

    def test_limit(self) -> None:
        with pytest.raises(MachineError, match="raise the limit"):
            reached_pairs(zoo.machine("S5"), range(5), limit=100)

    def test_points_exist(self) -> None:
        with pytest.raises(MachineError, match=r"0\.\.4"):
            reached_pairs(zoo.machine("S5"), (5,))

    @given(tables())
    def test_following_every_state_knows_the_state(self, a: Automaton) -> None:
        pairs = reached_pairs(a, range(len(a.states)))
        assert all(image[a.start] == state for image, state in pairs.items())
