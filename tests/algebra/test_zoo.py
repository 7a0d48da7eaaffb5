"""The zoo's machines are the ones of the thesis, section 3.4.5.1."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sympy.combinatorics import Permutation, PermutationGroup

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.errors import MachineError
from krohn.algebra.minimisation import reachable

# A busy machine may pause within an example; that is no failure.

EVERY = (*zoo.names(), "C12", "C2xC2xC5", "D10", "S6", "A6", "Grid20", "Dyck3,3")
EVERY = (
    *EVERY,
    "Dyck2,6",
    "Memory5",
    "PermReset3",
    "S2",
    "A3",
    "D4",
    "FFL5",
    "FFLTracker3",
)


def group_order(a: Automaton) -> int:
    return PermutationGroup(
        [Permutation(row) for row in a.transitions.tolist()]
    ).order()


class TestCatalogue:
    def test_the_list(self) -> None:
        assert len(zoo.names()) == len(set(zoo.names())) == 28

    @pytest.mark.parametrize("name", EVERY)
    def test_names_states_and_words_fit(self, name: str) -> None:
        a = zoo.machine(name)
        assert a.name == name
        assert zoo.description(name)
        draw = zoo.sampler(name)
        words = draw(np.random.default_rng(0), 5, 17)
        assert words.shape == (5, 17)
        assert words.min() >= 0
        assert words.max() < len(a.letters)
        assert np.array_equal(words, draw(np.random.default_rng(0), 5, 17))
        assert draw(np.random.default_rng(0), 0, 3).shape == (0, 3)
        assert draw(np.random.default_rng(0), 3, 0).shape == (3, 0)
        assert draw(np.random.default_rng(0), 3, 1).shape == (3, 1)

    @pytest.mark.parametrize("name", EVERY)
    def test_states_are_reachable_unless_edges_are_no_corners(self, name: str) -> None:
        a = zoo.machine(name)
        expected = 24 if name == "Rubik" else len(a.states)
        assert len(reachable(a).states) == expected

    @pytest.mark.parametrize(
        ("wrong", "right"),
        [("c5", "C5"), ("Dick4,2", "Dyck4,2"), ("flipflop", "FlipFlop")],
    )
    def test_misspelt_names_are_mended(self, wrong: str, right: str) -> None:
        with pytest.raises(MachineError, match=f"{right}.*krohn zoo"):
            zoo.machine(wrong)

    @pytest.mark.parametrize(
        "name",
        [
            *("C0", "C2001", "C0xC2", "C50xC50", "D7", "D2", "S1", "S9", "A2"),
            *("Grid1", "Dyck0,1", "Dyck1,0", "Dyck9,9", "Memory1", "PermReset1"),
            "PermReset7",
        ],
    )
    def test_parameters_have_bounds(self, name: str) -> None:
        with pytest.raises(MachineError, match=f"^{name} is not in the zoo: "):
            zoo.machine(name)

    @pytest.mark.parametrize("name", ["", "C", "C-1", "C２", "Rubik2", "C" + "9" * 20])
    def test_unknown_names(self, name: str) -> None:
        with pytest.raises(MachineError, match="krohn zoo"):
            zoo.machine(name)


class TestGroups:
    @given(st.integers(1, 12), st.lists(st.integers(0, 11), min_size=1, max_size=9))
    def test_counters_add(self, n: int, numbers: list[int]) -> None:
        word = [str(number % n) for number in numbers]
        assert zoo.machine(f"C{n}").run(word)[-1] == str(sum(map(int, word)) % n)

    def test_products_of_counters_add_without_carry(self) -> None:
        assert zoo.machine("C2xC2").letters == ("00", "01", "10", "11")
        assert zoo.machine("C2xC2xC2").run(["011", "110"]) == ("011", "101")
        assert zoo.machine("C2xC2xC5").run(["114", "013"]) == ("114", "102")
        assert zoo.machine("C2xC12").letters[-1] == "1,11"

    ORDERS = (
        *(("D6", 6), ("D8", 8), ("Q8", 8), ("A4", 12), ("S4", 24), ("A5", 60)),
        *(("S5", 120), ("S6", 720), ("A6", 360), ("C2xC2xC2", 8), ("D10", 10)),
    )

    @pytest.mark.parametrize(("name", "order"), ORDERS)
    def test_orders(self, name: str, order: int) -> None:
        a = zoo.machine(name)
        assert len(a.states) == order
        assert (np.sort(a.transitions, axis=1) == np.arange(order)).all()
        if order <= 120:
            assert group_order(a) == order

    def test_a_car_turns_and_drives(self) -> None:
        word = ["drive", "drive", "toggle", "drive", "drive", "drive", "toggle"]
        states = ["(1,0)", "(2,0)", "(2,1)", "(1,1)", "(0,1)", "(3,1)", "(3,0)"]
        assert list(zoo.machine("D8").run(word)) == states

    def test_eight_letters_of_the_symmetric_group(self) -> None:
        letters = zoo.machine("S5").letters
        assert letters[:2] == ("21345", "23451")
        assert letters[2:] == ("12354", "12435", "12453", "12534", "12543", "13245")
        assert len(set(letters)) == 8

    @pytest.mark.parametrize(("n", "count"), [(2, 1), (3, 5), (4, 8), (6, 8)])
    def test_small_symmetric_groups_have_fewer_letters(
        self, n: int, count: int
    ) -> None:
        assert len(zoo.machine(f"S{n}").letters) == count

    def test_letters_of_the_symmetric_group_are_their_states(self) -> None:
        a = zoo.machine("S4")
        assert all(a.run([letter]) == (letter,) for letter in a.letters)

    def test_letters_are_composed_after_the_state(self) -> None:
        assert zoo.machine("S3").run(["213", "231"]) == ("213", "321")

    def test_three_cycles(self) -> None:
        assert zoo.machine("A5").letters == ("23145", "24315", "25341")

    def test_quaternions(self) -> None:
        q8 = zoo.machine("Q8")
        assert q8.run("ijk") == ("i", "k", "-1")
        assert q8.run("ji") == ("j", "-k")
        for unit in "ijk":
            assert q8.run(unit * 4)[1:] == ("-1", f"-{unit}", "1")

    def test_quaternions_are_a_group_with_one_involution(self) -> None:
        q8 = zoo.machine("Q8")
        elements = PermutationGroup(
            [Permutation(row) for row in q8.transitions.tolist()]
        ).elements
        assert sum(element.order() == 2 for element in elements) == 1


class TestRubik:
    def test_the_group_of_the_cube(self) -> None:
        assert group_order(zoo.machine("Rubik")) == 43_252_003_274_489_856_000

    def test_stickers(self) -> None:
        rubik = zoo.machine("Rubik")
        assert rubik.letters == tuple("ULFRBD")
        assert len(rubik.states) == 48
        assert rubik.states[0].startswith("U")

    @pytest.mark.parametrize(
        ("turn", "cycle"),
        [
            ("U", ["UB", "UR", "UF", "UL"]),
            ("U", ["FU", "LU", "BU", "RU"]),
            ("F", ["FU", "FR", "FD", "FL"]),
            ("R", ["UR", "BR", "DR", "FR"]),
        ],
    )
    def test_turns_are_clockwise(self, turn: str, cycle: list[str]) -> None:
        rubik = zoo.machine("Rubik")
        start = rubik.with_start(_named(rubik, cycle[0]))
        expected = [*cycle[1:], cycle[0]]
        assert [set(q) for q in start.run(turn * 4)] == [set(q) for q in expected]
        assert [q[0] for q in start.run(turn * 4)] == [q[0] for q in expected]

    def test_turns_move_twenty_stickers(self) -> None:
        rubik = zoo.machine("Rubik")
        assert ((rubik.transitions != np.arange(48)).sum(axis=1) == 20).all()


def _named(rubik: Automaton, sticker: str) -> str:
    """The sticker on the same face of the same piece, whatever the order of faces."""
    return next(
        q for q in rubik.states if q[0] == sticker[0] and set(q) == set(sticker)
    )


class TestForgetful:
    def test_grid_has_walls(self) -> None:
        assert zoo.machine("Grid4").run("LRRRRLL") == tuple("0123321")

    def test_flip_flop(self) -> None:
        flip_flop = zoo.machine("FlipFlop")
        assert flip_flop.letters == ("⊥", "1", "2")
        assert flip_flop.run("⊥2⊥1⊥") == tuple("12211")
        assert zoo.machine("Memory5").run("⊥5⊥") == tuple("155")

    def test_abab(self) -> None:
        abab = zoo.machine("abab")
        assert "".join(abab.run("abababaaabab")) == "012301244444"
        assert abab.states[abab.start] == "3"

    @given(st.lists(st.integers(0, 3), max_size=12))
    def test_adder_adds(self, tokens: list[int]) -> None:
        word = [str(token) for token in [*tokens, 0]]
        states = zoo.machine("Adder").run(word)
        digits = sum(int(state[1]) << i for i, state in enumerate(states))
        first = sum((token & 1) << i for i, token in enumerate(tokens))
        second = sum((token >> 1) << i for i, token in enumerate(tokens))
        assert digits == first + second

    def test_adder_indices(self) -> None:
        states = zoo.machine("Adder").states
        assert states == ("(0,0)", "(1,0)", "(0,1)", "(1,1)")

    def test_permutation_reset(self) -> None:
        a = zoo.machine("PermReset4")
        assert len(a.letters) == 2 + 24
        assert a.run(["2134", "=1324", "2134"]) == ("2134", "1324", "2314")
        assert len(zoo.machine("PermReset2").letters) == 1 + 2


class TestDyck:
    @pytest.mark.parametrize(
        ("name", "stacks"), [("Dyck4,2", 31), ("Dyck4,8", 4681), ("Dyck3,3", 40)]
    )
    def test_numbers_of_stacks(self, name: str, stacks: int) -> None:
        a = zoo.machine(name)
        assert len([q for q in a.states if q != "error"]) == stacks

    def test_stacks(self) -> None:
        run = zoo.machine("Dyck4,2").run
        assert run("([])") == ("(", "([", "(", "ε")
        assert run("(]()")[1:] == ("error",) * 3
        assert run(")") == ("error",)
        assert run("((((") == ("(", "((", "(((", "((((")
        assert run("(((((")[-1] == "error"

    def test_many_kinds_of_brackets(self) -> None:
        a = zoo.machine("Dyck2,6")
        assert a.letters[-6:] == ("<", ">", "(5", ")5", "(6", ")6")
        assert a.run(["(6", "(5", ")5"]) == ("(6", "(6(5", "(6")


class TestSamplers:
    def words(
        self, name: str, count: int = 4000, length: int = 24
    ) -> tuple[Automaton, IntArray, IntArray]:
        a = zoo.machine(name)
        words = zoo.sampler(name)(np.random.default_rng(7), count, length)
        return a, words, a.semiautomaton.trace(words, a.start)

    def test_letters_are_uniform(self) -> None:
        a, words, _ = self.words("S5")
        share = np.bincount(words.ravel(), minlength=8) / words.size
        assert np.abs(share - 1 / 8).max() < 0.01
        assert len(a.letters) == 8

    def test_dyck_words_are_legal(self) -> None:
        a, _, trace = self.words("Dyck4,2")
        assert (trace != a.states.index("error")).all()

    def test_dyck_letters_are_uniform_among_the_legal(self) -> None:
        _, words, _ = self.words("Dyck4,2")
        assert abs((words[:, 0] == 0).mean() - 1 / 2) < 0.03
        after_open = words[words[:, 0] == 0, 1]
        share = np.bincount(after_open, minlength=4) / len(after_open)
        assert np.abs(share - [1 / 3, 1 / 3, 1 / 3, 0]).max() < 0.04

    def test_memories_write_half_the_time(self) -> None:
        _, words, _ = self.words("Memory5")
        share = np.bincount(words.ravel(), minlength=6) / words.size
        assert np.abs(share - [0.5, 0.1, 0.1, 0.1, 0.1, 0.1]).max() < 0.01

    def test_adder_words_end_with_padding(self) -> None:
        _, words, trace = self.words("Adder")
        assert (words[:, -1] == 0).all()
        assert (trace[:, -1] < 2).all()

    def test_half_of_the_abab_words_are_periodic(self) -> None:
        _, words, trace = self.words("abab")
        periodic = (words == np.arange(24) % 2).all(axis=1)
        assert abs(periodic.mean() - 1 / 2) < 0.03
        assert (trace[periodic] < 4).all()

    def test_resets_come_first_and_at_powers_of_two(self) -> None:
        _, words, _ = self.words("PermReset4")
        reset = words >= 2
        assert reset[:, 0].all()
        gaps = {int(g) for row in reset for g in np.diff(np.flatnonzero(row))}
        assert gaps == {1, 2, 4, 8, 16}

    def test_gaps_between_resets_are_uniform(self) -> None:
        _, words, _ = self.words("PermReset4", count=20000)
        second = (words[:, 1:] >= 2).argmax(axis=1) + 1
        share = np.bincount(second)[[1, 2, 4, 8, 16]] / len(second)
        assert np.abs(share - 1 / 5).max() < 0.02
