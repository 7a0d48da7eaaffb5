"""Sparse parity in one layer: which letters count depends on the position."""

from itertools import product

from algebra.automaton import Automaton
from algebra.layered import LayeredParity, as_layered_parity
from compiler.errors import CompileError
from compiler.program import (
    Map,
    Operation,
    Position,
    PrefixSum,
    Program,
    Row,
    Token,
    table,
)

NAME = "parity"
SUMMARY = "add up the letters at the positions that count, modulo 2 (Proposition 10)"


def parity(machine: Automaton, length: int) -> Program:
    """The parity of letters at given positions, for words up to ``length``.

    Proposition 10 of the thesis (section 4.2.7) copies each bit to its own coordinate and
    needs a table of 2^k entries; Proposition 9 attends to the support. Here letters that
    do not count are 0 before a uniform head adds them up, and a table of the sum does.

    Raises:
        CompileError: If words of some length reach other than one state or two that all
            letters keep apart.
    """
    found = as_layered_parity(machine, length)
    if found is None:
        raise CompileError(
            f"{machine.name} is no parity of positions: words of one length must reach at "
            "most two states, which all letters keep or exchange"
        )
    sums: dict[Row, int] = {(s,): s % 2 for s in range(length + 1)}
    shown, outputs, decode = _read_out(found)
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations={
            "token": Token(),
            **_increments(found, len(machine.letters)),
            "sum": PrefixSum("increment"),
            "parity": Map(table(sums), ("sum",)),
            **shown,
        },
        outputs=outputs,
        decode=decode,
    )


def _increments(found: LayeredParity, letters: int) -> dict[str, Operation]:
    """What the letter adds at a position of its kind; nothing at BOS."""
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
