"""The variables that a network could hold: channels of Programs, and usual ones."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import lcm
from typing import Literal

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.brackets import as_brackets
from krohn.algebra.structure import Corridor, as_corridor
from krohn.compiler import CompileError
from krohn.compiler.constructions.registry import (
    CONSTRUCTIONS,
    SCAN,
    SEQUENTIAL,
    construct,
)
from krohn.compiler.machine_programs import forms
from krohn.instruments.compare.tasks.task import Task
from krohn.program import MarkedSum, PrefixSum, Program
from krohn.program.interpreter import interpret

# A variable: something that a network could hold after each letter of a word.


Kind = Literal["answer", "channel", "standard", "reference"]
"""The answer; a channel of a Program; a variable people look for; one that comes free."""

MOST_CLASSES = 128
"""So many values are told apart; S5 has 120 states. Of more, only numbers are kept."""


@dataclass(frozen=True, eq=False)
class VariableLocation:
    """The place of a variable in a derived network, where its effect can be computed.

    Attributes:
        construction: The name of the construction.
        program: Its Program.
        channels: The channels that are the variable, together.
    """

    construction: str
    program: Program
    channels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Variable:
    """A quantity after each letter of some words.

    Attributes:
        names: Its names; several names are one variable if their columns are
            equal up to renaming of values on all words at hand.
        kind: Its kind.
        classes: ``(count, length)`` values, numbered from 0 as they first occur.
        numbers: ``(count, length)`` the numbers for a regression; None if the values have
            no order.
        homes: Derived networks that have it.
    """

    names: tuple[str, ...]
    kind: Kind
    classes: IntArray
    numbers: IntArray | None = None
    homes: tuple[VariableLocation, ...] = ()

    @property
    def name(self) -> str:
        """The first of its names."""
        return self.names[0]

    @property
    def values(self) -> int:
        """How many values occur."""
        return int(self.classes.max(initial=-1)) + 1

    @property
    def told_apart(self) -> bool:
        """Whether its values are few enough to be classes."""
        return self.values <= MOST_CLASSES


def variable(
    name: str,
    kind: Kind,
    columns: IntArray,
    numeric: bool = False,
    homes: tuple[VariableLocation, ...] = (),
) -> Variable:
    """A variable from its values.

    Args:
        name: What to call it.
        kind: What it is.
        columns: ``(count, length)``, or ``(count, length, parts)`` of several parts.
        numeric: Whether the values are numbers that a regression may predict.
        homes: Derived networks that have it.
    """
    numbers = columns if numeric and columns.ndim == 2 else None
    return Variable((name,), kind, canonical(columns), numbers, homes)


def canonical(columns: IntArray) -> IntArray:
    """Values ``(count, length[, parts])`` numbered in the order in which they occur.

    Two columns are equal up to a bijection of their values exactly if this is equal.
    """
    shape = columns.shape[:2]
    rows = columns.reshape(shape[0] * shape[1], -1)
    code = np.zeros(len(rows), dtype=np.int64)
    for part in rows.T:  # one after the other: unique rows are found by slow sorting
        _, values = np.unique(part, return_inverse=True)
        _, code = np.unique(code * (values.max() + 1) + values, return_inverse=True)
    _, first = np.unique(code, return_index=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[code].reshape(shape))


def merge_equal(variables: list[Variable]) -> list[Variable]:
    """Each variable once, with the names and homes of all that are equal to it.

    The first one of its class decides the kind; constants are left out.
    """
    by_classes: dict[bytes, Variable] = {}
    for v in variables:
        if v.values < 2:
            continue
        key = v.classes.tobytes()
        known = by_classes.get(key)
        by_classes[key] = v if known is None else _merge_pair(known, v)
    return list(by_classes.values())


def _merge_pair(first: Variable, second: Variable) -> Variable:
    numbers = second.numbers if first.numbers is None else first.numbers
    names = (*first.names, *(n for n in second.names if n not in first.names))
    homes = (*first.homes, *second.homes)
    return replace(first, names=names, numbers=numbers, homes=homes)


def depends_only_on(v: Variable, given: IntArray) -> bool:
    """Whether the variable is a function of ``given`` ``(count, length)``."""
    pairs = np.unique(given * v.values + v.classes)
    return len(pairs) == len(np.unique(given))


def one_per_program(homes: tuple[VariableLocation, ...]) -> list[VariableLocation]:
    """For each Program all its channels that are the variable, exchanged together."""
    by_construction: dict[str, VariableLocation] = {}
    for home in homes:
        before = by_construction.get(home.construction)
        channels = (*(before.channels if before else ()), *home.channels)
        distinct = tuple(dict.fromkeys(channels))
        by_construction[home.construction] = replace(home, channels=distinct)
    return list(by_construction.values())


# Variables that people look for, whether or not a Program has them.


FARTHEST = 15
"""Distances beyond it are one class: 16 classes, and half of the desk's 32 letters."""

MOST_COUNTED = 16
"""Letters of larger alphabets are not counted one by one: a count needs occurrences."""

LARGEST_MODULUS = 64


def standard(task: Task, words: IntArray) -> Iterator[Variable]:
    """State, counts, last reset, last boundary, stack, letters; references last.

    Args:
        task: What is asked.
        words: ``(count, length)``.
    """
    machine, states = task.machine, task.states(words)
    if task.predicts == "class":
        yield variable("answer", "answer", task.label(words).labels)
    yield variable("state", "standard", states)
    start = np.full((len(words), 1), machine.start)
    before = np.concatenate([start, states[:, :-1]], axis=1)
    yield variable("state before the letter", "standard", before)
    yield from _counts(machine, words)
    yield from _resets(machine, words)
    yield from _boundaries(machine, words, states)
    yield from _stack(machine, states)
    yield variable("letter before", "standard", _back(words, 1, len(machine.letters)))
    yield from references(words)


def references(words: IntArray) -> Iterator[Variable]:
    """The letter and the position, which an embedding holds."""
    yield variable("letter", "reference", words)
    places = np.broadcast_to(np.arange(words.shape[1]), words.shape)
    yield variable("position", "reference", places, numeric=True)


def since(marked: IntArray) -> IntArray:
    """How many letters ago ``marked`` ``(count, length)`` was 1 last; t + 1 if never."""
    places = np.arange(marked.shape[1])
    last = np.maximum.accumulate(np.where(marked == 1, places, -1), axis=1)
    return np.asarray(places - last)


def _back(words: IntArray, by: int, nothing: int) -> IntArray:
    shifted = np.full_like(words, nothing)
    shifted[:, by:] = words[:, :-by]
    return shifted


def _counts(machine: Automaton, words: IntArray) -> Iterator[Variable]:
    if len(machine.letters) > MOST_COUNTED:
        return
    for a, letter in enumerate(machine.letters):
        count = np.cumsum(words == a, axis=1)
        yield variable(f"count of {letter}", "standard", count, numeric=True)
        for m in sorted({2, period(machine.transitions[a])}):
            if 1 < m <= LARGEST_MODULUS:
                name = f"count of {letter} mod {m}"
                yield variable(name, "standard", count % m)


def period(letter: IntArray) -> int:
    """The p with a^(n + p) = a^n for large n, of a letter's map ``(states,)``."""
    lengths = []
    for state in range(len(letter)):
        for _ in range(len(letter)):  # into its cycle
            state = int(letter[state])
        at, length = int(letter[state]), 1
        while at != state:
            at, length = int(letter[at]), length + 1
        lengths.append(length)
    return lcm(*lengths)


def _resets(machine: Automaton, words: IntArray) -> Iterator[Variable]:
    constant = (machine.transitions == machine.transitions[:, :1]).all(axis=1)
    if not constant.any() or len(machine.states) == 1:
        return
    resets = constant[words].astype(np.int64)
    yield from _last("reset", resets, machine.transitions[words, 0])


def oriented_corridor(machine: Automaton) -> Corridor | None:
    """The corridor that a machine is, with its first state below its last one."""
    corridor = as_corridor(machine)
    if corridor is None or corridor.cell[0] <= corridor.cell[-1]:
        return corridor
    cells = tuple(corridor.last - cell for cell in corridor.cell)
    return Corridor(cells, tuple(-move for move in corridor.moves))


def _boundaries(
    machine: Automaton, words: IntArray, states: IntArray
) -> Iterator[Variable]:
    """The walk, its extremes, the last wall and how long ago (thesis, Algorithm 1)."""
    corridor = oriented_corridor(machine)
    if corridor is None:
        return
    start = corridor.cell[machine.start]
    walk = start + np.cumsum(np.array(corridor.moves)[words], axis=1)
    yield variable("walk without walls", "standard", walk, True)
    lowest = np.minimum(np.minimum.accumulate(walk, axis=1), start)
    highest = np.maximum(np.maximum.accumulate(walk, axis=1), start)
    yield variable("lowest of the walk", "standard", lowest, True)
    yield variable("highest of the walk", "standard", highest, True)
    cells = np.array(corridor.cell)[states]
    at_wall = ((cells == 0) | (cells == corridor.last)).astype(np.int64)
    yield from _last("boundary", at_wall, cells)
    for name, wall in (("lower", 0), ("upper", corridor.last)):
        at_one = (cells == wall).astype(np.int64)
        ago = np.minimum(since(at_one), FARTHEST)
        yield variable(f"letters since the {name} wall", "standard", ago, True)


def _last(event: str, marked: IntArray, values: IntArray) -> Iterator[Variable]:
    ago = since(marked)
    yield variable(
        f"letters since {event}", "standard", np.minimum(ago, FARTHEST), True
    )
    places = np.arange(marked.shape[1]) - ago
    last_values = np.take_along_axis(values, np.maximum(places, 0), axis=1)
    which = np.where(places < 0, -1, last_values)
    yield variable(f"value at the last {event}", "standard", which)


def _stack(machine: Automaton, states: IntArray) -> Iterator[Variable]:
    brackets = as_brackets(machine)
    if brackets is None:
        return
    depths = np.array([-1 if s is None else len(s) for s in brackets.stacks])
    tops = np.array([-2 if s is None else (s or (-1,))[-1] for s in brackets.stacks])
    yield variable("stack depth", "standard", depths[states], True)
    yield variable("stack top", "standard", tops[states])


# The channels of every Program that serves a machine, as variables.


# The baseline's channels are the state of one position for each layer: no algorithm.
TRIED = (
    *(name for name in CONSTRUCTIONS if name != SEQUENTIAL),
    "semidirect",
    "series",
    "permutation-reset",
    "krohn-rhodes",
)
"""The constructions whose Programs are asked for variables."""

MOST_OPERATIONS = 600
"""A Program with more channels is left out, and said to be."""

QUOTIENT = " (quotient)"


def programs(machine: Automaton, length: int) -> tuple[dict[str, Program], list[str]]:
    """The Programs that serve a machine, small ones first, and the names of too large ones.

    Args:
        machine: With outputs, Programs say these, and its least quotient is tried too.
        length: T.
    """
    by_name: dict[str, Program] = {}
    large: list[str] = []
    for form in forms(machine):
        for name in TRIED:
            called = name + QUOTIENT * (form is not machine)
            try:
                program = construct(name, form, length)
            except CompileError:
                continue
            if len(program.operations) > MOST_OPERATIONS:
                large.append(called)
            else:
                by_name[called] = program
    small = sorted(by_name, key=lambda name: len(_families(by_name[name])))
    return {name: by_name[name] for name in small}, large


def channels(programs: Mapping[str, Program], words: IntArray) -> Iterator[Variable]:
    """The channels of Programs on words ``(count, length)``, Program by Program.

    Channels that differ in an index in brackets, the images of all points under one map,
    are one variable. A block's answer in a search for the value before (``@``) is none.
    """
    for construction, program in programs.items():
        values = interpret(program, words)
        for name, parts in _families(program).items():
            home = VariableLocation(construction, program, parts)
            yield variable(
                _variable_name(construction, name),
                "channel",
                together(values, parts),
                _counts_of_channels(program, parts),
                (home,),
            )


def together(values: Mapping[str, IntArray], parts: tuple[str, ...]) -> IntArray:
    """The values of channels after each letter, ``(count, length, parts)``."""
    columns = np.stack([values[name][:, 1:] for name in parts], axis=-1)
    return columns[..., 0] if len(parts) == 1 else columns


def _variable_name(construction: str, name: str) -> str:
    level = name.removeprefix("map")
    if construction.partition(" ")[0] == SCAN and level.isdigit():
        return f"{construction}: product of the last {2 ** int(level)} letters"
    return f"{construction}: {name}"


def _families(program: Program) -> dict[str, tuple[str, ...]]:
    """The channels by family name, and the outputs together."""
    channels_of: dict[str, tuple[str, ...]] = {"outputs": program.outputs}
    for name in program.operations:
        if "@" not in name:
            family = name.partition("[")[0]
            channels_of[family] = (*channels_of.get(family, ()), name)
    return channels_of


def _counts_of_channels(program: Program, parts: tuple[str, ...]) -> bool:
    operation = program.operations[parts[0]]
    return len(parts) == 1 and isinstance(operation, PrefixSum | MarkedSum)


# All variables of a task: which intermediate results could a network hold?


MOST_VARIABLES = 80
"""Probes of so many variables on five layers take about a minute on one core."""


REFERENCES = frozenset({"letter", "position"})
"""The variables of an embedding."""


@dataclass(frozen=True, eq=False)
class Variables:
    """The variables to look for in a network, on given words.

    Attributes:
        words: ``(count, length)`` letter indices.
        found: The variables: the answer, then standard ones, then channels; the letter
            and the position last, where they vary.
        answer: The answer, looked for or not; None if it is no state, or the
            letter or the position alone decides it.
        of_letter: Names of channels that are functions of the letter alone, which every
            network reads from its embedding: they are not probed.
        left_out: The variables that are not looked for, and why, in words.
    """

    words: IntArray
    found: tuple[Variable, ...]
    answer: Variable | None
    of_letter: tuple[str, ...]
    left_out: tuple[str, ...]

    def find_by_name(self, name: str) -> Variable:
        """The variable of a name.

        Raises:
            KeyError: If there is none.
        """
        for v in self.found:
            if name in v.names:
                return v
        raise KeyError(name)


def answering_machine(task: Task) -> Automaton:
    """The machine whose Programs answer the task: without outputs if states are asked."""
    if task.shows == "states":
        return replace(task.machine, output=None)
    return task.machine


def variables(task: Task, words: IntArray) -> Variables:
    """Every variable of a task on words ``(count, length)``.

    Channels of all Programs that serve the machine, and standard variables; each once,
    under all its names. Constants and functions of the letter or of the position alone
    are left out, but for the letter and the position themselves, to refer to.
    """
    serving_programs, large = programs(answering_machine(task), words.shape[1])
    each = merge_equal([*standard(task, words), *channels(serving_programs, words)])
    # Of one letter, or in words of one, there is nothing to refer to.
    known = [v for v in each if not REFERENCES.isdisjoint(v.names)]
    others = [v for v in each if v not in known]
    free = [v for v in others if depends_only_on(v, words)]
    places = np.broadcast_to(np.arange(words.shape[1]), words.shape)
    timed = [v for v in others if depends_only_on(v, places)]
    kept = [v for v in others if v not in free and v not in timed and _usable(v)]
    many = [v for v in others if not _usable(v)]
    reasons = [f"{name}: too many channels" for name in large]
    reasons += [f"{v.name}: too many values" for v in many]
    reasons += [f"{v.name}: too many variables" for v in kept[MOST_VARIABLES:]]
    return Variables(
        words,
        (*kept[:MOST_VARIABLES], *known),
        next((v for v in (*kept, *known, *many) if v.kind == "answer"), None),
        tuple(name for v in (*free, *timed) for name in v.names),
        tuple(reasons),
    )


def _usable(v: Variable) -> bool:
    return v.told_apart or v.numbers is not None
