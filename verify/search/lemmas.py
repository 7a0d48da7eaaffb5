"""Lemmas found in a Program for the checker to check: windows, chains, counts, sums."""

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.program.functions import FUNCTIONS
from krohn.program.statement import Channel, Statement
from krohn.verify.checker.invariant import Step, Ways, steps
from krohn.verify.checker.model_file import Machine
from krohn.verify.search.exploration import Effort

# Windows found in a Program, for the checker to check (Theorem 2).


MOST_WORK = 2**30  # transitions; a million take a few milliseconds
Claim = tuple[int, int]
"""The place of a family, and a width."""


def windows(program: Statement, machine: Machine) -> dict[str, Any]:
    """The families of letter maps, and the windows over them with their widths.

    Beside each family ranks of the states, if letters that are no resets lead to higher
    ones (`krohn.verify.checker.windows.enough`).
    """
    families: dict[tuple[str, ...], int] = {}
    claims: dict[str, Claim] = {}
    for name, channel in program.channels.items():
        if channel.op == "select":
            claim = _compose(program, channel, claims, families)
            if claim is not None:
                claims[name] = claim
    work = MOST_WORK // (1 + len(families))
    return {
        "families": [list(family) for family in families],
        "ranks": [ranks(program, family, machine, work) for family in families],
        "windows": {name: list(claim) for name, claim in claims.items()},
    }


def ranks(
    program: Statement, family: tuple[str, ...], machine: Machine, work: int = MOST_WORK
) -> list[int] | None:
    """How many letters in a row that are no resets can lead to each state, at most.

    None if there are as many as letters in a word, or more transitions to be looked at
    than there is work.
    """
    from krohn.verify.checker.windows import resets

    going = np.delete(machine.transitions, resets(program, family), axis=0)
    rank = np.zeros(len(machine.shows), np.int64)
    for width in range(1, min(program.length, 1 + work // (1 + going.size))):
        led = going[:, rank == width - 1]
        if not (led >= 0).any():
            rank_list: list[int] = rank.tolist()
            return rank_list
        rank[led[led >= 0]] = width
        if not (rank == width - 1).any():  # there is no end to it
            return None
    return None


def clock(steps: list[Step]) -> list[int]:
    """From which position on functions of the position repeat themselves, and how often.

    As few positions as there can be are told apart.
    """
    given = [c.values_by_position for c, kind, _ in steps if kind == "position"]
    if not given:
        return [0, 1]
    value = np.unique(np.array(given), axis=1, return_inverse=True)[1].reshape(-1)
    same = overlaps(value[::-1].tolist())[1:]
    period = 1 + int(same.argmax())
    return [len(value) - period - int(same[period - 1]), period]


def _compose(
    program: Statement,
    channel: Channel,
    claims: dict[str, Claim],
    families: dict[tuple[str, ...], int],
) -> Claim | None:
    index, *values = (program.behind[n] for n in channel.inputs)
    shift: Any = index.operation
    points = [v.bos for v in values]
    if shift.wire != "shift" or points != [*range(len(values))]:
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


# Chains of lemmas: on a channel some positions ago, and so on (Theorem 3).


Link = tuple[str, str | None, int]
"""A channel, the shift of the one before it that it reads, and up to where it is right."""


def chain(program: Statement, followed: Ways, output: str) -> list[Link]:
    """The lemmas that lead to an output, first one first.

    Returns:
        Empty if the output is no table of letters and of one shift of a channel that is
        such a table, and so on, or if there are too few of them for words up to T.
    """
    links, name = list[tuple[str, str | None]](), output
    while True:
        shifts = _shifts(program, followed, name)
        if shifts is None or len(shifts) > 1:
            return []
        links.append((name, shifts[0] if shifts else None))
        if not shifts:
            return _with_lengths(program, followed, links[::-1])
        name = program.channels[shifts[0]].inputs[0]


def _shifts(program: Statement, followed: Ways, name: str) -> list[str] | None:
    """The shifts a channel is a map of, of more than letters; None if it reads others."""
    todo, seen, shifts = [name], set[str](), list[str]()
    while todo:
        one = todo.pop()
        if one in seen:
            continue
        seen.add(one)
        channel = program.channels[one]
        if one in followed or channel.op not in (*FUNCTIONS, "token", "shift"):
            return None
        if channel.op != "shift":
            todo += channel.inputs
        elif not _of_letters(program, channel.inputs[0]):
            shifts.append(one)
    return shifts


def _of_letters(program: Statement, name: str) -> bool:
    return {kind for _, kind, _ in steps(program, {}, [name])} <= {*FUNCTIONS, "token"}


def _with_lengths(
    program: Statement, followed: Ways, links: list[tuple[str, str | None]]
) -> list[Link]:
    measured_links, length = list[Link](), 0
    for name, shift in links:
        if shift is not None:
            length += _by(program.channels[shift])
        else:
            read = [c for c, k, _ in steps(program, followed, [name]) if k == "shift"]
            tell = [_by(c) for c in read if c.later.tolist() != [c.bos]]
            length = 1 + max(tell, default=0)
        measured_links.append((name, shift, min(length, program.length)))
    return measured_links if length >= program.length else []


def _by(channel: Channel) -> int:
    shift: Any = channel.operation
    return int(shift.by)


# Sums that may be lowered since no reader sees it: periods, tails and levels.


Rule = list[list[Any]]
"""The sums, what may be taken from each at once, and what must be left."""


def reductions(steps: Sequence[Step], outputs: Sequence[str]) -> list[Rule]:
    """The rules by which the sums of a part may be lowered."""
    from krohn.verify.checker.lowered_sums import SUMS

    sums = [c for c, kind, _ in steps if kind in SUMS and c.name not in outputs]
    open_, rules = list[Channel](), list[Rule]()
    for channel in sums:
        readers = [(c, kind, r) for c, kind, r in steps if channel.name in r]
        if any(kind != "table" or len(channel.later) < 2 for _, kind, _ in readers):
            continue
        step = int(channel.later[1])
        sequence = _classes_of_values(channel, [c for c, _, _ in readers])
        start, period = repeats(sequence)
        if period:
            rules.append([[channel.name], [period * step], [start * step]])
        else:
            open_.append(channel)
    return rules + [
        [[first.name, second.name], [int(first.later[1])] * 2, [0, 0]]
        for first, second in _pairs(open_)
        if _only_difference(first, second, steps)
    ]


def _classes_of_values(channel: Channel, readers: Sequence[Channel]) -> IntArray:
    """``(values,)``: equal numbers for later values that no reader tells apart."""
    columns = []
    for reader in readers:
        at = reader.inputs.index(channel.name)
        rows = reader.table.rows
        inside = np.isin(rows[:, at], channel.later)
        others = np.unique(np.delete(rows, at, axis=1), axis=0, return_inverse=True)[1]
        seen = np.full((len(channel.later), others.max() + 1), -1)
        place = np.searchsorted(channel.later, rows[inside, at])
        seen[place, others.ravel()[inside]] = reader.table.values[inside]
        columns.append(seen)
    return np.unique(np.hstack(columns), axis=0, return_inverse=True)[1].ravel()


def repeats(sequence: IntArray) -> tuple[int, int]:
    """From where on a sequence repeats itself every how many; 0 if it does not."""
    back = sequence[::-1]
    same = overlaps(back.tolist())
    starts = len(back) - same - np.arange(len(back))
    periodic = np.flatnonzero(starts[1:] == 0) + 1
    if len(periodic):
        return 0, int(periodic[0])
    last = len(back) // 2
    if last < 1:
        return 0, 0
    period = 1 + int((starts + np.arange(len(back)))[1 : last + 1].argmin())
    start = int(starts[period])
    return (start, period) if same[period] else (0, 0)


def overlaps(sequence: Sequence[int]) -> IntArray:
    """``(length,)``: how long the sequence agrees with itself from each place on.

    The Z algorithm (Gusfield 1997, section 1.3); the first entry is the whole length.
    """
    agreements = [len(sequence)] + [0] * (len(sequence) - 1)
    low = high = 0
    for i in range(1, len(sequence)):
        length = max(0, min(high - i, agreements[i - low])) if i < high else 0
        while i + length < len(sequence) and sequence[length] == sequence[i + length]:
            length += 1
        if i + length > high:
            low, high = i, i + length
        agreements[i] = length
    return np.array(agreements[: len(sequence)], dtype=np.int64)


def _pairs(sums: Sequence[Channel]) -> Iterator[tuple[Channel, Channel]]:
    taken = set[str]()
    for i, second in enumerate(sums):
        for first in sums[:i]:
            alike = np.array_equal(first.later, second.later)
            if alike and taken.isdisjoint({first.name, second.name}):
                yield first, second


def _only_difference(first: Channel, second: Channel, steps: Sequence[Step]) -> bool:
    """Whether every reader sees the same one step down in both."""
    pair, step = (first.name, second.name), int(first.later[1])
    for reader, _, reads in steps:
        if set(pair) & set(reads):
            table = dict(
                zip(
                    map(tuple, reader.table.rows.tolist()),
                    reader.table.values,
                    strict=True,
                )
            )
            up = [step * (name in pair) for name in reads]
            moved = map(tuple, (reader.table.rows + up).tolist())
            old = reader.table.values.tolist()
            if any(table.get(r, v) != v for r, v in zip(moved, old, strict=True)):
                return False
    return True


# Sums over letters, followed only as far as their readers can tell them apart.
#
# Together such sums are the states of an automaton that reads the letters. Two states
# from which no word makes what is read differ are one state (Moore 1956). The smaller
# automaton is a machine of its own; an earlier part shows what is read beside its states
# (docs/proofs/invariants.md).


MOST_STATES = 100_000


def counters(
    steps: Sequence[Step], outputs: Sequence[str], rules: Sequence[Rule]
) -> tuple[list[str], list[Rule]] | None:
    """The channels read of several sums of letters at once, and how the sums are lowered.

    Args:
        steps: The channels of a part, how each is followed, and by which others.
        outputs: Which of them are shown.
        rules: How its sums are lowered.

    Returns:
        None if sums are read one by one, or have too many joint values.
    """
    single = {sums[0]: (sums, by, least) for sums, by, least in rules if len(sums) == 1}
    below, letters = dict[str, frozenset[str]](), {"token"}
    for channel, kind, reads in steps:
        if kind in FUNCTIONS and letters >= set(reads):
            letters.add(channel.name)
        elif kind == "prefix-sum" and channel.name in single and reads[0] in letters:
            below[channel.name] = frozenset([channel.name])
        elif kind in FUNCTIONS and below.keys() >= set(reads):
            below[channel.name] = frozenset[str]().union(*(below[n] for n in reads))
    read = {n for c, _, reads in steps if c.name not in below for n in reads}
    seen = [n for n in below if n in read.union(outputs)]
    joint = frozenset[str]().union(*(below[n] for n in seen if len(below[n]) > 1))
    sizes = [
        len(c.later[c.later < by + least])
        for c, _, _ in steps
        if c.name in joint
        for (_, (by,), (least,)) in [single[c.name]]
    ]
    if not joint or joint & set(seen) or prod(sizes) > MOST_STATES:
        return None
    maps = {c.name for c, _, reads in steps if reads and set(reads) <= set(seen)}
    shown = [n for n in seen if below[n] <= joint and n not in maps]
    return shown, [list(single[n]) for n in sorted(joint)]


def smallest(
    values: IntArray, follow: IntArray, effort: Effort
) -> tuple[Machine, IntArray]:
    """The machine of the classes of some states.

    Args:
        values: ``(states, outputs)``: the outputs of each state; the first is the start.
        follow: ``(states, letters)``: the next one.
        effort: The work that may still be spent.

    Returns:
        The machine, and ``(states,)``: the class of each state.
    """
    from krohn.algebra.rows import distinct

    label = distinct(values + 1)[1]
    while True:
        effort.spend_on_arrays(follow.size)
        finer = distinct(np.column_stack([label, label[follow]]))[1]
        if finer.max() == label.max():
            break
        label = finer
    first = np.unique(label, return_index=True)[1]
    none = np.zeros(len(first), np.int64)
    return Machine(int(label[0]), label[follow[first]].T, none), label


def about(machine: Machine) -> dict[str, Any]:
    """A machine, as evidence names it."""
    return {"start": machine.start, "transitions": machine.transitions.tolist()}
