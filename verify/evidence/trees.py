"""Cubes as the leaves of a tree, each node of which splits the values of one channel."""

from collections.abc import Mapping, Sequence
from typing import Any

from verify.statement import Statement

Cube = Mapping[str, frozenset[int]]


def axes(statement: Statement, names: Sequence[str]) -> list[str]:
    """Channels, with the letter in place of those that it decides."""
    token = next(iter(statement.channels))
    free = [n for n in names if not _is_tied(statement, n)]
    return free if len(free) == len(names) else [token, *free]


def tree(statement: Statement, cubes: Sequence[tuple[Cube, int]], single: bool) -> Any:
    """A tree whose leaves are cubes that exclude each other, or hold nothing that occurs.

    Args:
        statement: The Program.
        cubes: As `verify.cubes` finds them, with the value of a map on each.
        single: Whether a leaf has one value of each channel that its cube names.
    """
    plain = [_untied(statement, cube) for cube, _ in cubes]
    full = {n: frozenset(statement.channels[n].domain) for c in plain for n in c}
    return _node(plain, full, full, single)


def _node(
    cubes: list[Cube], left: dict[str, frozenset[int]], full: Cube, single: bool
) -> Any:
    name = next((n for c in cubes for n in c if not left[n] <= c[n]), None)
    if name is None:
        return None
    holders: dict[int, list[int]] = {v: [] for v in left[name]}
    for i, cube in enumerate(cubes):
        for value in left[name] & cube.get(name, left[name]):
            holders[value].append(i)
    classes: dict[tuple[int, ...], list[int]] = {}
    for value, indices in sorted(holders.items()):
        classes.setdefault(tuple(indices), []).append(value)
    parts = []
    for holding, values in classes.items():
        inside = {**left, name: frozenset(values)}
        then = _node([cubes[i] for i in holding], inside, full, single)
        parts += [[[v], then] for v in values] if single else [[values, then]]
    beyond = sorted(full[name] - left[name])
    if beyond:  # what the nodes above rule out
        parts.append([beyond, None])
    return {"split": name, "parts": parts}


def _is_tied(statement: Statement, name: str) -> bool:
    """Whether the letter decides a channel."""
    channel = statement.channels[name]
    ops = [statement.channels[n].op for n in channel.inputs]
    return channel.op == "table" and ops == ["token"]


def _untied(statement: Statement, cube: Cube) -> Cube:
    """A cube that names the letter names nothing that the letter decides."""
    if next(iter(statement.channels)) not in cube:
        return cube
    return {n: v for n, v in cube.items() if not _is_tied(statement, n)}
