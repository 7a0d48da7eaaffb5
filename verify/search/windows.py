"""Windows found in a Program, for the checker to check (Theorem 2)."""

from collections.abc import Sequence
from typing import Any

from krohn.program.operations.shift import Shift
from krohn.program.statement import Channel, Statement

Claim = tuple[int, int]
"""The place of a family, and a width."""


def windows(program: Statement) -> dict[str, Any]:
    """The families of letter maps, and the windows over them with their widths."""
    families: dict[tuple[str, ...], int] = {}
    claims: dict[str, Claim] = {}
    for name, channel in program.channels.items():
        if channel.op == "select":
            claim = _compose(program, channel, claims, families)
            if claim is not None:
                claims[name] = claim
    return {
        "families": [list(family) for family in families],
        "windows": {name: list(claim) for name, claim in claims.items()},
    }


def _compose(
    program: Statement,
    channel: Channel,
    claims: dict[str, Claim],
    families: dict[tuple[str, ...], int],
) -> Claim | None:
    index, *values = (program.behind[n] for n in channel.inputs)
    shift, points = index.operation, [v.bos for v in values]
    if not isinstance(shift, Shift) or points != [*range(len(values))]:
        return None
    first = next((claims[v.name] for v in values if v.name in claims), None)
    if first is None:
        if shift.by != 1 or not _are_maps(values):
            return None
        first = families.setdefault(tuple(v.name for v in values), len(families)), 1
    members = list(families)[first[0]]
    if shift.by != first[1] or len(members) != len(values):
        return None
    source = program.behind[shift.source]
    earlier = _width(source, first[0], claims, members)
    fixed = {n for n in members if len(program.channels[n].later) == 1}
    fits = all(claims.get(v.name) == first or v.name in fixed for v in values)
    alone = first[1] == 1 and [v.name for v in values] == list(members)
    return (first[0], first[1] + earlier) if earlier and (fits or alone) else None


def _are_maps(values: Sequence[Channel]) -> bool:
    return all(v.later.max() < len(values) for v in values)


def _width(
    channel: Channel,
    family: int,
    claims: dict[str, Claim],
    members: tuple[str, ...],
) -> int:
    """The width of a window of a family; 0 if it is none."""
    if channel.name in claims:
        return claims[channel.name][1] if claims[channel.name][0] == family else 0
    return int(channel.name in members)
