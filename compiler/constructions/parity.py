"""Sparse parity in one layer: which letters count depends on the position."""

from collections.abc import Sequence
from itertools import product
from math import prod

from krohn.algebra.automaton import Automaton
from krohn.algebra.structure import LayeredParity, as_layered_parity
from krohn.compiler.constructions.counter import LARGEST_SUM
from krohn.compiler.cost import check_written
from krohn.compiler.errors import CompileError
from krohn.program import (
    Map,
    MarkedSum,
    Operation,
    Position,
    PrefixSum,
    Program,
    Row,
    Token,
    table,
)

NAME = "parity"
SUMMARY = "set letters that do not count to 0, add up all, modulo 2"
SELECTED = "parity-selected"
SELECTED_SUMMARY = "attend to the positions that count, modulo 2 (Proposition 9)"
TABLE = "parity-table"

LARGEST_TABLE = 2**16
BOTH = {row: min(row) for row in product((0, 1), repeat=2)}


def parity(machine: Automaton, length: int) -> Program:
    """The parity of letters at given positions, for words up to ``length``.

    Letters that do not count are 0 before a uniform head adds up all of them. That takes
    a block more than `selected_parity`, and a table with a step for each letter.

    Raises:
        CompileError: If words of some length reach other than one state or two that all
            letters keep apart.
    """
    if length > LARGEST_SUM:
        raise CompileError(
            f"a parity would need a table of {length} sums; choose a shorter length"
        )
    found = _layers(machine, length)
    sums: dict[Row, int] = {(s,): s % 2 for s in range(length + 1)}
    operations = {
        **_increments(found),
        "sum": PrefixSum("increment"),
        "parity": Map(table(sums), ("sum",)),
    }
    return _program(machine, found, operations)


def selected_parity(machine: Automaton, length: int) -> Program:
    """The parity of letters at given positions, which a head selects.

    Proposition 9 of the thesis (section 4.2.7), with the repair of F5: the head looks at
    the positions that count, so that the table has one step for each of them.

    Raises:
        CompileError: If words of some length reach other than one state or two that all
            letters keep apart, or no position counts.
    """
    found = _layers(machine, length)
    operations = sum_channels(length, len(machine.letters), kinds(found))
    return _program(machine, found, operations)


def by_table(machine: Automaton, length: int) -> Program:
    """The parity of letters that are copied one by one, from a table of all 2^k values.

    Proposition 10 of the thesis (section 4.2.7), with the repair of F6: one uniform head
    adds up each letter that counts, which is 0 at all other positions, and undoes the
    average. A letter and its position are embedded one by one here and not together, so
    a block before keeps the letter at its position.

    Raises:
        CompileError: If words of some length reach other than one state or two that all
            letters keep apart, no position counts, or too many do.
    """
    found = _layers(machine, length)
    single = [(kind, (place,)) for kind, places in kinds(found) for place in places]
    operations: dict[str, Operation] = {}
    for name, operation in sum_channels(length, len(machine.letters), single).items():
        if isinstance(operation, MarkedSum):
            both = operation.source, operation.where
            operations[f"{name}.summand"] = Map(table(BOTH), both)
            operation = PrefixSum(f"{name}.summand")
        operations[name] = operation
    return _program(machine, found, operations)


def _layers(machine: Automaton, length: int) -> LayeredParity:
    check_written(length)
    found = as_layered_parity(machine, length)
    if found is None:
        raise CompileError(
            f"{machine.name} is no parity of positions: words of one length must "
            "reach at most two states, and each letter must keep or exchange these "
            "two"
        )
    return found


def _program(
    machine: Automaton, found: LayeredParity, operations: dict[str, Operation]
) -> Program:
    shown, outputs, decode = _read_out(found)
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=len(found.increments),
        operations={"token": Token(), **operations, **shown},
        outputs=outputs,
        decode=decode,
    )


Summand = tuple[tuple[int, ...], tuple[int, ...]]
"""The increment of each letter, and the positions at which it counts."""


def kinds(found: LayeredParity, first: int = 0) -> list[Summand]:
    """The positions that count, from ``first`` on, by the letters' increments there."""
    places: dict[tuple[int, ...], list[int]] = {}
    for t, kind in enumerate(found.increments, first + 1):
        if any(kind):
            places.setdefault(kind, []).append(t)
    return [(kind, tuple(at)) for kind, at in places.items()]


def sum_channels(
    length: int, letters: int, summands: Sequence[Summand], suffix: str = ""
) -> dict[str, Operation]:
    """A sum over the positions of each summand, and the parity of all sums."""
    if not summands:
        raise CompileError(
            "no letter counts at any position; there is nothing to select"
        )
    if prod(len(places) + 1 for _, places in summands) > LARGEST_TABLE:
        raise CompileError(
            f"a table of {len(summands)} sums would have more than {LARGEST_TABLE} rows; "
            f"the construction {NAME} adds them up"
        )
    operations: dict[str, Operation] = {}
    for i, (kind, places) in enumerate(summands):
        bits: dict[Row, int] = {(a,): bit for a, bit in enumerate(kind)}
        here = frozenset(places)
        marks = (int(t in here) for t in range(length + 1))
        operations |= {
            f"bit{i}{suffix}": Map(table({**bits, (letters,): 0}), ("token",)),
            f"counts{i}{suffix}": Position(tuple(marks)),
            f"sum{i}{suffix}": MarkedSum(f"bit{i}{suffix}", f"counts{i}{suffix}"),
        }
    grid = product(*(range(len(places) + 1) for _, places in summands))
    parities: dict[Row, int] = {row: sum(row) % 2 for row in grid}
    sums = tuple(f"sum{i}{suffix}" for i in range(len(summands)))
    operations[f"parity{suffix}"] = Map(table(parities), sums)
    return operations


def _increments(found: LayeredParity) -> dict[str, Operation]:
    """The letter's step of a parity at positions of its kind; nothing at BOS."""
    kinds = list(dict.fromkeys(found.increments))
    columns = list(dict.fromkeys(zip(*kinds, strict=True)))
    classes = [columns.index(c) for c in zip(*kinds, strict=True)]
    own = len(columns)  # BOS is no letter
    rows: dict[Row, int] = {
        (i, c): column[i] for i in range(len(kinds)) for c, column in enumerate(columns)
    }
    letter: dict[Row, int] = {(a,): c for a, c in enumerate([*classes, own])}
    first = kinds.index(found.increments[0])
    return {
        "letter": Map(table(letter), ("token",)),
        "kind": Position((first, *(kinds.index(k) for k in found.increments))),
        "increment": Map(table({**rows, (first, own): 0}), ("kind", "letter")),
    }


def _read_out(
    found: LayeredParity,
) -> tuple[dict[str, Operation], tuple[str, ...], dict[Row, int]]:
    """The place that, with the parity, tells the state; a table if it tells it twice."""
    places = list(dict.fromkeys(tuple(sorted(s.items())) for s in found.states))
    place = [places.index(tuple(sorted(s.items()))) for s in found.states]
    shown: dict[str, Operation] = {"place": Position(tuple(place))}
    meant: dict[Row, int] = {(p, i): q for i, s in enumerate(places) for p, q in s}
    if len(set(meant.values())) == len(meant):
        return shown, ("parity", "place"), meant
    some = next(iter(meant.values()))  # where words reach one state only
    grid = product((0, 1), range(len(places)))
    rows: dict[Row, int] = {row: meant.get(row, some) for row in grid}
    shown["state"] = Map(table(rows), ("parity", "place"))
    return shown, ("state",), {(q,): q for q in meant.values()}
