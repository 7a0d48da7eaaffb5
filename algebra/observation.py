"""Observation maps: the part of a state that the thesis shows instead of all of it.

Each one gives the same machine with outputs on states (thesis, section 3.4.5.2.1).
"""

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from krohn.algebra.automaton import Automaton, Output, shorten
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.assembly import acceptance
from krohn.algebra.wording import near

EMPTY, ERROR = "ε", "error"
_STACK = re.compile(r"(?:[(\[{<]\d*)+")


def stack_top(a: Automaton) -> Automaton:
    """The last open bracket of a stack, or that the stack is empty or in error.

    Raises:
        MachineError: If the states are not stacks.
    """
    _need_stacks(a)
    tops = [q if q == ERROR else re.split(r"(?=[(\[{<])", q)[-1] for q in a.states]
    return _showing(a, tops)


def boundary(a: Automaton) -> Automaton:
    """Whether the cell of a corridor is the first or the last one, ``"0"`` or ``"1"``.

    Raises:
        MachineError: If the machine is no corridor.
    """
    corridor = _has_numbered_states(a) and {"L", "R"} <= set(a.letters)
    _demand(a, corridor, "states 0, 1, … and letters L and R, as Grid9 has")
    last = len(a.states) - 1
    return _showing_bits(a, [q in (0, last) for q in range(last + 1)])


def first_chair(a: Automaton) -> Automaton:
    """Where a permutation takes the first point: π(1), the first entry.

    Letters are composed after the state, so π(1) moves as one point under the letters.

    Raises:
        MachineError: If the states are not permutations.
    """
    return _showing(a, [entries[0] for entries in _permutations(a)])


def occupant(a: Automaton) -> Automaton:
    """Which point a permutation takes to the first one: the inverse image of 1.

    Letters are composed after the state, so that in time all of the permutation
    shows: no smaller machine shows the same.

    Raises:
        MachineError: If the states are not permutations.
    """
    return _showing(a, [str(p.index("1") + 1) for p in _permutations(a)])


def zero(a: Automaton) -> Automaton:
    """Whether a count is 0, ``"0"`` or ``"1"`` (on C4: divisibility by four).

    Raises:
        MachineError: If the states are not numbered.
    """
    _demand(a, _has_numbered_states(a), "states 0, 1, …, as C4 has")
    return _showing_bits(a, [q == "0" for q in a.states])


def location(a: Automaton) -> Automaton:
    """The place of a car, without its direction.

    Raises:
        MachineError: If the states are not of the form ``(place,direction)``.
    """
    matches = [re.fullmatch(r"\((\d+),[01]\)", q) for q in a.states]
    places = [match.group(1) for match in matches if match]
    fits = len(places) == len(a.states) and set(a.letters) == {"drive", "toggle"}
    _demand(a, fits, "states (place,direction), as D8 has")
    return _showing(a, places)


def accept(a: Automaton) -> Automaton:
    """Whether a word is accepted, ``"accept"`` or ``"reject"``: whether the state is final.

    The machine of the zoo for (abab)* has no final states of its own; there it is 3.

    Raises:
        MachineError: If the machine has no final states.
    """
    final = acceptance(a)
    if final is None:
        fits = a.letters == ("a", "b") and a.states == tuple("01234")
        _demand(a, fits, "final states, as acceptors have (or those of abab)")
        final = [q == "3" for q in a.states]
    return replace(a, output=Output("states", np.array(final), ("reject", "accept")))


def balance(a: Automaton) -> Automaton:
    """Whether brackets are balanced, open, or wrong: enough to recognise the language.

    Raises:
        MachineError: If the states are not stacks.
    """
    _need_stacks(a)
    names = {EMPTY: "balanced", ERROR: "wrong"}
    return _showing(a, [names.get(q, "open") for q in a.states])


OBSERVATIONS: dict[str, Callable[[Automaton], Automaton]] = {
    "stack-top": stack_top,
    "balance": balance,
    "boundary": boundary,
    "first-chair": first_chair,
    "occupant": occupant,
    "zero": zero,
    "location": location,
    "accept": accept,
}


def observe(machine: Automaton, name: str) -> Automaton:
    """The machine with the outputs of the observation of this name.

    Raises:
        MachineError: If there is no such observation, or it is not for this machine.
    """
    if name not in OBSERVATIONS:
        raise MachineError(
            f"there is no observation {name!r}{near(name, OBSERVATIONS)}; choose one of "
            f"{', '.join(OBSERVATIONS)}"
        )
    observed = OBSERVATIONS[name](machine)
    return replace(observed, name=f"{machine.name} ({name})")


def _need_stacks(a: Automaton) -> None:
    fits = all(q in (EMPTY, ERROR) or _STACK.fullmatch(q) for q in a.states)
    _demand(a, fits, "states that are stacks of brackets, as Dyck4,2 has")


def _demand(a: Automaton, fits: bool, what: str) -> None:
    if not fits:
        raise MachineError(
            f"this observation needs {what}; the states of {a.name} are "
            f"{shorten(a.states, 4)}"
        )


def _has_numbered_states(a: Automaton) -> bool:
    return a.states == tuple(str(q) for q in range(len(a.states)))


def _permutations(a: Automaton) -> list[list[str]]:
    permutations = [q.split(",") if "," in q else list(q) for q in a.states]
    points = [str(i + 1) for i in range(len(permutations[0]))]
    fits = all(sorted(p) == sorted(points) for p in permutations)
    _demand(a, fits, "states that are permutations such as 213, as S5 has")
    return permutations


def _showing(a: Automaton, shown: list[str]) -> Automaton:
    names = tuple(dict.fromkeys(shown))
    table = np.array([names.index(output) for output in shown])
    return replace(a, output=Output("states", table, names))


def _showing_bits(a: Automaton, shown: list[bool]) -> Automaton:
    return replace(a, output=Output("states", np.array(shown), ("0", "1")))
