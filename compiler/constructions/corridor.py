"""Corridors: clamped walks of any stride, by the levels of each residue met last."""

from collections.abc import Mapping

from krohn.algebra.automaton import Automaton
from krohn.algebra.structure import Corridor, as_corridor
from krohn.compiler.constructions.counter import LARGEST_SUM
from krohn.compiler.errors import CompileError
from krohn.program import (
    Latest,
    Map,
    Operation,
    PrefixSum,
    Program,
    Row,
    Sum,
    Token,
    table,
)

NAME = "corridor"
MOST_CELLS = 90
SUMMARY = "for each residue, remember the level that a walk of long strides met last"


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
        outputs=("cell",),
        decode={(cell,): q for q, cell in enumerate(found.cell)},
    )


def channels(
    found: Corridor, machine: Automaton, length: int, prefix: str
) -> Mapping[str, Operation]:
    """The free walk, the levels met last, and ``{prefix}cell``.

    Raises:
        CompileError: If there are too many cells, or sums.
    """
    cells, start = len(found.cell), found.cell[machine.start]
    if cells > MOST_CELLS:
        raise CompileError(
            f"a corridor of more than {MOST_CELLS} cells has tables too large to prove"
        )
    if max(map(abs, found.moves)) * length > LARGEST_SUM:
        raise CompileError(
            "a corridor would need too large a table of sums; choose a shorter length"
        )
    made = _walk(found, start, length, prefix)
    for r in range(cells):
        made |= _level(found, start, r, prefix)
    below = tuple(f"{prefix}below{r}" for r in range(cells))
    made[f"{prefix}cell"] = Map(Sum(), below)
    return made


def _walk(
    found: Corridor, start: int, length: int, prefix: str
) -> dict[str, Operation]:
    """The walk without walls, modulo 2n, and which stride the letter was."""
    modulus, made = 2 * len(found.cell), dict[str, Operation]()
    for name, sign in (("up", 1), ("down", -1)):
        strides = [max(sign * move, 0) for move in found.moves]
        rows: dict[Row, int] = {(a,): s for a, s in enumerate([*strides, 0])}
        sums = range(max(strides) * length + 1)
        made[f"{prefix}{name}"] = Map(table(rows), ("token",))
        made[f"{prefix}{name}s"] = PrefixSum(f"{prefix}{name}")
        residues = table({(s,): s % modulus for s in sums})
        made[f"{prefix}{name}wards"] = Map(residues, (f"{prefix}{name}s",))
    both = range(modulus)
    walk: dict[Row, int] = {
        (u, v): (start + u - v) % modulus for u in both for v in both
    }
    made[f"{prefix}walk"] = Map(table(walk), (f"{prefix}upwards", f"{prefix}downwards"))
    kinds = sorted(set(found.moves))
    stride: dict[Row, int] = {(a,): kinds.index(m) for a, m in enumerate(found.moves)}
    stride[(len(found.moves),)] = len(kinds)
    made[f"{prefix}stride"] = Map(table(stride), ("token",))
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
    differs = table({(p, q): int(p != q) for p in range(2) for q in range(2)})
    walked = (f"{prefix}walk", f"{prefix}stride")
    return {
        f"{prefix}meets{r}": Map(table(flags), walked),
        f"{prefix}lap{r}": Map(table(laps), walked),
        f"{prefix}above{r}": Map(table(above), walked[:1]),
        f"{prefix}met{r}": Latest(f"{prefix}lap{r}", f"{prefix}meets{r}"),
        f"{prefix}below{r}": Map(differs, (f"{prefix}met{r}", f"{prefix}above{r}")),
    }
