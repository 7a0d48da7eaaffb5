"""The Program computes the machine: invariants of its memory (docs/recheck.md, 2)."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from program.domains import MOST, BoolArray, IntArray, PossibleValues, beside
from program.errors import Refused, demand
from program.functions import FUNCTIONS
from program.operations.latest import Latest
from program.operations.shift import Shift
from program.operations.sibling_latest import SiblingLatest
from program.statement import (
    MOST_CELLS,
    Channel,
    Sets,
    Statement,
    mapped,
    possible_values,
    whole,
)
from verify.checker.departures import departures
from verify.checker.model_file import Machine

BLOCK, MOST_WORK = 2**25, 2**36  # values; a million take about a millisecond
SUMS = ("prefix-sum", "marked-sum")
Ways = dict[str, tuple[str, tuple[str, ...]]]  # how channels are followed, and by which
Step = tuple[Channel, str, tuple[str, ...]]
Rule = tuple[list[str], IntArray, IntArray]


def check(
    program: Statement, said: Any, machine: Machine
) -> dict[tuple[int, ...], int]:
    """The tuples that the outputs can be, with their classes, if all are right."""
    followed, parts, work = ways(program, said), list[Part](), 0
    for one in said["parts"]:
        parts.append(part(program, machine, followed, parts, one))
        work += parts[-1].work
        demand(work <= MOST_WORK, "the parts take too much work")
        parts[-1].prove()
    return readings(program, machine, [parts[j] for j in said["final"]])


def readings(
    program: Statement, machine: Machine, last: list["Part"]
) -> dict[tuple[int, ...], int]:
    """What parts show together beside each state of the machine, if it means that."""
    demand([one.length == program.length for one in last], "a part ends too early")
    demand([one.machine is machine for one in last], "a part is of another machine")
    names = [n for one in last for n in one.outputs]
    shown = [[list[tuple[int, ...]]() for _ in machine.shows] for _ in last]
    for one, beside_state in zip(last, shown, strict=True):
        for *values, q in one.shown:
            beside_state[q].append(tuple(values))
    found = {}
    each_state = list(zip(machine.shows.tolist(), *shown, strict=True))
    count = sum(prod(map(len, choices)) for _, *choices in each_state)
    demand(count <= MOST, "parts show too much to be combined")
    for right, *choices in each_state:
        for each in product(*choices):
            value = dict(zip(names, sum(each, start=()), strict=True))
            reading = tuple(value[n] for n in program.outputs)
            fits = program.decode.get(reading) == right
            demand(fits, f"{reading} is decoded wrongly")
            found[reading] = right
    return found


def ways(program: Statement, said: Any) -> Ways:
    """How channels are followed that are not followed by what they are computed from."""
    found: Ways = {n: ("before", pair) for n, pair in _before(program).items()}
    found |= {n: ("departures", each) for n, each in departures(program).items()}
    for names in said["families"]:
        for p, member in enumerate(program.channels[n] for n in names):
            inside = member.bos == p and member.later.max() < len(names)
            demand(inside, "no letter maps")
    for name, (family, width) in said["windows"].items():
        _check_window(program, said, name)
        if width >= program.length:
            found[name] = ("window", tuple(said["families"][family]))
    return found


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


def _before(program: Statement) -> dict[str, tuple[str, ...]]:
    """The source and the flag of latest values before a position (Theorem 4b)."""
    answers: dict[str, tuple[tuple[str, ...], int, int]] = {}
    for name, channel in program.channels.items():
        parts = [answers[n] for n in channel.inputs if n in answers]
        if isinstance(channel.operation, SiblingLatest):
            level = channel.operation.level
            answers[name] = channel.inputs, level, level + 1
        elif channel.op == "table" and len(parts) == len(channel.inputs):
            what, low, _ = parts[0]
            ends = [low, *(high for _, _, high in parts)]
            joined = [p[:2] for p in parts] == [(what, end) for end in ends[:-1]]
            first = (channel.table.rows != 0).argmax(axis=1)
            taken = channel.table.rows[np.arange(len(first)), first]
            if joined and np.array_equal(taken, channel.table.values):
                answers[name] = what, low, ends[-1]
    found = {}
    for name, (what, low, high) in answers.items():
        source = program.channels[what[0]]
        if source.bos == 0 < source.later.min() and low == 0 < 2**high > program.length:
            found[name] = what
    return found


class Assumed(NamedTuple):
    """What an earlier part has shown of a channel.

    Attributes:
        beside: ``(states, values)``: what it may be beside a state of that part's machine.
        back: So many letters ago.
        machine: The machine of that part, if it is another one.
    """

    beside: BoolArray
    back: int
    machine: Machine | None


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
        split: Channels of which each value is looked at by itself.
        shown: What the outputs are, and beside which state of the machine.
    """

    program: Statement
    machine: Machine
    steps: list[Step]
    outputs: list[str]
    length: int
    assumed: dict[str, Assumed]
    cells: dict[str, tuple[BoolArray, IntArray]]
    states: IntArray
    depths: IntArray
    follow: IntArray
    reduced: list[Rule]
    split: list[str]
    shown: set[tuple[int, ...]]

    @property
    def work(self) -> int:
        """How many values are looked at to follow every letter out of every state."""
        width = sum(len(c.domain) for c, _, _ in self.steps)
        width += sum(sets.shape[1] * of.shape[1] for sets, of in self.cells.values())
        return int(self.follow.size * width)

    def prove(self) -> None:
        """Follow every letter out of every abstract state."""
        start = self.states[0] == self.machine.start and self.depths[0] == 0
        demand(start, "the first abstract state is not that of BOS")
        for sums, by, least in self.reduced:
            self._check_reduced(sums, by, least)
        goes_on = np.repeat(self.depths[:, None] < self.length, self.program.letters, 1)
        blocks = self.work // BLOCK + 1
        for rows in np.array_split(np.argwhere(goes_on), blocks):
            self._follow(*rows.T)

    @cached_property
    def told(self) -> IntArray:
        """``(T + 1,)``: which positions functions of the position tell apart, if any do.

        The last values repeat themselves backwards as far as the longest border of a
        prefix says (Knuth, Morris and Pratt 1977).
        """
        given = [c.given for c, kind, _ in self.steps if kind == "position"]
        if not given:
            return np.zeros(self.program.length + 1, np.int64)
        value = np.unique(np.array(given), axis=1, return_inverse=True)[1].reshape(-1)
        back, border = value[::-1].tolist(), [0]
        for end in range(1, len(back)):
            k = border[-1]
            while k and back[k] != back[end]:
                k = border[k - 1]
            border.append(k + (back[k] == back[end]))
        last = int(np.argmax(border))
        start, period = len(back) - 1 - last, last + 1 - border[last]
        t = np.arange(len(back))
        return np.where(t < start, t, start + (t - start) % period)

    def _follow(self, s: IntArray, a: IntArray) -> None:
        """Take letters ``a`` out of abstract states ``s``."""
        q, target = self.machine.transitions[a, self.states[s]], self.follow[s, a]
        demand(self.states[target] == q, "a letter moves the machine elsewhere")
        now, then = self.depths[s] + 1, self.depths[target]
        same = self.told[now] == self.told[then]
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
        """What channels may be at ``t``, the letter being ``a``, and the cells then.

        Returns:
            Cases: which row each belongs to, and the sets in it.
        """
        known: Sets = {}
        after: Sets = {}
        row = np.arange(len(q))
        for channel, kind, reads in self.steps:
            name = channel.name
            if kind in ("token", "position"):
                values = (a if kind == "token" else channel.given[t])[row]
                known[name] = np.equal.outer(values, channel.domain)
            elif name in self.cells:
                moved = q[row], self.machine.transitions[a, q][row], a[row]
                now = moved if kind == "assumed" else reads
                found = self._remember(channel, kind, now, old[name][row], known)
                known[name], after[name] = found
            else:
                demand(kind in FUNCTIONS, f"nothing is said of {name!r}")
                known[name] = mapped(self.program, known, channel)
            for sums, by, least in self.reduced:
                if sums[-1] == name:
                    _lower([self.program.channels[n] for n in sums], by, least, known)
                    after |= {n: known[n][:, None] for n in sums}
            if name in self.split:
                case, value = beside(np.arange(len(row)), known[name])
                width = sum(v[:1].size for v in [*known.values(), *after.values()])
                demand(len(case) * width <= MOST_CELLS, "too many values in all cases")
                row, known = row[case], {n: v[case] for n, v in known.items()}
                after = {n: v[case] for n, v in after.items()}
                known[name] = np.equal.outer(value, np.arange(len(channel.domain)))
        return row, known, after

    def show(self, known: Sets, q: IntArray) -> set[tuple[int, ...]]:
        """What the outputs may be, with the states beside it."""
        columns, at = list[IntArray](), np.arange(len(q))
        for name in self.outputs:
            which, value = beside(at, known[name])
            columns = [column[which] for column in columns]
            columns.append(self.program.channels[name].domain[value])
            at = at[which]
        found = np.stack([*columns, q[at]], axis=1)
        each = set(found.view(f"V{8 * found.shape[1]}").ravel().tolist())
        distinct = np.frombuffer(b"".join(each), np.int64)
        return set(map(tuple, distinct.reshape(-1, found.shape[1]).tolist()))

    def _remember(
        self, channel: Channel, kind: str, reads: Any, old: BoolArray, known: Sets
    ) -> tuple[BoolArray, BoolArray]:
        """What a channel may be, and what is remembered of it from then on."""
        if kind == "assumed":
            return _passed(self.assumed[channel.name], reads, old)
        read = possible_values(self.program, known, reads)
        if kind == "departures":
            return _come(channel, read, old)
        if kind == "window":
            value = np.zeros_like(old[:, 0])
            for p in np.flatnonzero(old[:, 0].any(axis=0)):
                member = read[channel.domain[p]].in_domain(channel.domain)
                value |= old[:, 0, p, None] & member
            return value, value[:, None]
        if kind == "before":
            _, held = Latest(*reads).step(channel.own_domain, read, old)
            return old[:, 0], held
        return channel.operation.step(channel.own_domain, read, old)

    def _check_reduced(self, sums: list[str], by: IntArray, least: IntArray) -> None:
        """Every reader gives the same after and before a step down, where both occur."""
        kinds = {channel.name: kind for channel, kind, _ in self.steps}
        for name, step in zip(sums, by.tolist(), strict=True):
            channel = self.program.channels[name]
            even = step and step % max(1, int(np.gcd.reduce(channel.later))) == 0
            once = kinds.get(name) in SUMS and sums.count(name) == 1
            demand(even and once, f"{name!r} has no such steps")
            demand(name not in self.outputs, f"{name!r} is shown")
        for channel, kind, reads in self.steps:
            if set(sums) & set(reads):
                demand(kind == "table", f"{channel.name!r} is no table")
                column = [sums.index(n) if n in sums else -1 for n in reads]
                rows, values = channel.table.rows, channel.table.values
                at = channel.table.place(list((rows + np.append(by, 0)[column]).T))
                both = (at >= 0) & (rows >= np.append(least, 0)[column]).all(axis=1)
                same = values[at[both]] == values[both]
                demand(same, f"{channel.name!r} tells sums apart")


def _passed(
    assumed: Assumed, moved: tuple[IntArray, IntArray, IntArray], old: BoolArray
) -> tuple[BoolArray, BoolArray]:
    """What is known beside a state, now or of some letters ago, and what is kept."""
    before, now, a = moved
    if assumed.machine is not None:
        which, q = beside(np.arange(len(a)), old[:, 0])
        new = np.zeros_like(old)
        new[which, 0, assumed.machine.transitions[a[which], q]] = True
        return _either(new[:, 0], assumed.beside), new
    if assumed.back < 2:
        return assumed.beside[before if assumed.back else now], old
    last = np.equal.outer(before, np.arange(len(assumed.beside)))
    kept = np.concatenate([old[:, 1:], last[:, None]], axis=1)
    return _either(old[:, 0], assumed.beside), kept


def _either(states: BoolArray, beside_state: BoolArray) -> BoolArray:
    """``(rows, values)``: what there is beside one of the states of a row."""
    return np.asarray(states.astype(np.float32) @ beside_state.astype(np.float32) > 0)


def _lower(channels: list[Channel], by: IntArray, least: IntArray, known: Sets) -> None:
    """Take a multiple of steps from sums together, the largest that leaves the least."""
    at, values = np.arange(len(known[channels[0].name])), list[IntArray]()
    for c in channels:
        which, value = beside(at, known[c.name])
        at, values = at[which], [*(v[which] for v in values), c.domain[value]]
    times = ((np.array(values) - least[:, None]) // by[:, None]).min(axis=0).clip(min=0)
    for c, value, step in zip(channels, values, by, strict=True):
        known[c.name] = np.zeros_like(known[c.name])
        known[c.name][at, c.place(value - times * step)] = True


def _come(
    channel: Channel, read: list[PossibleValues], old: BoolArray
) -> tuple[BoolArray, BoolArray]:
    """Whether some flags have come in turn; how many of them is remembered."""
    new = np.zeros_like(old[:, 0])
    new[:, -1] = old[:, 0, -1]
    for stage, flag in enumerate(read):
        new[:, stage] |= old[:, 0, stage] & flag.can_be(0)[:, 0]
        new[:, stage + 1] |= old[:, 0, stage] & flag.can_be(1)[:, 0]
    some, all_of_them = new[:, :-1].any(axis=1), new[:, -1]
    shown = [all_of_them if value else some for value in channel.domain]
    return np.stack(shown, axis=1), new[:, None]


def part(
    program: Statement, machine: Machine, followed: Ways, parts: list[Part], said: Any
) -> Part:
    """What the evidence says of a part, and the channels that it needs."""
    length, outputs = int(whole(said["length"], 0)), list(said["outputs"])
    demand(length <= program.length, "a part is longer than the words")
    states, follow = whole(said["states"], 1), whole(said["follow"], 2)
    depths, machine = whole(said["depths"], 1), _machine(said, machine, program.letters)
    fits = follow.shape == (len(states), program.letters) and len(depths) == len(states)
    demand(fits and np.all(follow < len(states)), "the abstract states do not fit")
    assumed = {}
    for name, j in said["assumed"].items():
        assumed[name] = lemma(program.channels[name], parts[j], machine, length)
    followed = followed | dict.fromkeys(assumed, ("assumed", ()))
    reduced = [(list(n), *whole([by, least], 2)) for n, by, least in said["reduced"]]
    program = _lowered(program, reduced)
    found = steps(program, followed, outputs)
    cells, room = {}, MOST_CELLS
    for step in found:
        channel = step[0]
        if channel.name in said["cells"]:
            domain, start, size = memory(program, machine, step, assumed)
            sets, of = said["cells"][channel.name]
            room -= len(sets) * len(domain)
            demand(room > 0, "there are too many sets")
            held = np.array([np.isin(domain, one) for one in sets], np.bool_)
            held, of = held.reshape(len(sets), len(domain)), whole(of, 2)
            demand(of.shape == (len(states), size), f"{channel.name!r}: other cells")
            right = held[of[0]][:, domain == start]
            demand(right, f"{channel.name!r} starts elsewhere")
            cells[channel.name] = held, of
    told = (found, outputs, length, assumed, cells, states, depths, follow, reduced)
    return Part(program, machine, *told, list(said["split"]), set())


def _lowered(program: Statement, rules: list[Rule]) -> Statement:
    """The Program, sums that are lowered alone at values that come up (Theorem 2.2a)."""
    found = dict(program.channels)
    for sums, by, least in rules:
        if len(sums) == 1:
            channel = program.channels[sums[0]]
            added = program.channels[channel.inputs[0]].later.max()
            small = channel.domain < least[0] + by[0] + added
            found[channel.name] = replace(channel, domain=channel.domain[small])
    return replace(program, channels=found)


def _machine(said: Any, machine: Machine, letters: int) -> Machine:
    """The machine that a part is about: another one, if the evidence names it."""
    if "machine" not in said:
        return machine
    transitions = whole(said["machine"]["transitions"], 2)
    start, states = whole(said["machine"]["start"], 0), transitions.shape[1]
    fits = len(transitions) == letters and start < states
    demand(fits and np.all(transitions < states), "a part is of no machine")
    return Machine(int(start), transitions, np.zeros(states, np.int64))


def lemma(channel: Channel, part: Part, machine: Machine, length: int) -> Assumed:
    """What another part shows of a channel, or of what it is a shift of."""
    here, same = channel.name in part.outputs, part.machine is machine
    shift, back = channel.operation, 0
    if not here and isinstance(shift, Shift) and part.outputs == [shift.source]:
        back = shift.by
    fits = here or (back > 0 and same)
    early = length <= part.length + back
    demand(fits and early, f"{channel.name!r} is not known so far")
    column = part.outputs.index(channel.name) if here else 0
    rows = np.array(list(part.shown), np.int64).reshape(-1, len(part.outputs) + 1)
    rows = rows[np.isin(rows[:, column], channel.domain)]
    size = len(part.machine.shows), len(channel.domain)
    demand(prod(size) <= MOST_CELLS, "a lemma tells too much")
    beside_state = np.zeros(size, np.bool_)
    beside_state[rows[:, -1], channel.place(rows[:, column])] = True
    if back:
        beside_state[machine.start] |= channel.domain == channel.bos
    return Assumed(beside_state, back, None if same else part.machine)


def memory(
    program: Statement, machine: Machine, step: Step, assumed: dict[str, Assumed]
) -> tuple[IntArray, int, int]:
    """What a cell of a channel can hold, what it holds at BOS, and how many there are."""
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
    found = channel.operation.memory(channel.own_domain, read)
    if found is None:
        raise Refused(
            f"{channel.name!r} depends on positions in a way that no rule covers"
        )
    return found


def steps(program: Statement, followed: Ways, outputs: list[str]) -> list[Step]:
    """The channels that some depend on, in order, how they are followed, by which."""
    todo, needed = list(outputs), {}
    while todo:
        if (name := todo.pop()) not in needed:
            channel = program.channels[name]
            needed[name] = channel, *followed.get(name, (channel.op, channel.inputs))
            todo += needed[name][2]
    return [needed[n] for n in sorted(needed, key=program.order.__getitem__)]
