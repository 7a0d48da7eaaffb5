"""Clamped walks along a line: by levels in two layers, or strides of any size in one."""

from krohn.algebra.automaton import Automaton
from krohn.algebra.structure import Corridor, as_corridor
from krohn.compiler import CompileError
from krohn.compiler.machine_programs import machine_program, of_letter, of_sum
from krohn.program import (
    Latest,
    LatestMatch,
    Map,
    Operation,
    PrefixSum,
    Program,
    Row,
    Sum,
    table,
)

DIFFERS = table({(p, q): int(p != q) for p in range(2) for q in range(2)})


def _corridor_of(machine: Automaton) -> Corridor:
    walk = as_corridor(machine)
    if walk is None:
        raise CompileError(
            f"{machine.name} is no gridworld: its states must lie on a line along which "
            "every letter moves by a fixed distance, up to the walls"
        )
    return walk


def _steps(found: Corridor, length: int, prefix: str) -> dict[str, Operation]:
    """The steps up and the steps down, each counted and reduced modulo 2n.

    Two sums of numbers that are not negative are as exact as one sum of both signs would
    be; one sum of residues would be up to 2n − 1 times as large.
    """
    modulus, made = 2 * len(found.cell), dict[str, Operation]()
    for name, sign in (("up", 1), ("down", -1)):
        steps = [max(sign * move, 0) for move in found.moves]
        made[f"{prefix}{name}"] = of_letter(steps, 0)
        made[f"{prefix}{name}s"] = PrefixSum(f"{prefix}{name}")
        made[f"{prefix}{name}wards"] = of_sum(
            f"{prefix}{name}s", max(steps) * length, lambda s: s % modulus
        )
    return made


# The gridworld: clamped walks in two layers (Theorem 12, by levels modulo 2n).

MOST_LEVELS = 64


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
        CompileError: If the machine is no corridor, a letter moves by more than 1, or
            there are too many cells.
    """
    walk = _corridor_of(machine)
    if len(machine.states) > MOST_LEVELS:
        raise CompileError(
            f"a gridworld of more than {MOST_LEVELS} cells has tables too large to prove"
        )
    far = [a for a, k in zip(machine.letters, walk.moves, strict=True) if abs(k) > 1]
    if far:
        raise CompileError(
            f"{machine.name} is a gridworld, but its letter {far[0]} moves by more than "
            "one cell; choose another construction"
        )
    cells, start = len(walk.cell), walk.cell[machine.start]
    made = _steps(walk, length, "")
    # The residue modulo n of each level that the walk meets, and of which lap it is.
    made |= {"level": _of_walk(cells, start, 1), "lap": _of_walk(cells, start, cells)}
    for s in range(1, cells):  # which of the levels z + s and z + s − n was met last
        made[f"target{s}"] = _of_walk(cells, start + s, 1)
        made[f"lap{s}"] = _of_walk(cells, start + s, cells)
        made[f"met{s}"] = LatestMatch("lap", "level", f"target{s}")
        made[f"below{s}"] = Map(DIFFERS, (f"met{s}", f"lap{s}"))
    outputs = tuple(f"below{s}" for s in range(1, cells))
    decode: dict[Row, int] = {
        (0,) * (cells - 1 - cell) + (1,) * cell: q for q, cell in enumerate(walk.cell)
    }
    return machine_program(machine, length, made, outputs, decode)


def _of_walk(cells: int, start: int, unit: int) -> Map:
    """The walk z from ``start``: z modulo n (unit 1), or ⌊z/n⌋ modulo 2 (unit n)."""
    both = range(2 * cells)
    walk = {(u, v): (start + u - v) % (2 * cells) for u in both for v in both}
    rows: dict[Row, int] = {
        pair: z % cells if unit == 1 else z // cells for pair, z in walk.items()
    }
    return Map(table(rows), ("upwards", "downwards"))


# Corridors: clamped walks of any stride, by the levels of each residue met last.

MOST_CELLS = 90


def corridor(machine: Automaton, length: int) -> Program:
    """The walk of a machine along a corridor of n cells, by strides of any size.

    A stride of m cells is m steps in one direction, taken at one position: it meets the
    levels on its way, at most n − 1 of them and so at most one of each residue modulo n.
    For every residue one head finds the latest position that met such a level, and reads
    the parity of its lap. The window of n levels on which the clamped walk can be holds
    these levels (docs/constructions.md); the cell is how many lie below the walk.

    Raises:
        CompileError: If the machine is no corridor, or too long a one.
    """
    walk = _corridor_of(machine)
    channels = corridor_channels(walk, machine.start, length, "")
    decode: dict[Row, int] = {(cell,): q for q, cell in enumerate(walk.cell)}
    return machine_program(machine, length, channels, ("cell",), decode)


def corridor_channels(
    found: Corridor, start: int, length: int, prefix: str
) -> dict[str, Operation]:
    """The free walk, the levels met last, and ``{prefix}cell``.

    Raises:
        CompileError: If there are too many cells, or sums.
    """
    cells, first = len(found.cell), found.cell[start]
    if cells > MOST_CELLS:
        raise CompileError(
            f"a corridor of more than {MOST_CELLS} cells has tables too large to prove"
        )
    made, both = _steps(found, length, prefix), range(2 * cells)
    # The walk without walls, modulo 2n, and which stride the letter was.
    walk: dict[Row, int] = {
        (u, v): (first + u - v) % (2 * cells) for u in both for v in both
    }
    made[f"{prefix}walk"] = Map(table(walk), (f"{prefix}upwards", f"{prefix}downwards"))
    kinds = sorted(set(found.moves))
    made[f"{prefix}stride"] = of_letter(map(kinds.index, found.moves), len(kinds))
    for r in range(cells):
        made |= _level(found, first, r, prefix)
    below = tuple(f"{prefix}below{r}" for r in range(cells))
    made[f"{prefix}cell"] = Map(Sum(), below)
    return made


def _level(found: Corridor, start: int, r: int, prefix: str) -> dict[str, Operation]:
    """Whether the level of residue ``r`` in the window lies below the walk."""
    cells, kinds = len(found.cell), sorted(set(found.moves))
    flags: dict[Row, int] = {(start, len(kinds)): 1}
    laps: dict[Row, int] = {(start, len(kinds)): 0}
    for walk in range(2 * cells):
        for kind, move in enumerate(kinds):
            # What was met last is the walk itself, and one level less for each step.
            back = (walk - r if move >= 0 else r - walk) % cells
            met = back < max(abs(move), 1)
            level = (walk - back if move >= 0 else walk + back) % (2 * cells)
            flags[walk, kind] = int(met)
            laps[walk, kind] = int(met and level >= cells)
    above: dict[Row, int] = {
        (walk,): (walk + (r - walk) % cells) // cells % 2 for walk in range(2 * cells)
    }
    walked = (f"{prefix}walk", f"{prefix}stride")
    return {
        f"{prefix}meets{r}": Map(table(flags), walked),
        f"{prefix}lap{r}": Map(table(laps), walked),
        f"{prefix}above{r}": Map(table(above), walked[:1]),
        f"{prefix}met{r}": Latest(f"{prefix}lap{r}", f"{prefix}meets{r}"),
        f"{prefix}below{r}": Map(DIFFERS, (f"{prefix}met{r}", f"{prefix}above{r}")),
    }
