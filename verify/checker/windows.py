"""Windows, which show what all letters so far do (docs/proofs/invariants.md)."""

from typing import Any

import numpy as np

from krohn.program.errors import Refused, demand
from krohn.program.functions import Table
from krohn.program.operations.shift import Shift
from krohn.program.operations.token import Token
from krohn.program.statement import Statement
from krohn.program.strict_json import whole
from krohn.verify.checker.model_file import Machine


def read_windows(
    program: Statement, said: Any, machine: Machine
) -> dict[str, tuple[str, ...]]:
    """The family of maps that each wide enough window shows."""
    for names in said["families"]:
        for p, member in enumerate(program.channels[n] for n in names):
            inside = member.bos == p and member.later.max() < len(names)
            demand(inside, "no letter maps")
    families = [tuple(family) for family in said["families"]]
    each = zip(families, said["ranks"], strict=True)
    least = [enough(program, members, machine, ranks) for members, ranks in each]
    shown_families = dict[str, tuple[str, ...]]()
    for name, (family, width) in said["windows"].items():
        _check_window(program, said, name)
        if width >= least[family]:
            shown_families[name] = families[family]
    return shown_families


def enough(
    program: Statement, family: tuple[str, ...], machine: Machine, ranks: Any
) -> int:
    """From which width on windows show what all letters so far do (Theorem 2a).

    That is T; or one more than the highest rank, if evidence gives each state of the
    machine a rank, and every possible letter leads to a higher one unless it is one that
    leads all points to one.
    """
    if ranks is None:
        return program.length
    rank = whole(ranks, 1)
    going = np.delete(machine.transitions, resets(program, family), axis=0)
    demand(len(rank) == going.shape[1], "not each state has a rank")
    rises = (going < 0) | (rank[going] > rank)
    demand(rises, "a letter leads to no higher rank")
    return min(program.length, int(rank.max()) + 1)


def resets(program: Statement, family: tuple[str, ...]) -> list[int]:
    """The letters at which the members have one value, whatever else they depend on."""
    values_at: list[set[int]] = [set() for _ in range(program.letters)]
    for channel in map(program.channels.__getitem__, family):
        tokens = [isinstance(c.operation, Token) for c in program.reads(channel.name)]
        if channel.op != Table.wire or not any(tokens):
            return []
        letters = channel.table.rows[:, tokens.index(True)]
        each = zip(letters.tolist(), channel.table.values.tolist(), strict=True)
        for letter, value in each:
            if letter < program.letters:  # BOS is none
                values_at[letter].add(value)
    return [letter for letter, values in enumerate(values_at) if len(values) == 1]


def _check_window(program: Statement, said: Any, name: str) -> None:
    """Theorem 2; the point of a window is its value at BOS."""
    family, width = said["windows"][name]
    members = [program.channels[n] for n in said["families"][family]]

    def is_window(what: str, size: int) -> bool:
        channel = program.behind[what]
        member = channel.bos < len(members) and channel is members[channel.bos]
        claimed = said["windows"].get(channel.name) == [family, size]
        fixed = size == 1 or channel.later.tolist() == [channel.bos]
        return size > 0 and (claimed or (member and fixed))

    index, *values = program.channels[name].inputs
    shift, points = (
        program.behind[index].operation,
        [program.channels[v].bos for v in values],
    )
    fits = program.channels[name].op == "select" and points == [*range(len(members))]
    if not (fits and isinstance(shift, Shift)):
        raise Refused(f"{name!r} is no window")
    whole_family = all(is_window(v, shift.by) for v in values)
    earlier = is_window(shift.source, width - shift.by)
    demand(whole_family and earlier, f"{name!r} is not put together from windows")
