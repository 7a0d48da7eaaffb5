"""Reachable parts, minimal machines and products are what the definitions say."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Output, Semiautomaton
from krohn.algebra.errors import MachineError
from krohn.algebra.minimisation import minimise, quotient, reachable
from krohn.algebra.products import (
    cascade_product,
    complete,
    direct_product,
    join_names,
    parallel,
)

# A busy machine may pause within an example; that is no failure.


@st.composite
def machines(
    draw: st.DrawFn, letters: int = 2, most: int = 6, output: str = "any"
) -> Automaton:
    n = draw(st.integers(1, most))
    state = st.integers(0, n - 1)
    table = np.array(
        [draw(st.lists(state, min_size=n, max_size=n)) for _ in range(letters)]
    )
    kind = draw(st.sampled_from(["none", "states", "transitions"]))
    kind = kind if output == "any" else output
    shown = None
    if kind != "none":
        shape = (n,) if kind == "states" else (letters, n)
        bits = draw(
            st.lists(st.integers(0, 1), min_size=n * letters, max_size=n * letters)
        )
        values = np.resize(np.array(bits), shape)
        shown = Output(kind, values, ("no", "yes"))
    names = tuple(f"q{i}" for i in range(n))
    return Automaton(
        Semiautomaton(table, tuple("abc"[:letters]), names), draw(state), shown
    )


def words(letters: str = "ab", most: int = 8) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(letters), max_size=most)


def constant_shown(a: Automaton) -> Automaton:
    """The machine with one output for all states."""
    output = Output("states", np.zeros(len(a.states), dtype=int), ("only",))
    return Automaton(a.semiautomaton, a.start, output)


class TestReachable:
    @given(machines(), words())
    def test_shows_the_same(self, a: Automaton, word: list[str]) -> None:
        assert reachable(a).run(word) == a.run(word)

    @given(machines())
    def test_has_a_path_to_every_state(self, a: Automaton) -> None:
        part = reachable(a)
        found = {part.start}
        for _ in part.states:
            found |= set(part.transitions[:, sorted(found)].ravel().tolist())
        assert found == set(range(len(part.states)))

    @given(machines())
    def test_keeps_names_in_order(self, a: Automaton) -> None:
        kept = reachable(a).states
        assert [a.states.index(q) for q in kept] == sorted(map(a.states.index, kept))

    def test_keeps_the_action(self) -> None:
        s3 = zoo.machine("S3")
        only_cycles = Automaton(
            Semiautomaton(s3.transitions[1:2], s3.letters[1:2], s3.states),
            action=s3.action[1:2],
        )
        assert reachable(only_cycles).states == ("123", "231", "312")
        assert reachable(only_cycles).action == ((1, 2, 0),)


class TestMinimise:
    @given(machines(), words())
    def test_shows_the_same(self, a: Automaton, word: list[str]) -> None:
        assert minimise(a).run(word) == a.run(word)

    @given(machines())
    def test_is_idempotent(self, a: Automaton) -> None:
        once = minimise(a)
        assert minimise(once) == once

    @given(machines(most=4))
    def test_any_two_states_are_told_apart_by_a_word(self, a: Automaton) -> None:
        small = minimise(a)
        tests = [w for n in range(1, 5) for w in product("ab", repeat=n)]
        behaviours = set()
        for state in small.states:
            moved = small.with_start(state)
            now = [state]
            if small.output is not None and small.output.on == "states":
                now = [small.output.names[small.output.table[moved.start]]]
            behaviours.add((*now, *(moved.run(word) for word in tests)))
        assert len(behaviours) == len(small.states)

    @given(machines(output="none"))
    def test_merges_nothing_when_states_are_shown(self, a: Automaton) -> None:
        assert minimise(a) == reachable(a)

    @given(machines())
    def test_one_output_needs_one_state(self, a: Automaton) -> None:
        assert len(minimise(constant_shown(a)).states) == 1

    def test_thousands_of_states(self) -> None:
        n = 3000
        count = np.arange(n)
        table = np.stack([(count + 1) % n, count])
        shown = Output("states", count % 3 == 0, ("no", "yes"))
        names = tuple(map(str, count))
        a = Automaton(Semiautomaton(table, ("a", "b"), names), 0, shown)
        assert minimise(a).states == ("0", "1", "2")


class TestQuotient:
    def test_a_counter_modulo_a_divisor_is_a_counter(self) -> None:
        c6, c3 = zoo.machine("C6"), zoo.machine("C3")
        divided = quotient(c6, np.arange(6) % 3)
        assert np.array_equal(divided.transitions[:3], c3.transitions)

    def test_blocks_must_be_a_congruence(self) -> None:
        with pytest.raises(MachineError, match="no congruence"):
            quotient(zoo.machine("C6"), [0, 0, 1, 1, 1, 1])

    def test_one_block_for_each_state(self) -> None:
        with pytest.raises(MachineError, match="each of the 6 states"):
            quotient(zoo.machine("C6"), [0, 0])


class TestProducts:
    @given(machines(), machines(), words())
    def test_parallel_shows_both(
        self, a: Automaton, b: Automaton, word: list[str]
    ) -> None:
        both = parallel(a, b).run(word)
        assert both == tuple(
            ",".join(pair) for pair in zip(a.run(word), b.run(word), strict=True)
        )

    @given(machines(output="none"), machines(letters=3, output="none"), st.data())
    def test_direct_product_reads_pairs(
        self, a: Automaton, b: Automaton, data: st.DataObject
    ) -> None:
        left = data.draw(words())
        right = data.draw(st.lists(st.sampled_from("abc"), min_size=8, max_size=8))
        word = [x + y for x, y in zip(left, right, strict=False)]
        pairs = zip(a.run(left), b.run(right[: len(left)]), strict=True)
        assert direct_product(a, b).run(word) == tuple(map(",".join, pairs))

    @given(machines(output="none"), machines(letters=3, output="none"), st.data())
    def test_cascade_reads_the_upper_state_before_the_letter(
        self, upper: Automaton, lower: Automaton, data: st.DataObject
    ) -> None:
        shape = upper.transitions.shape
        dependency = np.array(
            [[data.draw(st.integers(0, 2)) for _ in range(shape[1])] for _ in "ab"]
        )
        word = data.draw(words())
        before = [upper.states[upper.start], *upper.run(word)][: len(word)]
        fed = [
            "abc"[dependency["ab".index(x), upper.states.index(q)]]
            for x, q in zip(word, before, strict=True)
        ]
        pairs = zip(upper.run(word), lower.run(fed), strict=True)
        cascade = cascade_product(upper, lower, dependency)
        assert cascade.run(word) == tuple(map(",".join, pairs))

    def test_single_characters_stand_in_a_row(self) -> None:
        assert join_names([("0", "1"), ("0", "1")]) == ("00", "01", "10", "11")

    def test_longer_names_are_separated(self) -> None:
        assert join_names([("on", "off"), ("1",)]) == ("on,1", "off,1")

    def test_separators_keep_tuples_apart(self) -> None:
        assert len(set(join_names([("1,2", "1"), ("3", "2,3")]))) == 4

    def test_actions_stand_side_by_side(self) -> None:
        squared = direct_product(zoo.machine("S3"), zoo.machine("C2"))
        assert squared.action[0] == (1, 0, 2, 3, 4)
        assert squared.action[1] == (1, 0, 2, 4, 3)

    def test_moore_beside_mealy_is_mealy(self) -> None:
        c2 = zoo.machine("C2")
        mealy = Automaton(
            c2.semiautomaton, 0, Output("transitions", np.eye(2), ("u", "v"))
        )
        assert parallel(c2, mealy).run("01") == ("0v", "1u")

    def test_parallel_needs_one_alphabet(self) -> None:
        with pytest.raises(MachineError, match="direct_product"):
            parallel(zoo.machine("C2"), zoo.machine("C3"))

    def test_a_product_has_a_factor(self) -> None:
        with pytest.raises(MachineError, match="at least one machine"):
            direct_product()

    def test_products_are_not_too_large(self) -> None:
        with pytest.raises(MachineError, match="smaller factors"):
            direct_product(*[zoo.machine("C8")] * 5)

    @pytest.mark.parametrize("table", [[[0, 0]], [[0, 2], [0, 0]], [[0, -1], [0, 0]]])
    def test_dependencies_give_letters(self, table: list[list[int]]) -> None:
        c2 = zoo.machine("C2")
        with pytest.raises(MachineError, match="dependency"):
            cascade_product(c2, c2, table)

    def test_counting_to_four_is_a_cascade_of_bits(self) -> None:
        c2 = zoo.machine("C2")
        carry = [[0, 0], [0, 1]]
        states = cascade_product(c2, c2, carry).run("11111")
        assert states == ("10", "01", "11", "00", "10")


class TestComplete:
    PARTIAL = ((1, -1), (-1, 0))

    def test_sink_absorbs(self) -> None:
        machine = complete(self.PARTIAL, "ab", ("p", "q"))
        assert machine.states == ("p", "q", "error")
        assert machine.run("abbab", 0) == ("q", "p", "error", "error", "error")

    def test_total_tables_get_no_sink(self) -> None:
        assert complete([[0, 1]], "a", "pq").states == ("p", "q")

    def test_the_sink_needs_a_new_name(self) -> None:
        with pytest.raises(MachineError, match="another name"):
            complete([[-1]], "a", ["error"])

    def test_shape(self) -> None:
        with pytest.raises(MachineError, match="2 letters and 1 states"):
            complete(self.PARTIAL, "ab", "p")

    @given(machines(output="none"))
    def test_completing_a_total_machine_changes_nothing(self, a: Automaton) -> None:
        assert complete(a.transitions, a.letters, a.states) == a.semiautomaton

    def test_states_follow_letters(self) -> None:
        machine = zoo.machine("Grid4")
        path = [0, *map(int, machine.run("RRLRRRL"))]
        assert all(abs(p - q) <= 1 for p, q in pairwise(path))
