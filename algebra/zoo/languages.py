"""Machines that forget: memories, gridworlds, bracket languages, the adder."""

from itertools import product

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.products import UNDEFINED, complete
from krohn.algebra.semiautomaton import IntArray, Semiautomaton
from krohn.algebra.zoo.groups import (
    arrangements,
    composition_table,
    generators,
    one_line,
    require,
)

MOST_CELLS = 10_000
MOST_DEPTH = 64
MOST_STACKS = 50_000
MOST_RESET_POINTS = 6
EMPTY_STACK = "ε"
ERROR = "error"
_BRACKETS = ("()", "[]", "{}", "<>")


def memory(values: int, name: str | None = None) -> Automaton:
    """A cell that is written or kept (thesis, Example 2 and Definition 5).

    Letters are ``⊥``, which keeps, and one for each value; the first value is the
    start. Two values make the flip-flop.

    Raises:
        MachineError: If ``values`` is not in 2..2000.
    """
    require(2 <= values <= 2_000, f"Memory{values}", "take 2 to 2000 values")
    kept = np.arange(values)
    table = np.concatenate([kept[None], np.repeat(kept[:, None], values, axis=1)])
    names = tuple(str(value + 1) for value in range(values))
    semiautomaton = Semiautomaton(table, ("⊥", *names), names)
    return Automaton(semiautomaton, name=name or f"Memory{values}")


def grid(cells: int) -> Automaton:
    """A corridor of cells 0..n-1 with walls, letters L and R (thesis, Example 3).

    As in the experiments there is no letter that stays.

    Raises:
        MachineError: If ``cells`` is not in 2..10000.
    """
    require(2 <= cells <= MOST_CELLS, f"Grid{cells}", f"take 2 to {MOST_CELLS} cells")
    cell = np.arange(cells)
    table = np.stack([np.maximum(cell - 1, 0), np.minimum(cell + 1, cells - 1)])
    states = tuple(str(i) for i in range(cells))
    return Automaton(Semiautomaton(table, ("L", "R"), states), name=f"Grid{cells}")


def dyck(depth: int, kinds: int) -> Automaton:
    """Stacks of at most ``depth`` open brackets of ``kinds`` kinds.

    The thesis writes depth first (many papers swap the two) and leaves illegal
    letters undefined; here they lead to an absorbing error (erratum E37).

    Raises:
        MachineError: If a parameter is below 1, the depth above 64, or there are more
            than 50000 stacks.
    """
    name = f"Dyck{depth},{kinds}"
    require(depth >= 1 and kinds >= 1, name, "take a depth and kinds of at least 1")
    few = depth <= MOST_DEPTH and sum(kinds**i for i in range(depth + 1)) <= MOST_STACKS
    require(few, name, f"take depth up to {MOST_DEPTH} and {MOST_STACKS} stacks")
    stacks = [s for i in range(depth + 1) for s in product(range(kinds), repeat=i)]
    brackets = [_bracket(kind) for kind in range(kinds)]
    letters = [side for pair in brackets for side in pair]
    states = ["".join(brackets[kind][0] for kind in s) or EMPTY_STACK for s in stacks]
    machine = complete(_stack_moves(stacks, kinds), letters, states, "sink", ERROR)
    return Automaton(machine, name=name)


def abab() -> Automaton:
    """The language (abab)*: four states in a circle and a trap, started in 3.

    The machine accepts in state 3. The thesis's printed example of the observation is
    garbled (erratum E36); its example of the states, abababaaabab to 012301244444,
    is right.
    """
    table = np.full((2, 5), 4)
    table[[0, 1, 0, 1], [3, 0, 1, 2]] = [0, 1, 2, 3]
    semiautomaton = Semiautomaton(table, ("a", "b"), tuple("01234"))
    return Automaton(semiautomaton, start=3, name="abab")


def adder() -> Automaton:
    """Adding two binary numbers, lowest bits first.

    The letter b₀ + 2b₁ carries a bit of each number; the state ``(digit,carry)`` has
    index ``digit + 2·carry`` and starts at zero.
    """
    letter = np.arange(4)
    bits = letter % 2 + letter // 2
    carry = np.arange(4) // 2
    table = bits[:, None] + carry
    states = tuple(f"({digit},{carry})" for carry in range(2) for digit in range(2))
    return Automaton(Semiautomaton(table, tuple("0123"), states), name="Adder")


def permutation_reset(n: int) -> Automaton:
    """Permutations of 1..n, two generators, and a reset to each permutation.

    The letter ``=2134`` makes the state 2134, whatever it was (thesis, Definition 7).

    Raises:
        MachineError: If ``n`` is not in 2..6.
    """
    fits = 2 <= n <= MOST_RESET_POINTS
    require(fits, f"PermReset{n}", f"take n from 2 to {MOST_RESET_POINTS}")
    elements, moves = arrangements(n), np.array(generators(n))
    resets = np.repeat(np.arange(len(elements))[:, None], len(elements), axis=1)
    table = np.concatenate([composition_table(moves, elements), resets])
    states = tuple(map(one_line, elements))
    letters = (*map(one_line, moves), *(f"={state}" for state in states))
    return Automaton(Semiautomaton(table, letters, states), name=f"PermReset{n}")


def _bracket(kind: int) -> tuple[str, str]:
    if kind < len(_BRACKETS):
        return _BRACKETS[kind][0], _BRACKETS[kind][1]
    return f"({kind + 1}", f"){kind + 1}"


def _stack_moves(stacks: list[tuple[int, ...]], kinds: int) -> IntArray:
    """The legal moves ``(2·kinds, stacks)``: opening and closing for each kind."""
    index = {stack: i for i, stack in enumerate(stacks)}
    table = np.full((2 * kinds, len(stacks)), UNDEFINED)
    for i, stack in enumerate(stacks):
        for kind in range(kinds):
            table[2 * kind, i] = index.get((*stack, kind), UNDEFINED)
        if stack:
            table[2 * stack[-1] + 1, i] = index[stack[:-1]]
    return table
