"""Layers over windows of letters: the scan, and the baselines beside it."""

from collections.abc import Mapping
from itertools import product
from math import ceil, isqrt, log10

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.minimisation import reachable
from krohn.algebra.structure import reached_pairs
from krohn.compiler import CompileError
from krohn.compiler.cost import Steps, levels, one_by_one, scanning
from krohn.compiler.machine_programs import letter_itself, machine_program, of_letter
from krohn.program import Map, Operation, Program, Row, Select, Shift, Table, table

# The log-depth scan: every machine in ⌈log2 T⌉ layers, or fewer (Theorem 10, repaired).

MOST_POINTS = 128


def scan(
    machine: Automaton, length: int, radix: int = 2, window: int | None = None
) -> Program:
    """The scan of a machine for words up to ``length``.

    After l levels the channels ``map{l}[0..m-1]`` hold the composition of the last 2^l
    letters' maps at every position, as a list of the images of the m points; level
    l + 1 selects among them by the map 2^l positions earlier (Lemma 14).

    Departures from the paper: BOS carries the identity, so one network serves every start
    state and the read-out takes the coordinate of the start state (E9); a look-back that
    leaves the word ends at BOS instead of in a block of padding; values are 0-based. With
    a faithful action of fewer points, these are composed instead of the states.

    Args:
        machine: Any machine.
        length: T.
        radix: How many windows one level composes: ⌈log_radix T⌉ layers of radix − 1
            heads (spec/shallower, section 4); the thesis takes 2.
        window: Of how many letters the maps are composed at least; of all if absent.

    Raises:
        CompileError: If the action that the machine claims does not determine its
            state, or moves too many points.
    """
    moved = len(machine.states if machine.action is None else machine.action[0])
    if moved > MOST_POINTS:
        size = float(moved) ** 4 * max(1, (length - 1).bit_length())
        raise CompileError(
            f"a scan of {moved} points would have {size:.0e} parameters; --arch rnn needs "
            "a unit for each state and letter only"
        )
    if machine.action is None:
        return _on_states(machine, length, radix, window or length)
    action = np.array(machine.action, dtype=np.int64)
    points = list(range(action.shape[1]))
    decode = reached_pairs(machine, points)
    if decode is None:
        raise CompileError(
            f"the action that {machine.name} states does not determine its state; "
            "remove the action from the file"
        )
    windows = radix, window or length
    return _program(machine, length, windows, action, points, decode)


def scan_steps(machine: Automaton, length: int, radix: int = 2) -> Steps[Program]:
    """The scan, after a bound."""
    if levels(length, radix):
        yield scanning(machine, length, radix)
    return scan(machine, length, radix)


def _on_states(machine: Automaton, length: int, radix: int, window: int) -> Program:
    """The points are the states that can be reached."""
    names = reachable(machine).states
    alive = np.array([machine.states.index(name) for name in names])
    place = np.zeros(len(machine.states), dtype=np.int64)
    place[alive] = np.arange(len(alive))
    action = place[machine.transitions[:, alive]]
    decode: dict[Row, int] = {(p,): int(q) for p, q in enumerate(alive)}
    start = [int(place[machine.start])]
    return _program(machine, length, (radix, window), action, start, decode)


def _program(
    machine: Automaton,
    length: int,
    windows: tuple[int, int],
    action: IntArray,
    read: list[int],
    decode: Mapping[Row, int],
) -> Program:
    """The scan of ``action`` ``(letters, points)``, read out at the points ``read``.

    ``windows``: the radix, and of how many letters the maps are composed.
    """
    points = range(action.shape[1])
    operations: dict[str, Operation] = {
        f"map0[{p}]": of_letter(action[:, p], p) for p in points
    }
    radix, window = windows
    levels, images = compose("", window, radix, len(points))
    outputs = tuple(images[p] for p in read)
    return machine_program(machine, length, operations | levels, outputs, decode)


def compose(
    prefix: str, length: int, radix: int, points: int
) -> tuple[dict[str, Operation], list[str]]:
    """Compositions of the maps ``{prefix}map0[p]`` over all letters so far.

    Returns:
        The channels, and the names of the last ones: the image of each point.
    """
    operations: dict[str, Operation] = {}
    width, level = 1, 0
    while width < length:
        level += 1
        windows = min(radix, ceil(length / width))
        operations |= _level(prefix, level, width, windows, points)
        width *= windows
    return operations, [f"{prefix}map{level}[{p}]" for p in range(points)]


def _level(
    prefix: str, level: int, width: int, windows: int, points: int
) -> dict[str, Operation]:
    """Maps over ``windows`` times as many letters, from maps over ``width`` letters.

    The heads of one layer fetch the maps of all earlier windows; then the MLP composes
    the last m + 1 of them from the last m and the one before.
    """
    below = [f"{prefix}map{level - 1}[{p}]" for p in range(points)]
    operations: dict[str, Operation] = {}
    fetched = {
        m: f"{prefix}back{level}" + (f".{m}" if m > 1 else "") for m in range(windows)
    }
    for m in range(1, windows):
        for p in range(points):
            operations[f"{fetched[m]}[{p}]"] = Shift(below[p], m * width)
    now = below
    for m in range(1, windows):
        last = m == windows - 1
        name = f"{prefix}map{level}" + ("" if last else f".{m}")
        names = [f"{name}[{p}]" for p in range(points)]
        for p, name in enumerate(names):
            operations[name] = Map(Select(), (f"{fetched[m]}[{p}]", *now))
        now = names
    return operations


# The sequential baseline: one layer for every letter (spec section 9).

MOST_STEPS = 400_000


def sequential_steps(machine: Automaton, length: int) -> Steps[Program]:
    """The sequential baseline, after a bound."""
    yield one_by_one(machine, length)
    return sequential(machine, length)


def sequential(machine: Automaton, length: int) -> Program:
    """One look-back by 1 and one transition table per layer, T layers.

    After layer l the channel ``state{l}`` is right at positions up to l; BOS holds the
    start state throughout.

    Raises:
        CompileError: If all its tables together would be too large.
    """
    letters, states = machine.transitions.shape
    if letters * states * length > MOST_STEPS:
        raise CompileError(
            f"its {length} layers would need tables of {letters * states:,} rows each"
        )
    alive = [machine.states.index(name) for name in reachable(machine).states]
    operations: dict[str, Operation] = {
        "letter": letter_itself(letters),
        "state0": of_letter([machine.start] * letters, machine.start),
    }
    step: dict[Row, int] = {
        (q, a): int(machine.transitions[a, q]) for q in alive for a in range(letters)
    }
    step[machine.start, letters] = machine.start
    transition = table(step)
    for t in range(1, length + 1):
        operations[f"before{t}"] = Shift(f"state{t - 1}", 1)
        operations[f"state{t}"] = Map(transition, (f"before{t}", "letter"))
    decode: dict[Row, int] = {(q,): q for q in alive}
    return machine_program(machine, length, operations, (f"state{length}",), decode)


# Baselines: several letters in each layer, up to all of them at once (section 3.4.1).
#
# One layer looks back by B positions for the state there, and at the last B letters; its
# table takes the state through them. After layer l positions up to l·B are right, so
# ⌈T/B⌉ layers are enough, with tables of |Q|·|Σ|^B rows. B = √T is the thesis' middle
# way, B = T memorises every word. BOS is a letter that stays, so that shorter chunks need
# no care.

MOST_ROWS = 10_000


def compose_in_chunks(machine: Automaton, length: int) -> Program:
    """About √T layers of about √T letters each.

    Raises:
        CompileError: If the tables would be too large.
    """
    return _in_chunks(machine, length, isqrt(length - 1) + 1)


def memorising(machine: Automaton, length: int) -> Program:
    """One layer with a table of all words.

    Raises:
        CompileError: If there are too many.
    """
    return _in_chunks(machine, length, length)


def _in_chunks(machine: Automaton, length: int, size: int) -> Program:
    """Layers that read ``size`` letters each."""
    alive = reachable(machine)
    function = _chunk(alive, size, starts=size < length)
    letters = len(machine.letters)
    operations: dict[str, Operation] = {"letter": letter_itself(letters)}
    read = ["letter"]
    for k in range(1, size):
        operations[f"letter-{k}"] = Shift("letter", k)
        read.insert(0, f"letter-{k}")
    if size == length:
        operations["state1"] = Map(function, tuple(read))
    else:
        operations["state0"] = of_letter([alive.start] * letters, alive.start)
    layers = -(-length // size)
    for layer in range(1, layers + 1) if size < length else ():
        operations[f"before{layer}"] = Shift(f"state{layer - 1}", size)
        operations[f"state{layer}"] = Map(function, (f"before{layer}", *read))
    decode: dict[Row, int] = {
        (q,): machine.states.index(name) for q, name in enumerate(alive.states)
    }
    return machine_program(machine, length, operations, (f"state{layers}",), decode)


def _chunk(machine: Automaton, size: int, starts: bool) -> Table:
    """The state after each chunk, with the state before it or from the start state.

    Raises:
        CompileError: If it has too many rows.
    """
    states, letters = len(machine.states), len(machine.letters) + 1
    before = range(states) if starts else [machine.start]
    # The number itself may be greater than any float.
    if log10(len(before)) + size * log10(letters) > log10(MOST_ROWS):
        least = 10 ** min(log10(len(before)) + size * log10(letters), 300)
        raise CompileError(
            f"tables of {size} letters would have at least {least:.0e} rows; choose a "
            "shorter length or the sequential construction"
        )
    moves = np.vstack([machine.transitions, np.arange(states)])
    words = np.array(list(product(range(letters), repeat=size)), dtype=np.int64)
    rows, values = [], []
    for q in before:
        state = np.full(len(words), q)
        for column in words.T:
            state = moves[column, state]
        first = np.full((len(words), int(starts)), q)
        rows.append(np.hstack([first, words]))
        values.append(state)
    return Table(np.vstack(rows), np.concatenate(values))
