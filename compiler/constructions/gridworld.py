"""The gridworld: clamped walks in two layers (Theorem 12, by levels modulo 2n)."""

from collections.abc import Mapping

from krohn.algebra.automaton import Automaton
from krohn.algebra.structure import Corridor, as_corridor
from krohn.compiler.constructions.counter import LARGEST_SUM
from krohn.compiler.errors import CompileError
from krohn.program import (
    LatestMatch,
    Map,
    Operation,
    PrefixSum,
    Program,
    Row,
    Token,
    table,
)

NAME = "gridworld"
MOST_CELLS = 64
SUMMARY = "remember which levels a clamped walk met last (Theorem 12)"


def gridworld(machine: Automaton, length: int) -> Program:
    """The walk of a machine along a corridor of n cells.

    Let z be the free walk, the start cell plus all moves, and let a level be a value of
    z. The window of the n levels on which the clamped walk can be slides along with z
    when z leaves it, and then level z takes the place of level z ± n. So among the
    levels of each residue modulo n the window holds the one met last, and the clamped
    walk is in the cell whose number is how many levels of the window lie below z. For
    s = 1, …, n−1 either z + s or z + s − n is in the window: the latest position of the
    same residue shows which, by the parity of ⌊z/n⌋. Nothing but z mod 2n matters.

    Departures from the paper: there is no padding, since before the first letter all
    levels 0, …, n−1 of the window are even, and so BOS answers every query that
    matches nothing (E27, E28, E31); the walk is matched modulo n, so that the
    temperature is that of a memory and not T³ log T; 0/1 values are fetched, not
    positions, so that no head measures a time (E29, E30, E33); the read-out compares n
    codes (E32, E34).

    Raises:
        CompileError: If the machine is no corridor, or a letter moves by more than 1.
    """
    found = as_corridor(machine)
    if found is None:
        raise CompileError(
            f"{machine.name} is no gridworld: its states must lie on a line along which "
            "every letter moves by a fixed distance, up to the walls"
        )
    operations: dict[str, Operation] = {"token": Token()}
    operations |= channels(found, machine, length, "")
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations=operations,
        outputs=outputs(found, ""),
        decode={code: q for q, code in enumerate(codes(found))},
    )


def channels(
    found: Corridor, machine: Automaton, length: int, prefix: str
) -> Mapping[str, Operation]:
    """The free walk, which levels were met last, and the outputs.

    Raises:
        CompileError: If a letter moves by more than 1, or there are too many cells.
    """
    if len(machine.states) > MOST_CELLS:
        raise CompileError(
            f"a gridworld of more than {MOST_CELLS} cells has tables too large to prove"
        )
    far = [a for a, k in zip(machine.letters, found.moves, strict=True) if abs(k) > 1]
    if far:
        raise CompileError(
            f"{machine.name} is a gridworld, but its letter {far[0]} moves by more than "
            "one cell; choose another construction"
        )
    if length > LARGEST_SUM:
        raise CompileError(
            f"a gridworld would need a table of {length} sums; choose a shorter length"
        )
    cells, start = len(found.cell), found.cell[machine.start]
    walk = _walk(found, length, prefix)
    return walk | _levels(cells, start, prefix) | _windows(cells, start, prefix)


def outputs(found: Corridor, prefix: str) -> tuple[str, ...]:
    """For s = 1, …, n−1: whether level z + s − n is in the window, and not z + s."""
    return tuple(f"{prefix}below{s}" for s in range(1, len(found.cell)))


def codes(found: Corridor) -> list[Row]:
    """The values of the outputs for each state: in cell c the last c of them are 1."""
    last = len(found.cell) - 1
    return [(0,) * (last - cell) + (1,) * cell for cell in found.cell]


def _walk(found: Corridor, length: int, prefix: str) -> dict[str, Operation]:
    """The steps up and the steps down, each counted and reduced modulo 2n.

    Two sums of ones are as exact as one sum of ±1 would be; one sum of residues that
    are not negative would be 2n − 1 times as large.
    """
    modulus = 2 * len(found.cell)
    residues = table({(s,): s % modulus for s in range(length + 1)})
    operations: dict[str, Operation] = {}
    for name, step in (("up", 1), ("down", -1)):
        rows: dict[Row, int] = {
            (a,): int(move == step) for a, move in enumerate(found.moves)
        }
        rows[(len(found.moves),)] = 0
        operations[f"{prefix}{name}"] = Map(table(rows), ("token",))
        operations[f"{prefix}{name}s"] = PrefixSum(f"{prefix}{name}")
        operations[f"{prefix}{name}wards"] = Map(residues, (f"{prefix}{name}s",))
    return operations


def _levels(cells: int, start: int, prefix: str) -> dict[str, Operation]:
    """The residue modulo n of each level that the walk meets, and of which lap it is."""
    return {
        f"{prefix}level": _of_walk(cells, start, 1, prefix),
        f"{prefix}lap": _of_walk(cells, start, cells, prefix),
    }


def _windows(cells: int, start: int, prefix: str) -> dict[str, Operation]:
    """Which of the levels z + s and z + s − n was met last, for s = 1, …, n−1."""
    differs = table({(p, q): int(p != q) for p in range(2) for q in range(2)})
    operations: dict[str, Operation] = {}
    for s in range(1, cells):
        met, lap = f"{prefix}met{s}", f"{prefix}lap{s}"
        operations[f"{prefix}target{s}"] = _of_walk(cells, start + s, 1, prefix)
        operations[lap] = _of_walk(cells, start + s, cells, prefix)
        operations[met] = LatestMatch(
            f"{prefix}lap", f"{prefix}level", f"{prefix}target{s}"
        )
        operations[f"{prefix}below{s}"] = Map(differs, (met, lap))
    return operations


def _of_walk(cells: int, start: int, unit: int, prefix: str) -> Map:
    """The walk z from ``start``: z modulo n (unit 1), or ⌊z/n⌋ modulo 2 (unit n)."""
    both = range(2 * cells)
    walk = {(u, v): (start + u - v) % (2 * cells) for u in both for v in both}
    rows: dict[Row, int] = {
        pair: z % cells if unit == 1 else z // cells for pair, z in walk.items()
    }
    return Map(table(rows), (f"{prefix}upwards", f"{prefix}downwards"))
