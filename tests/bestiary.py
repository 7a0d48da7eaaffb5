"""Machines on which decompositions have gone wrong, and machines drawn at random."""

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from krohn.algebra import zoo
from krohn.algebra.automaton import IntArray, Semiautomaton


def machine(table: npt.ArrayLike) -> Semiautomaton:
    """A machine with letters a0, a1, … and states q0, q1, … from its table."""
    rows = np.array(table)
    letters = tuple(f"a{i}" for i in range(rows.shape[0]))
    states = tuple(f"q{i}" for i in range(rows.shape[1]))
    return Semiautomaton(rows, letters, states)


def from_one(*rows: str) -> Semiautomaton:
    """A machine whose letters are given by the images of 1, 2, … in a row of digits."""
    return machine([[int(image) - 1 for image in row] for row in rows])


def full_transformations(n: int) -> Semiautomaton:
    """A cycle, a transposition and a collapse: all maps of n states are words."""
    cycle = [*range(1, n), 0]
    return machine([cycle, [1, 0, *range(2, n)], [0, 0, *range(2, n)]])


def cerny(n: int) -> Semiautomaton:
    """A cycle and the move of one state: its shortest reset words are the longest."""
    return machine([[*range(1, n), 0], [1, *range(1, n)]])


BESTIARY = {
    "one state": machine([[0], [0]]),
    "one state, one letter": machine([[0]]),
    "identity alone": machine([[0, 1, 2]]),
    "constants alone": machine([[0, 0], [1, 1]]),
    "no word collapses": machine([[1, 2, 0], [1, 0, 2]]),
    "one letter with a tail": machine([[1, 2, 3, 4, 2]]),
    "unreachable states": machine([[1, 0, 3, 2], [0, 0, 0, 0]]),
    # Machines whose tiles are not images of the set that they tile.
    "foreign tiles, six states": from_one(
        "123111", "444546", "444564", "444455", "444123", "231444"
    ),
    "foreign tiles, four states": from_one("1211", "4443", "3344", "4412", "2144"),
    # No word takes all states to one: singletons must be added to the images.
    "no singleton image": from_one("51351", "54524"),
    "no singleton image, eight states": from_one("56783467", "34677846", "23466784"),
    "overlapping covers": from_one("4342", "1221", "3211"),
    "groups of points and of tiles differ": from_one("21453", "12222", "33345"),
    "the same, three states": from_one("213", "122"),
    "eight states, seven levels": from_one("22446688", "12355675", "12343434"),
    "six states, five levels": from_one("224466", "133453", "121212"),
    "three states": from_one("121", "331"),
    "five states": from_one("22333", "33354"),
    # More levels than states, more tiles than states (erratum E22).
    "more levels than states": machine([[3, 0, 1, 0], [3, 1, 2, 1]]),
    "five levels on four states": machine([[2, 3, 0, 2], [2, 1, 2, 3]]),
    "a cycle and a reset": machine([[1, 2, 3, 0], [2, 2, 2, 2]]),
    "T_3": full_transformations(3),
    "T_4": full_transformations(4),
    "Černý 5": cerny(5),
    "S4 with resets": machine([[1, 2, 3, 0], [1, 0, 2, 3], [0, 0, 0, 0]]),
    "S5 with resets": machine([[1, 2, 3, 4, 0], [1, 0, 2, 3, 4], [3, 3, 3, 3, 3]]),
    "two orbits": machine([[1, 2, 0, 4, 3], [1, 0, 2, 3, 4]]),
    **{
        name: zoo.machine(name).semiautomaton
        for name in ("C6", "C2xC2", "Q8", "D8", "A4", "S4", "A5", "Grid5", "Dyck2,2")
    },
    "carry": zoo.machine("Adder").semiautomaton,
    "(ab)*": zoo.machine("abab").semiautomaton,
}


@st.composite
def machines(
    draw: st.DrawFn, most_states: int = 6, most_letters: int = 3
) -> Semiautomaton:
    """Small machines; simple ones first when a test fails."""
    n = draw(st.integers(1, most_states))
    row = st.lists(st.integers(0, n - 1), min_size=n, max_size=n)
    letters = draw(st.integers(1, most_letters))
    return machine([draw(row) for _ in range(letters)])


def monoid(a: Semiautomaton) -> IntArray:
    """All transformations that words effect, the empty one too, by plain closure."""
    identity = tuple(range(len(a.states)))
    found, todo = {identity}, [identity]
    while todo:
        element = np.array(todo.pop())
        for letter in a.transitions:
            after = tuple(letter[element].tolist())
            if after not in found:
                found.add(after)
                todo.append(after)
    return np.array(sorted(found))
