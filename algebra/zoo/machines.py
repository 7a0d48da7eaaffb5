"""The zoo's machines: permutations, parities, and machines that forget."""

from itertools import permutations, product
from math import prod

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray, Output, Semiautomaton
from krohn.algebra.errors import MachineError
from krohn.algebra.minimisation import reachable

# Machines whose letters are permutations: the groups of the thesis, section 3.4.5.


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
    require(1 <= n <= MOST_COUNTS, f"C{n}", f"C1 to C{MOST_COUNTS} are")
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
    from krohn.algebra.products import direct_product

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
    require(fits, f"D{order}", f"D4, D6, … D{MOST_COUNTS} are")
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
    require(2 <= n <= MOST_POINTS, f"S{n}", f"S2 to S{MOST_POINTS} are")
    elements = arrangements(n)
    further = map(tuple, elements[1 : 3 + _EXTRA_LETTERS].tolist())
    extra = [p for p in further if p not in generators(n)][:_EXTRA_LETTERS]
    return permutation_group(f"S{n}", np.array([*generators(n), *extra]), elements)


def alternating(n: int) -> Automaton:
    """The even permutations of 1..n; the letters are the 3-cycles (1 2 i).

    Raises:
        MachineError: If ``n`` is not in 3..8.
    """
    from krohn.algebra.groups.permutations import is_even

    require(3 <= n <= MOST_POINTS, f"A{n}", f"A3 to A{MOST_POINTS} are")
    letters = np.tile(np.arange(n), (n - 2, 1))
    for row, i in enumerate(range(2, n)):
        letters[row, [0, 1, i]] = [1, i, 0]
    elements = arrangements(n)
    return permutation_group(f"A{n}", letters, elements[is_even(elements)])


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
    indices = np.searchsorted(elements @ weights, letters[:, elements] @ weights)
    return np.asarray(indices, dtype=np.int64)


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
        raise MachineError(f"{name} is not in the zoo: {advice}")


# Sparse parity: how many ones stand at given positions, modulo 2; trees of parities.


MOST_POSITIONS = 2_000


def sparse_parity(positions: int, *support: int) -> Automaton:
    """Parity of the bits at the positions in ``support``, for words up to ``positions``.

    Thesis, Definition 23: the product of x_i over i in S is −1 exactly if the number of
    i in S with x_i = −1 is odd; the letter 1 stands for −1 (read as +1 it would flip the
    answer for odd |S|). States ``t,p`` count positions; beyond the last one nothing
    changes. The output is the parity.

    Args:
        positions: d.
        support: S, numbers in 1..d, ascending.

    Raises:
        MachineError: If S is empty, not ascending or not in 1..d, or d is above 2000.
    """
    name = f"Parity{positions}@{','.join(map(str, support))}"
    ascending = list(support) == sorted(set(support))
    inside = bool(support) and 1 <= support[0] and support[-1] <= positions
    fits = ascending and inside and positions <= MOST_POSITIONS
    advice = f"name ascending positions from 1 to d, d at most {MOST_POSITIONS}"
    require(fits, name, advice)
    place, parity = np.divmod(np.arange(2 * positions + 2), 2)
    after = np.minimum(place + 1, positions)
    counts = np.isin(after, support) & (place < positions)
    table = np.stack([2 * after + parity, 2 * after + (parity ^ counts)])
    states = tuple(f"{t},{p}" for t, p in zip(place, parity, strict=True))
    output = Output("states", parity, ("even", "odd"))
    machine = Semiautomaton(table, ("0", "1"), states)
    return reachable(Automaton(machine, output=output, name=name))


def parity_tree(depth: int, variables: int) -> Automaton:
    """The leaf of a binary tree in which parities choose the way.

    Thesis, section 4.2.7.3, with the path code repaired (F7): the nodes 1, 2, …, 2^D − 1
    are in heap order, and node v reads the bits (v − 1)k + 1, …, vk. An odd number of
    ones, a product of −1, leads to the left child 2v, an even one to 2v + 1.

    A state is the position, the node that the path has come to, and the parity that was
    read of it: bits off the path are forgotten, and so is the path above. The output
    is the leaf, 1 to 2^D from the left, that is reached if all bits to come are 0.

    Args:
        depth: D.
        variables: k.

    Raises:
        MachineError: If one of them is 0, or there are more than 2000 bits.
    """
    name, leaves = f"ParityTree{depth},{variables}", 2**depth
    bits = (leaves - 1) * variables
    advice = f"name a depth and a number of bits, at least 1, {MOST_POSITIONS} in all"
    require(depth >= 1 and variables >= 1 and bits <= MOST_POSITIONS, name, advice)
    states, rows = [(0, 1, 0)], []
    index = {states[0]: 0}
    for state in states:  # grows on the way
        after = [_state_after(state, bit, variables, bits) for bit in (0, 1)]
        for new in after:
            if new not in index:
                index[new] = len(states)
                states.append(new)
        rows.append([index[new] for new in after])
    shown = np.array([_leaf(v, p, leaves) - leaves for _, v, p in states])
    names = tuple(f"{t},{v},{p}" for t, v, p in states)
    machine = Semiautomaton(np.array(rows).T, ("0", "1"), names)
    output = Output("states", shown, tuple(str(i + 1) for i in range(leaves)))
    return Automaton(machine, output=output, name=name)


def _state_after(
    state: tuple[int, int, int], bit: int, variables: int, bits: int
) -> tuple[int, int, int]:
    """The state after one more bit; nothing changes when all have been read."""
    t, node, parity = state
    if t == bits:
        return state
    if t // variables + 1 != node:
        return t + 1, node, parity
    if (t + 1) % variables:
        return t + 1, node, parity ^ bit
    return t + 1, 2 * node + (parity == bit), 0


def _leaf(node: int, parity: int, leaves: int) -> int:
    """Where the path ends if nothing but zeros follows."""
    while node < leaves:
        node, parity = 2 * node + (parity == 0), 0
    return node


# Rubik's cube as a machine that follows one sticker (thesis, Example 7).


# Outward normals: x to the right, y to the back, z up.
_NORMALS = {
    "U": (0, 0, 1),
    "L": (-1, 0, 0),
    "F": (0, -1, 0),
    "R": (1, 0, 0),
    "B": (0, 1, 0),
    "D": (0, 0, -1),
}


def rubik() -> Automaton:
    """The 48 stickers that move, under clockwise quarter turns of the six faces.

    A sticker is named by its face and then the other faces of its piece (``"UF"``,
    ``"ULB"``). The turns generate the group of the cube, which is not solvable; a
    word moves all stickers at once, and a state is where one of them is. The start is
    a corner's sticker; it reaches the 24 corner places and never an edge.
    """
    stickers = [
        (tuple(piece), face)
        for face, normal in _NORMALS.items()
        for piece in (np.indices((3, 3, 3)).reshape(3, -1).T - 1).tolist()
        if np.dot(piece, normal) == 1 and np.count_nonzero(piece) > 1
    ]
    index = {sticker: i for i, sticker in enumerate(stickers)}
    table = [
        [index[_turn(sticker, np.array(axis))] for sticker in stickers]
        for axis in _NORMALS.values()
    ]
    return Automaton(
        Semiautomaton(
            np.array(table), tuple(_NORMALS), tuple(map(_sticker_name, stickers))
        ),
        name="Rubik",
    )


def _turn(
    sticker: tuple[tuple[int, ...], str], axis: IntArray
) -> tuple[tuple[int, ...], str]:
    """The sticker's place after a clockwise quarter turn of the face with this normal."""
    piece, face = sticker
    if np.dot(piece, axis) != 1:
        return sticker
    normal = _quarter(np.array(_NORMALS[face]), axis)
    faces = {value: key for key, value in _NORMALS.items()}
    moved = _quarter(np.array(piece), axis)
    return tuple(moved.tolist()), faces[tuple(normal.tolist())]


def _quarter(vector: IntArray, axis: IntArray) -> IntArray:
    # Clockwise as seen from outside is by -90° about the outward normal.
    return np.asarray(axis * np.dot(axis, vector) - np.cross(axis, vector))


def _sticker_name(sticker: tuple[tuple[int, ...], str]) -> str:
    piece, face = sticker
    on = [key for key, normal in _NORMALS.items() if np.dot(piece, normal) == 1]
    return face + "".join(other for other in on if other != face)


# Machines that forget: memories, gridworlds, bracket languages, the adder.


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
    require(2 <= values <= 2_000, f"Memory{values}", "Memory2 to Memory2000 are")
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
    require(2 <= cells <= MOST_CELLS, f"Grid{cells}", f"Grid2 to Grid{MOST_CELLS} are")
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
    from krohn.algebra.products import complete

    machine = complete(_stack_moves(stacks, kinds), letters, states, ERROR)
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
    require(fits, f"PermReset{n}", f"PermReset2 to PermReset{MOST_RESET_POINTS} are")
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
    from krohn.algebra.products import UNDEFINED

    index = {stack: i for i, stack in enumerate(stacks)}
    table = np.full((2 * kinds, len(stacks)), UNDEFINED)
    for i, stack in enumerate(stacks):
        for kind in range(kinds):
            table[2 * kind, i] = index.get((*stack, kind), UNDEFINED)
        if stack:
            table[2 * stack[-1] + 1, i] = index[stack[:-1]]
    return table
