"""The log-depth scan: every machine in ⌈log2 T⌉ layers, or fewer (Theorem 10, repaired)."""

from collections.abc import Mapping
from math import ceil

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.minimisation import reachable
from krohn.algebra.structure import reached_pairs
from krohn.compiler.cost import Steps, looking_back
from krohn.compiler.errors import CompileError
from krohn.program import Map, Operation, Program, Row, Select, Shift, Token, table

NAME = "scan"
MOST_POINTS = 128
SUMMARY = "compose transition maps over windows that double (Theorem 10)"


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
    depth = levels(length, radix)
    if depth:
        yield looking_back(machine, length, depth)
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
    operations: dict[str, Operation] = {"token": Token()}
    for p in points:
        images: dict[Row, int] = {
            (a,): int(action[a, p]) for a in range(action.shape[0])
        }
        images[(len(machine.letters),)] = p
        operations[f"map0[{p}]"] = Map(table(images), ("token",))
    radix, window = windows
    levels, outputs = compose("", window, radix, len(points))
    operations |= levels
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations=operations,
        outputs=tuple(outputs[p] for p in read),
        decode=decode,
    )


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


def levels(length: int, radix: int) -> int:
    """How many levels cover a word: the depth of a scan."""
    width, level = 1, 0
    while width < length:
        width, level = width * radix, level + 1
    return level


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
