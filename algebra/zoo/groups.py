"""Machines whose letters are permutations: the groups of the thesis, section 3.4.5."""

from itertools import permutations
from math import prod

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.products import direct_product
from krohn.algebra.semiautomaton import IntArray, Semiautomaton

MOST_COUNTS = 2_000
MOST_POINTS = 8
_EXTRA_LETTERS = 6

# Quaternions as (sign, unit): the units 1, i, j, k form Klein's four-group up to sign.
_QUATERNIONS = ("1", "i", "j", "k", "-1", "-i", "-j", "-k")
_SIGNS = np.array([[0, 0, 0, 0], [0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1]])


def cyclic(n: int) -> Automaton:
    """The counter modulo ``n``, every element a letter (thesis, section 3.4.5.1.1).

    Raises:
        MachineError: If ``n`` is not in 1..2000.
    """
    require(1 <= n <= MOST_COUNTS, f"C{n}", f"take n from 1 to {MOST_COUNTS}")
    counts = np.arange(n)
    names = tuple(str(count) for count in range(n))
    table = (counts[:, None] + counts) % n
    return Automaton(Semiautomaton(table, names, names), name=f"C{n}")


def cyclic_product(moduli: tuple[int, ...]) -> Automaton:
    """A direct product of counters, the first modulus leftmost in names.

    Raises:
        MachineError: If the group has more than 2000 elements.
    """
    name = "x".join(f"C{n}" for n in moduli)
    small = 1 <= prod(moduli) <= MOST_COUNTS
    require(small, name, f"take at most {MOST_COUNTS} elements")
    return direct_product(*map(cyclic, moduli), name=name)


def dihedral(order: int) -> Automaton:
    """The car on a circle of ``order / 2`` places (thesis, Example 6).

    ``drive`` moves one place along the current direction, ``toggle`` turns round; the
    state ``(p,d)`` has index ``n·d + p``. A pose is the map x ↦ p ± x. Letters act on
    the car's own frame, that is on the right of the pose, so that their inverses
    compose as maps on the n places; these are the action, faithful from n = 3.

    Raises:
        MachineError: If the order is odd, below 4 or above 2000.
    """
    fits = order % 2 == 0 and 4 <= order <= MOST_COUNTS
    require(fits, f"D{order}", f"take an even order from 4 to {MOST_COUNTS}")
    n = order // 2
    place = np.arange(n)
    drive = np.append((place + 1) % n, n + (place - 1) % n)
    toggle = np.append(place + n, place)
    states = tuple(f"({p},{d})" for d in range(2) for p in range(n))
    inverses = np.stack([(place - 1) % n, -place % n])
    return Automaton(
        Semiautomaton(np.stack([drive, toggle]), ("drive", "toggle"), states),
        name=f"D{order}",
        action=as_action(inverses) if n > 2 else None,
    )


def quaternion() -> Automaton:
    """The quaternion group under right multiplication by 1, i, j and k.

    The thesis names no letters. The group is no semidirect product of smaller ones,
    and no action on fewer than its eight elements is faithful.
    """
    unit, sign = np.arange(8) % 4, np.arange(8) // 4
    letter = np.arange(4)[:, None]
    table = (unit ^ letter) + 4 * ((sign + _SIGNS[unit, letter]) % 2)
    return Automaton(Semiautomaton(table, _QUATERNIONS[:4], _QUATERNIONS), name="Q8")


def symmetric(n: int) -> Automaton:
    """All permutations of 1..n; a letter is composed after the state.

    Letters are the transposition (1 2), the n-cycle, and the first six further
    permutations but the identity in lexicographic order (fewer if there are no more);
    the thesis leaves the choice of the six open. A letter a takes the state π to
    a∘π (Definition 9), so that the action on the points gives π back.

    Raises:
        MachineError: If ``n`` is not in 2..8.
    """
    require(2 <= n <= MOST_POINTS, f"S{n}", f"take n from 2 to {MOST_POINTS}")
    elements = arrangements(n)
    further = map(tuple, elements[1 : 3 + _EXTRA_LETTERS].tolist())
    extra = [p for p in further if p not in generators(n)][:_EXTRA_LETTERS]
    return permutation_group(f"S{n}", np.array([*generators(n), *extra]), elements)


def alternating(n: int) -> Automaton:
    """The even permutations of 1..n; the letters are the 3-cycles (1 2 i).

    Raises:
        MachineError: If ``n`` is not in 3..8.
    """
    require(3 <= n <= MOST_POINTS, f"A{n}", f"take n from 3 to {MOST_POINTS}")
    letters = np.tile(np.arange(n), (n - 2, 1))
    for row, i in enumerate(range(2, n)):
        letters[row, [0, 1, i]] = [1, i, 0]
    elements = arrangements(n)
    return permutation_group(f"A{n}", letters, elements[_is_even(elements)])


def permutation_group(name: str, letters: IntArray, elements: IntArray) -> Automaton:
    """Permutations under composition with letters, started in the first element.

    Args:
        name: What to call the machine.
        letters: ``(letters, points)`` permutations of ``0..points-1``.
        elements: ``(states, points)`` permutations in lexicographic order.
    """
    return Automaton(
        Semiautomaton(
            composition_table(letters, elements),
            tuple(map(one_line, letters)),
            tuple(map(one_line, elements)),
        ),
        name=name,
        action=as_action(letters),
    )


def composition_table(letters: IntArray, elements: IntArray) -> IntArray:
    """The index of ``letter ∘ element`` for each, ``(letters, states)``."""
    weights = elements.shape[1] ** np.arange(elements.shape[1])[::-1]
    # Lexicographic order is the order of these keys, hence the binary search.
    found = np.searchsorted(elements @ weights, letters[:, elements] @ weights)
    return np.asarray(found, dtype=np.int64)


def arrangements(n: int) -> IntArray:
    """All permutations of 0..n-1 in lexicographic order, ``(n!, n)``."""
    return np.array(list(permutations(range(n))), dtype=np.int64)


def generators(n: int) -> tuple[tuple[int, ...], ...]:
    """The transposition of the first two points and the n-cycle i ↦ i + 1."""
    swap = (1, 0, *range(2, n))
    cycle = (*range(1, n), 0)
    return (swap,) if swap == cycle else (swap, cycle)


def one_line(permutation: IntArray) -> str:
    """The permutation of 0..n-1 as images of 1..n, ``"21345"``."""
    separator = "" if len(permutation) < 10 else ","
    return separator.join(str(point + 1) for point in permutation)


def as_action(maps: IntArray) -> tuple[tuple[int, ...], ...]:
    """The rows of ``(letters, points)`` as tuples."""
    return tuple(tuple(row) for row in maps.tolist())


def require(fits: bool, name: str, advice: str) -> None:
    """Refuse a family's parameter.

    Raises:
        MachineError: If it does not fit.
    """
    if not fits:
        raise MachineError(f"there is no machine {name} in the zoo: {advice}")


def _is_even(elements: IntArray) -> IntArray:
    later = np.triu(np.ones((elements.shape[1],) * 2, dtype=bool), k=1)
    inversions = (elements[:, :, None] > elements[:, None, :]) & later
    return np.flatnonzero(inversions.sum(axis=(1, 2)) % 2 == 0)
