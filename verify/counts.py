"""Sums over letters, kept only as far as what is read of them can tell them apart.

Together the reduced sums of a Program are the states of an automaton that reads the
letters. What the rest of the Program sees of them are tables; two states from which no
word makes any of these tables differ are one state (docs/soundness.md, section 2.3).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from algebra.rows import distinct
from algebra.semiautomaton import IntArray
from verify.statement import Channel, Statement

MOST_STATES = 100_000
MOST_VALUES = 20_000_000
"""Of all states and letters together, and in all rounds of a partition."""


@dataclass(frozen=True)
class Counts:
    """The classes of joint values of sums.

    Attributes:
        covered: The sums, and the channels that are functions of them alone.
        shown: For each class the values of the covered channels that others read.
        follow: ``follow[class][letter]``: the class after one more letter.
        first: The class at BOS.
    """

    covered: frozenset[str]
    shown: tuple[Mapping[str, int], ...]
    follow: tuple[tuple[int, ...], ...]
    first: int


def counts(
    statement: Statement,
    needed: tuple[Channel, ...],
    period: Mapping[str, int],
    read: Mapping[str, tuple[str, ...]],
) -> Counts | None:
    """The classes of the sums of letters that have a period.

    Args:
        statement: The Program.
        needed: The channels that outputs depend on.
        period: What each prefix sum is reduced by; 0 for not at all.
        read: The channels that each of them is followed by.

    Returns:
        None if there is no such sum, or if that takes too much: then the sums are
        followed one by one.
    """
    sums = [c for c in needed if period.get(c.name) and _of_letters(statement, c)]
    joint = prod(period[c.name] for c in sums)
    if not sums or joint > MOST_STATES:
        return None
    if joint * (statement.letters * len(sums) + len(needed)) > MOST_VALUES:
        return None
    covered = _functions(needed, sums)
    others = {n for c in needed if c.name not in covered for n in read[c.name]}
    visible = sorted(covered & (others | set(statement.outputs)))
    states, follow = _automaton(statement, sums, period)
    names = [c.name for c in sums]
    inner = [c for c in needed if c.name in covered and c.name not in names]
    rows = [_values(inner, dict(zip(names, s, strict=True)), visible) for s in states]
    label = _classes(np.array(rows).reshape(len(rows), -1), follow)
    if label is None:
        return None
    chosen = np.unique(label, return_index=True)[1].tolist()
    return Counts(
        frozenset(covered),
        tuple(dict(zip(visible, rows[s], strict=True)) for s in chosen),
        tuple(tuple(label[follow[s]].tolist()) for s in chosen),
        int(label[0]),
    )


def _of_letters(statement: Statement, channel: Channel) -> bool:
    """Whether every position counts, and adds what its letter says."""
    source = statement.channels[channel.inputs[0]]
    inputs = [statement.channels[n].op for n in source.inputs]
    summed = channel.op == "prefix-sum" and source.op == "table"
    return summed and inputs == ["token"]


def _functions(needed: tuple[Channel, ...], sums: list[Channel]) -> set[str]:
    """The sums and all tables of them, of tables of them, and so on."""
    covered = {c.name for c in sums}
    for channel in needed:
        if channel.op == "table" and covered.issuperset(channel.inputs):
            covered.add(channel.name)
    return covered


def _automaton(
    statement: Statement, sums: list[Channel], period: Mapping[str, int]
) -> tuple[list[tuple[int, ...]], IntArray]:
    """The joint values that words lead to, BOS first, and ``(states, letters)``."""
    sources = [statement.channels[c.inputs[0]].table for c in sums]
    steps = [tuple(t[(a,)] for t in sources) for a in range(statement.letters)]
    moduli = [period[c.name] for c in sums]
    first = (0,) * len(sums)
    number, states, follow = {first: 0}, [first], []
    for state in states:
        after = []
        for step in steps:
            moved = zip(state, step, moduli, strict=True)
            reached = tuple((s + x) % m for s, x, m in moved)
            if reached not in number:
                number[reached] = len(states)
                states.append(reached)
            after.append(number[reached])
        follow.append(after)
    return states, np.array(follow)


def _values(
    inner: list[Channel], values: dict[str, int], visible: list[str]
) -> list[int]:
    for channel in inner:
        values[channel.name] = channel.table[tuple(values[n] for n in channel.inputs)]
    return [values[n] for n in visible]


def _classes(shown: IntArray, follow: IntArray) -> IntArray | None:
    """The coarsest partition that respects what is shown and every letter (Moore).

    Returns:
        None if that takes too many rounds.
    """
    label, most = distinct(shown)[1], MOST_VALUES // follow.size
    for _ in range(1 + most):
        finer = distinct(np.column_stack([label, label[follow]]))[1]
        if finer.max() == label.max():
            return label
        label = finer
    return None
