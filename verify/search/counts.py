"""Sums over letters, followed only as far as their readers can tell them apart.

Together such sums are the states of an automaton that reads the letters. Two states from
which no word makes what is read differ are one state (Moore 1956). The smaller automaton
is a machine of its own; an earlier part shows what is read beside its states
(docs/recheck.md, 2.4).
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from krohn.algebra.rows import distinct
from krohn.algebra.semiautomaton import IntArray
from krohn.program.functions import FUNCTIONS
from krohn.verify.checker.followed import Step
from krohn.verify.checker.model_file import Machine
from krohn.verify.search.effort import Effort
from krohn.verify.search.sum_reductions import Rule

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
