"""Observations show what section 3.4.5.2.1 of the thesis shows."""

import numpy as np
import pytest

from krohn.algebra import zoo
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.regex import from_regex
from krohn.algebra.minimisation import minimise
from krohn.algebra.observation import OBSERVATIONS, observe


def test_stack_top() -> None:
    top = observe(zoo.machine("Dyck4,2"), "stack-top")
    assert top.run("([])]") == ("(", "[", "(", "ε", "error")


def test_stack_top_of_eight_kinds_has_nine_classes_and_an_error() -> None:
    top = observe(zoo.machine("Dyck4,8"), "stack-top")
    assert len(top.output.names) == 10
    assert top.run(["(7", "<", ">"]) == ("(7", "<", "(7")


def test_boundary() -> None:
    assert observe(zoo.machine("Grid4"), "boundary").run("LRRRRL") == tuple("100110")


def test_zero() -> None:
    assert observe(zoo.machine("C4"), "zero").run("1313") == tuple("0101")


def test_first_chair_is_the_first_entry() -> None:
    s5 = zoo.machine("S5")
    word = ["21345", "23451", "12435", "23451"]
    entries = tuple(state[0] for state in s5.run(word))
    assert observe(s5, "first-chair").run(word) == entries


def test_the_first_entry_moves_as_a_point() -> None:
    assert len(minimise(observe(zoo.machine("S5"), "first-chair")).states) == 5


@pytest.mark.parametrize(("name", "order"), [("S4", 24), ("A5", 60), ("S5", 120)])
def test_the_occupant_of_the_first_place_shows_the_whole_group(
    name: str, order: int
) -> None:
    assert len(minimise(observe(zoo.machine(name), "occupant")).states) == order


def test_occupant_is_the_inverse_image_of_one() -> None:
    s4 = zoo.machine("S4")
    shown = observe(s4, "occupant").output
    occupants = [shown.names[i] for i in shown.table]
    assert all(q[int(o) - 1] == "1" for q, o in zip(s4.states, occupants, strict=True))


def test_location_forgets_the_direction() -> None:
    word = ["drive", "drive", "toggle", "drive"]
    assert observe(zoo.machine("D8"), "location").run(word) == tuple("1221")


def test_accept() -> None:
    accept = observe(zoo.machine("abab"), "accept")
    said = {"0": "reject", "1": "accept"}
    for word, right in (("abababaaabab", "000100000000"), ("ababababa", "000100010")):
        assert accept.run(word) == tuple(said[bit] for bit in right)


def test_observing_keeps_the_machine() -> None:
    c4 = zoo.machine("C4")
    seen = observe(c4, "zero")
    assert seen.semiautomaton == c4.semiautomaton
    assert seen.start == c4.start
    assert np.array_equal(seen.output.table, [1, 0, 0, 0])
    assert seen.name == "C4 (zero)"


def test_unknown_observations_are_listed() -> None:
    with pytest.raises(MachineError, match="stack-top, balance"):
        observe(zoo.machine("C4"), "colour")


FITS = {
    "stack-top": ("Dyck4,2",),
    "balance": ("Dyck4,2", "Dyck3,1"),
    "boundary": ("Grid4", "Grid9"),
    "first-chair": ("S4", "A5", "PermReset4"),
    "occupant": ("S4", "A5", "PermReset4"),
    "zero": ("C4",),
    "location": ("D6", "D8"),
    "accept": ("abab",),
}


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_observations_know_their_machines(name: str) -> None:
    for machine in FITS[name]:
        assert observe(zoo.machine(machine), name).output is not None
    for machine in ("Q8", "Rubik", "Adder", "C2xC2"):
        with pytest.raises(MachineError, match="this observation needs"):
            observe(zoo.machine(machine), name)


def test_final_states_accept() -> None:
    seen = observe(from_regex("(ab)*|b"), "accept")
    assert seen.run("abab") == ("reject", "accept", "reject", "accept")
    assert seen.run("ba") == ("accept", "reject")


def test_balance_says_whether_a_word_is_in_the_language() -> None:
    seen = observe(zoo.machine("Dyck2,2"), "balance").run(list("([])") + list("[)("))
    assert seen == ("open", "open", "open", "balanced", "open", "wrong", "wrong")
