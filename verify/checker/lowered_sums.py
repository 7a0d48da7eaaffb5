"""Sums of which readers do not notice a loss (docs/proofs/invariants.md)."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from krohn.program.domains import IntArray, PossibleValues, joint_values
from krohn.program.errors import demand
from krohn.program.statement import Sets, Statement
from krohn.verify.checker.invariant import Step

SUMS = ("prefix-sum", "marked-sum")


class Lowered(NamedTuple):
    """Sums that are lowered together.

    Attributes:
        sums: Their names.
        by: What may be taken from them together.
        least: What must be left.
    """

    sums: list[str]
    by: IntArray
    least: IntArray

    def check(self, program: Statement, steps: list[Step], outputs: list[str]) -> None:
        """Every reader gives the same after and before a step down, where both occur."""
        sums, by, least = self
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

    def few_values(self, program: Statement) -> Statement:
        """The Program, a sum lowered alone at values that come up (Theorem 2.2a)."""
        if len(self.sums) > 1:
            return program
        channel = program.channels[self.sums[0]]
        added = program.channels[channel.inputs[0]].later.max()
        small = channel.domain < self.least[0] + self.by[0] + added
        few = replace(channel, domain=channel.domain[small])
        return replace(program, channels={**program.channels, channel.name: few})

    def lower(self, program: Statement, known: Sets) -> None:
        """Take the largest multiple of steps from sums that leaves the least."""
        channels = [program.channels[n] for n in self.sums]
        may = [PossibleValues(c.domain, known[c.name]) for c in channels]
        at, values = joint_values(may)
        left = np.array(values) - self.least[:, None]
        times = (left // self.by[:, None]).min(axis=0).clip(min=0)
        for c, value, step in zip(channels, values, self.by, strict=True):
            known[c.name] = np.zeros_like(known[c.name])
            known[c.name][at, c.place(value - times * step)] = True
