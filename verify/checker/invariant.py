"""How channels are followed, and abstract states that hold every memory that words lead to.

The proofs are in docs/proofs/invariants.md.
"""

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from krohn.program.domains import MOST, BoolArray, IntArray, beside, joint_values
from krohn.program.errors import Refused, demand
from krohn.program.functions import FUNCTIONS
from krohn.program.operations.map import Map
from krohn.program.statement import (
    MOST_CELLS,
    Channel,
    Sets,
    Statement,
    possible_map_values,
    possible_values,
)
from krohn.verify.checker.model_file import Machine
from krohn.verify.checker.registry import rule

if TYPE_CHECKING:
    from krohn.verify.checker.lemmas import Assumed
    from krohn.verify.checker.lowered_sums import Lowered

Ways = dict[str, tuple[str, tuple[str, ...]]]  # how channels are followed, and by which
Step = tuple[Channel, str, tuple[str, ...]]
RECOGNISED = {
    "before": ("sibling-latest", "latest_before"),
    "departures": ("earliest", "departures"),
}
"""Ways that channels show by themselves: an operation of each, and who recognises it."""


def ways(program: Statement, said: Any, machine: Machine) -> Ways:
    """How channels are followed that are not followed by what they are computed from."""
    known_ways, ops = Ways(), {c.op for c in program.channels.values()}
    for kind, (op, name) in RECOGNISED.items():
        if op in ops:
            each: dict[str, tuple[str, ...]] = rule(name).recognise_channels(program)
            known_ways |= {n: (kind, read) for n, read in each.items()}
    if said["windows"]:
        shown: dict[str, tuple[str, ...]] = rule("windows").read_windows(
            program, said, machine
        )
        known_ways |= {n: ("window", family) for n, family in shown.items()}
    return known_ways


def steps(program: Statement, followed: Ways, outputs: list[str]) -> list[Step]:
    """The channels that some depend on, in order, how they are followed, by which."""
    todo, needed = list(outputs), {}
    while todo:
        if (name := todo.pop()) not in needed:
            channel = program.channels[name]
            needed[name] = channel, *followed.get(name, (channel.op, channel.inputs))
            todo += needed[name][2]
    return [needed[n] for n in sorted(needed, key=program.order.__getitem__)]


BLOCK = 2**25  # values; a million take about a millisecond


@dataclass(frozen=True)
class Part:
    """Abstract states, which together hold every memory that words can lead to.

    Attributes:
        program: The Program, its sums at the values that they take when lowered.
        machine: The machine that it is about.
        steps: Channels, how each is followed, and by which others.
        outputs: The channels of which something is shown.
        length: The longest word that is followed.
        assumed: What earlier parts have shown.
        cells: Of what is remembered some sets, and ``(states, cells)`` which of them.
        states: The state of the machine beside each abstract state.
        depths: At least so many letters lead to it.
        follow: ``(states, letters)``: the next one.
        reduced: Sums, what may be taken from them together, and what must be left.
        repeats: From which position on functions of the position repeat themselves, and
            after how many.
        split: Channels of which each value is looked at by itself.
        shown: What the outputs are, and beside which state of the machine.
    """

    program: Statement
    machine: Machine
    steps: list[Step]
    outputs: list[str]
    length: int
    assumed: "dict[str, Assumed]"
    cells: dict[str, tuple[BoolArray, IntArray]]
    states: IntArray
    depths: IntArray
    follow: IntArray
    reduced: "list[Lowered]"
    repeats: tuple[int, int]
    split: list[str]
    shown: set[tuple[int, ...]]

    @property
    def work(self) -> int:
        """How many values are looked at to follow every letter out of every state."""
        width = sum(len(c.domain) for c, _, _ in self.steps)
        # A few bytes state a piecewise function, and all its joint values are listed.
        width += sum(
            min(MOST, prod(len(self.program.channels[n].domain) for n in c.inputs))
            for c, _, _ in self.steps
            if isinstance(c.operation, Map) and c.operation.function.listed
        )
        width += sum(sets.shape[1] * of.shape[1] for sets, of in self.cells.values())
        return int(self.follow.size * width)

    def prove(self) -> None:
        """Follow every letter that can come out of every abstract state."""
        begins = self.states[0] == self.machine.start and self.depths[0] == 0
        demand(begins, "the first abstract state is not that of BOS")
        for lowered in self.reduced:
            lowered.check(self.program, self.steps, self.outputs)
        start, period = self.repeats
        for given in (
            c.values_by_position[start:]
            for c, kind, _ in self.steps
            if kind == "position"
        ):
            demand(
                given[period:] == given[:-period], "a position does not repeat itself"
            )
        possible = self.machine.transitions[:, self.states].T >= 0
        goes_on = possible & (self.depths[:, None] < self.length)
        blocks = self.work // BLOCK + 1
        for rows in np.array_split(np.argwhere(goes_on), blocks):
            self._follow(*rows.T)

    @cached_property
    def first_alike(self) -> IntArray:
        """``(T + 1,)``: for each position the first that is not told apart from it."""
        (start, period), t = self.repeats, np.arange(self.program.length + 1)
        return np.where(t < start, t, start + (t - start) % period)

    def _follow(self, s: IntArray, a: IntArray) -> None:
        """Take letters ``a`` out of abstract states ``s``."""
        q, target = self.machine.transitions[a, self.states[s]], self.follow[s, a]
        demand(self.states[target] == q, "a letter moves the machine elsewhere")
        now, then = self.depths[s] + 1, self.depths[target]
        same = self.first_alike[now] == self.first_alike[then]
        demand((now >= then) & same, "a state is reached too early")
        old = {name: sets[of[s]] for name, (sets, of) in self.cells.items()}
        row, known, after = self.move(old, self.states[s], a, self.depths[s] + 1)
        for name, (sets, of) in self.cells.items():
            inside = after[name] <= sets[of[target[row]]]
            demand(inside, f"{name!r} may be something else")
        self.shown.update(self.show(known, q[row]))

    def move(
        self, old: Sets, q: IntArray, a: IntArray, t: IntArray
    ) -> tuple[IntArray, Sets, Sets]:
        """Possible values of channels at ``t``, the letter being ``a``, and of cells then.

        Returns:
            Cases: which row each belongs to, and the sets in it.
        """
        known: Sets = {}
        after: Sets = {}
        row = np.arange(len(q))
        for channel, kind, reads in self.steps:
            name = channel.name
            if kind in ("token", "position"):
                values = (a if kind == "token" else channel.values_by_position[t])[row]
                known[name] = np.equal.outer(values, channel.domain)
            elif name in self.cells:
                moved = q[row], self.machine.transitions[a, q][row], a[row]
                now = moved if kind == "assumed" else reads
                pair = self._remember(channel, kind, now, old[name][row], known)
                known[name], after[name] = pair
            else:
                demand(kind in FUNCTIONS, f"nothing is said of {name!r}")
                known[name] = possible_map_values(self.program, known, channel)
            for lowered in self.reduced:
                if lowered.sums[-1] == name:
                    lowered.lower(self.program, known)
                    after |= {n: known[n][:, None] for n in lowered.sums}
            if name in self.split:
                case, value = beside(np.arange(len(row)), known[name])
                width = sum(v[:1].size for v in [*known.values(), *after.values()])
                demand(len(case) * width <= MOST_CELLS, "too many values in all cases")
                row, known = row[case], {n: v[case] for n, v in known.items()}
                after = {n: v[case] for n, v in after.items()}
                known[name] = np.equal.outer(value, np.arange(len(channel.domain)))
        return row, known, after

    def show(self, known: Sets, q: IntArray) -> set[tuple[int, ...]]:
        """Outputs that are possible, with the states beside them."""
        at, columns = joint_values(possible_values(self.program, known, self.outputs))
        rows = np.stack([*columns, q[at]], axis=1)
        each = set(rows.view(f"V{8 * rows.shape[1]}").ravel().tolist())
        distinct = np.frombuffer(b"".join(each), np.int64)
        return set(map(tuple, distinct.reshape(-1, rows.shape[1]).tolist()))

    def _remember(
        self, channel: Channel, kind: str, reads: Any, old: BoolArray, known: Sets
    ) -> tuple[BoolArray, BoolArray]:
        """Possible values of a channel, and of its cell from then on."""
        if kind == "assumed":
            return self.assumed[channel.name].step_values(reads, old)
        read = possible_values(self.program, known, reads)
        if kind == "departures":
            come: tuple[BoolArray, BoolArray] = rule("departures").come(
                channel, read, old
            )
            return come
        if kind == "window":
            value = np.zeros_like(old[:, 0])
            for p in np.flatnonzero(old[:, 0].any(axis=0)):
                member = read[channel.domain[p]].in_domain(channel.domain)
                value |= old[:, 0, p, None] & member
            return value, value[:, None]
        if kind == "before":
            cell: BoolArray = rule("latest_before").update_cell(
                channel, reads, read, old
            )
            return old[:, 0], cell
        return channel.operation.step(channel.own_domain, read, old)


def memory(
    program: Statement, machine: Machine, step: Step, assumed: "dict[str, Assumed]"
) -> tuple[IntArray, int, int]:
    """Values of a channel's cell, its value at BOS, and how many values there are."""
    channel, kind, reads = step
    if kind == "departures":
        return np.arange(len(reads) + 1), 0, 1
    if kind == "assumed":
        other, back = assumed[channel.name].machine, assumed[channel.name].back
        of, size = other or machine, 1 if other else max(back - 1, 0)
        return np.arange(len(of.shows)), of.start, size
    if kind in ("window", "before"):
        return channel.domain, channel.bos, 1
    read = [program.channels[n].own_domain for n in reads]
    cell_memory = channel.operation.memory(channel.own_domain, read)
    if cell_memory is None:
        raise Refused(
            f"{channel.name!r} depends on positions in a way that no rule covers"
        )
    return cell_memory
