"""Sums from which readers do not notice that something is taken (docs/recheck.md, 2.3)."""

from dataclasses import replace

import numpy as np

from krohn.program.domains import IntArray, PossibleValues, joint_values
from krohn.program.errors import demand
from krohn.program.statement import Sets, Statement
from krohn.verify.checker.followed import Step

SUMS = ("prefix-sum", "marked-sum")
Rule = tuple[list[str], IntArray, IntArray]
"""The sums, what may be taken from them together, and what must be left."""


def check_rule(
    program: Statement, steps: list[Step], outputs: list[str], rule: Rule
) -> None:
    """Every reader gives the same after and before a step down, where both occur."""
    sums, by, least = rule
    kinds = {channel.name: kind for channel, kind, _ in steps}
    for name, step in zip(sums, by.tolist(), strict=True):
        channel = program.channels[name]
        even = step and step % max(1, int(np.gcd.reduce(channel.later))) == 0
        once = kinds.get(name) in SUMS and sums.count(name) == 1
        demand(even and once, f"{name!r} has no such steps")
        demand(name not in outputs, f"{name!r} is shown")
    for channel, kind, reads in steps:
        if set(sums) & set(reads):
            demand(kind == "table", f"{channel.name!r} is no table")
            column = [sums.index(n) if n in sums else -1 for n in reads]
            rows, values = channel.table.rows, channel.table.values
            at = channel.table.place(list((rows + np.append(by, 0)[column]).T))
            both = (at >= 0) & (rows >= np.append(least, 0)[column]).all(axis=1)
            same = values[at[both]] == values[both]
            demand(same, f"{channel.name!r} tells sums apart")


def few_values(program: Statement, rules: list[Rule]) -> Statement:
    """The Program, sums that are lowered alone at values that come up (Theorem 2.2a)."""
    found = dict(program.channels)
    for sums, by, least in rules:
        if len(sums) == 1:
            channel = program.channels[sums[0]]
            added = program.channels[channel.inputs[0]].later.max()
            small = channel.domain < least[0] + by[0] + added
            found[channel.name] = replace(channel, domain=channel.domain[small])
    return replace(program, channels=found)


def lower(program: Statement, rule: Rule, known: Sets) -> None:
    """Take a multiple of steps from sums together, the largest that leaves the least."""
    names, by, least = rule
    channels = [program.channels[n] for n in names]
    at, values = joint_values(
        [PossibleValues(c.domain, known[c.name]) for c in channels]
    )
    times = ((np.array(values) - least[:, None]) // by[:, None]).min(axis=0).clip(min=0)
    for c, value, step in zip(channels, values, by, strict=True):
        known[c.name] = np.zeros_like(known[c.name])
        known[c.name][at, c.place(value - times * step)] = True
