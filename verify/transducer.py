"""A Program with bounded memory, run as the finite transducer that it is.

One thing has bounded memory only as a whole: the latest value *before* a position, put
together from the answers of sibling blocks (docs/soundness.md, section 2). It is recognised
here, and its parts are read by nothing else.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from operator import add

from verify import repeats
from verify.before import strictly_before
from verify.clocks import Clock, clock
from verify.counts import Counts, counts
from verify.departures import Departures, departures
from verify.effort import Effort
from verify.errors import Rejected
from verify.statement import ATTENTION, SUMS, Channel, Reach, Statement
from verify.windows import Window, whole_windows

LONGEST_DELAY = 16
MOST_CELLS = 96
ADVANCE = 4
"""Steps of every letter that is followed, beside its channels and cells."""
IN_SET = 16
"""Steps for a value in a set that is kept: it takes so much more memory than a step."""

UNBOUNDED = ("sibling-latest", "at")
REMEMBERING = ("position", *(op for op in ATTENTION if op not in UNBOUNDED))

Memory = tuple[int, ...]


class Ambiguous(Exception):
    """A step depends on a cell that stands for several values.

    Attributes:
        cell: Where it lies in the memory.
    """

    def __init__(self, cell: int) -> None:
        super().__init__(f"cell {cell} stands for several values")
        self.cell = cell


@dataclass
class Sets:
    """What cells stand for: a value for itself, a negative number for several.

    Attributes:
        effort: What may still be spent on them.
        known: The number of each set of several values.
    """

    effort: Effort
    known: dict[frozenset[int], int] = field(default_factory=dict)
    each: list[frozenset[int]] = field(default_factory=list)

    def values(self, cell: int) -> frozenset[int]:
        """The values that a cell stands for."""
        return self.each[-1 - cell] if cell < 0 else frozenset([cell])

    def both(self, first: int, second: int) -> int:
        """A cell that stands for what either of two stands for."""
        if first == second:
            return first
        some, others = self.values(first), self.values(second)
        self.effort.spend(len(some) + len(others))
        found = some | others
        return first if found == some else self.cell(found)

    def cell(self, values: frozenset[int]) -> int:
        """The cell that stands for some values."""
        if len(values) == 1:
            return next(iter(values))
        if values not in self.known:
            self.effort.spend(IN_SET * len(values))
            self.each.append(values)
            self.known[values] = -len(self.each)
        return self.known[values]


@dataclass(frozen=True)
class Transducer:
    """A Program one position at a time.

    A memory is the output values, then what each attention operation must remember: the
    last values for a shift, the last marked value for a latest, the sum for a prefix
    sum or a marked sum, and for a latest match the value at BOS with the last value
    behind each key; latest matches of one source and key share these. Functions of the
    position share one cell, which counts as far as they tell positions apart. A sum that
    is only ever read through periodic tables is kept modulo the period; such sums of
    letters are kept together, as the class of what can be told apart by what is read of
    them. Of two other sums that are only ever read as their difference the smaller is
    taken from both.

    A cell of a latest match may stand for several values (`Sets`). Tables that give one
    result for all of them read it; everything else that does raises `Ambiguous`.

    Attributes:
        statement: The Program.
        slots: For each attention channel, its first cell in the memory, and how many.
        period: What each prefix sum is reduced by; 0 for not at all.
        tail: For a sum without a period, from where on it is reduced by what; by 0 for
            not at all.
        twin: The earlier sum from which a sum is only ever read as a difference.
        strict: Channels that hold the latest value before the position, with the
            source and the flag.
        windows: Channels that hold the image of a point under all letters so far.
        tests: Channels that say whether some flags have come one after the other.
        clock: How far functions of the position tell positions apart.
        counts: The sums of letters that are kept together; their class is the first
            cell after the output values.
        followed: By which channels those are followed that have cells of another kind
            than their operation: windows, tests and latest values before.
        needed: The channels on which the outputs depend, if the parts that these are put
            together from are left out.
        sets: What cells stand for.
    """

    statement: Statement
    slots: dict[str, tuple[int, int]]
    period: dict[str, int]
    tail: dict[str, tuple[int, int]]
    twin: dict[str, str]
    strict: dict[str, tuple[str, str]]
    windows: dict[str, Window]
    tests: dict[str, Departures]
    clock: Clock
    counts: Counts | None
    followed: dict[str, tuple[str, ...]]
    needed: tuple[Channel, ...]
    sets: Sets

    @staticmethod
    def of(statement: Statement, reach: Mapping[str, Reach]) -> "Transducer":
        """Lay out the memory.

        Args:
            statement: The Program.
            reach: The values of each channel.

        Raises:
            Rejected: If a shift looks back too far to be remembered, or a channel
                depends on where in its block a position lies.
        """
        slots: dict[str, tuple[int, int]] = {}
        shared: dict[tuple[str, ...], tuple[int, int]] = {}
        strict, _ = strictly_before(statement, reach)
        windows, tests = whole_windows(statement, reach), departures(statement)
        followed: dict[str, tuple[str, ...]] = {**strict}
        followed |= {name: window.family for name, window in windows.items()}
        followed |= {name: test.reads for name, test in tests.items()}
        needed = _needed(statement, followed)
        sums = [c for c in needed if c.op in SUMS]
        period = {c.name: _period(statement, c) for c in sums}
        read = {c.name: followed.get(c.name, c.inputs) for c in needed}
        together = counts(statement, needed, period, read)
        top = len(statement.outputs) + (together is not None)
        for channel in needed:
            if together and channel.name in together.covered:
                continue
            if channel.op == "latest-match" and channel.inputs[:2] in shared:
                slots[channel.name] = shared[channel.inputs[:2]]
                continue
            if channel.op == "position" and (channel.op,) in shared:
                slots[channel.name] = shared[(channel.op,)]
                continue
            remembers = channel.op in REMEMBERING
            if not remembers and channel.name not in followed:
                continue
            if channel.op == "shift" and channel.by > LONGEST_DELAY:
                raise Rejected(
                    f"{channel.name!r} looks back {channel.by} positions, which no "
                    "argument of this checker covers"
                )
            size = _cells(statement, channel)
            slots[channel.name] = (top, size)
            if channel.op == "latest-match":
                shared[channel.inputs[:2]] = (top, size)
            if channel.op == "position":
                shared[(channel.op,)] = (top, size)
            top += size
            if top - len(statement.outputs) > MOST_CELLS:
                raise Rejected("the Program remembers too much to be explored")
        covered = together.covered if together else frozenset()
        left = tuple(c for c in needed if c.name not in covered)
        tail = {c.name: _tail(statement, c) for c in sums if not period[c.name]}
        twin = _twins(statement, left, period, tail)
        return Transducer(
            statement=statement,
            slots=slots,
            period=period,
            tail=tail,
            twin=twin,
            strict=strict,
            windows=windows,
            tests=tests,
            clock=clock([c.values for c in needed if c.op == "position"]),
            counts=together,
            followed=followed,
            needed=left,
            sets=Sets(statement.effort),
        )

    def advance(self, memory: Memory, letter: int) -> Memory:
        """The memory after one more letter; after BOS if it was empty.

        Raises:
            Ambiguous: If it depends on a cell that stands for several values.
        """
        self.statement.effort.spend(ADVANCE + len(self.needed) + len(memory))
        values: dict[str, int] = {}
        kept: dict[int, Memory] = {}
        sources: dict[str, int] = {}
        if self.counts:
            top = len(self.statement.outputs)
            past = memory[top : top + 1]
            after = self.counts.follow[past[0]][letter] if past else self.counts.first
            values.update(self.counts.shown[after])
            kept[top] = (after,)
        for channel in self.needed:
            if channel.name in self.slots:
                read = self.followed.get(channel.name, channel.inputs)
                _refuse(sources, read)
                self._remember(channel, memory, values, kept)
                if values[channel.name] < 0:
                    top = self.slots[channel.name][0]
                    sources[channel.name] = top + self._place(channel, values)
            elif sources.keys() & set(channel.inputs):
                values[channel.name] = self._settled(channel, values, sources)
            else:
                values[channel.name] = _pointwise(channel, values, letter)
        _refuse(sources, self.statement.outputs)
        shown = tuple(values[n] for n in self.statement.outputs)
        return sum((kept[top] for top in sorted(kept)), start=shown)

    def _settled(
        self, channel: Channel, values: Mapping[str, int], sources: Mapping[str, int]
    ) -> int:
        """What a table gives whichever of their values its inputs have."""
        if channel.op != "table":
            _refuse(sources, channel.inputs)
        each = [self.sets.values(values[n]) for n in channel.inputs]
        self.statement.effort.spend(prod(map(len, each)))
        results = {channel.table[row] for row in product(*each)}
        if len(results) > 1:
            _refuse(sources, channel.inputs)
        return results.pop()

    def _remember(
        self,
        channel: Channel,
        memory: Memory,
        values: dict[str, int],
        kept: dict[int, Memory],
    ) -> None:
        """What a channel shows that has cells, and what is in them from then on."""
        top, size = self.slots[channel.name]
        if channel.op == "position":
            past = memory[top : top + 1]
            kept[top] = (self.clock.after(past[0]) if past else 0,)
            values[channel.name] = channel.values[kept[top][0]]
            return
        if top in kept:  # shared with a latest match that was there before
            values[channel.name] = self._answer(channel, kept[top], values)
            return
        past = memory[top : top + size]
        values[channel.name], kept[top] = self._attend(channel, past, values)
        if channel.name in self.twin:
            self._lower(channel, values, kept)

    def _lower(
        self, channel: Channel, values: dict[str, int], kept: dict[int, Memory]
    ) -> None:
        """Take the smaller one of two sums from both."""
        pair = channel.name, self.twin[channel.name]
        least = min(values[n] for n in pair)
        for name in pair:
            values[name] -= least
            kept[self.slots[name][0]] = (values[name],)

    def _attend(
        self, channel: Channel, past: Memory, values: dict[str, int]
    ) -> tuple[int, Memory]:
        if channel.name in self.strict:
            source, where = (values[n] for n in self.strict[channel.name])
            # Nothing lies before BOS: the value there is the source at BOS.
            found = past[0] if past else source
            return found, (source if where == 1 else found,)
        if channel.name in self.windows:
            window = self.windows[channel.name]
            image = values[window.family[past[0] if past else window.point]]
            return image, (image,)
        if channel.name in self.tests:
            test = self.tests[channel.name]
            stage = test.follow(past[0] if past else 0, values)
            return int(stage == len(test.reads)), (stage,)
        now = values[channel.inputs[0]]
        if channel.op == "shift":
            known = past or (now,) * channel.by
            return known[0], (*known[1:], now)
        if channel.op == "latest":
            found = now if values[channel.inputs[1]] == 1 or not past else past[0]
            return found, (found,)
        if channel.op == "earliest":
            first = past[0] if past else 0
            if not first:
                # What stood at BOS is kept in the second cell until a flag comes.
                first = values[channel.inputs[1]]
                past = (first, now if first or not past else past[1])
            return past[1], past
        if channel.op == "latest-match":
            return self._match(channel, past, values)
        counts = channel.op == "prefix-sum" or values[channel.inputs[1]] == 1
        total = now * counts + (past[0] if past else 0)
        start, period = self.tail.get(channel.name, (0, self.period[channel.name]))
        if period and total >= start:
            total = start + (total - start) % period
        return total, (total,)

    def _match(
        self, channel: Channel, past: Memory, values: dict[str, int]
    ) -> tuple[int, Memory]:
        """The first cell is the value at BOS, the others are those of the keys."""
        now, key = (values[n] for n in channel.inputs[:2])
        keys = self._keys(channel)
        cells = list(past) if past else [now] * (1 + len(keys))
        if past:
            cells[1 + keys.index(key)] = now
        return self._answer(channel, tuple(cells), values), tuple(cells)

    def _answer(
        self, channel: Channel, cells: Memory, values: Mapping[str, int]
    ) -> int:
        """What a latest match finds in its cells."""
        return cells[self._place(channel, values)]

    def _place(self, channel: Channel, values: Mapping[str, int]) -> int:
        """The cell of a latest match that holds what the query asks for."""
        keys, query = self._keys(channel), values[channel.inputs[2]]
        return 1 + keys.index(query) if query in keys else 0

    def _keys(self, channel: Channel) -> tuple[int, ...]:
        return self.statement.channels[channel.inputs[1]].domain


def _cells(statement: Statement, channel: Channel) -> int:
    """How many numbers an attention operation remembers."""
    if channel.op == "shift":
        return channel.by
    if channel.op == "earliest":
        return 2
    if channel.op == "latest-match":
        return 1 + len(statement.channels[channel.inputs[1]].domain)
    return 1


def _needed(
    statement: Statement,
    followed: Mapping[str, tuple[str, ...]],
) -> tuple[Channel, ...]:
    """The channels that a position's outputs are computed from, in order.

    Raises:
        Rejected: If one of them says what stands at a position that is remembered.
    """
    todo, found = list(statement.outputs), set[str]()
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        channel = statement.channels[name]
        if channel.op == "at":
            raise Rejected(
                f"{name!r} depends on what stands at a position that a pointer holds, in "
                "a way that no argument of this checker covers"
            )
        todo += followed.get(name, channel.inputs)
    return tuple(c for c in statement.channels.values() if c.name in found)


def _pointwise(channel: Channel, values: dict[str, int], letter: int) -> int:
    if channel.op == "token":
        return letter
    inputs = tuple(values[n] for n in channel.inputs)
    if channel.op == "select":
        return inputs[1 + inputs[0]]
    if channel.op == "sum":
        return sum(inputs)
    return channel.table[inputs]


def _refuse(sources: Mapping[str, int], names: Iterable[str]) -> None:
    for name in names:
        if name in sources:
            raise Ambiguous(sources[name])


def _twins(
    statement: Statement,
    needed: tuple[Channel, ...],
    period: Mapping[str, int],
    tail: Mapping[str, tuple[int, int]],
) -> dict[str, str]:
    """Sums that are only ever read beside another one, and as the difference of both."""
    sums = [
        c
        for c in needed
        if c.op == "prefix-sum" and not period[c.name] and not tail[c.name][1]
    ]
    found: dict[str, str] = {}
    for i, second in enumerate(sums):
        for first in sums[:i]:
            free = {first.name, second.name}.isdisjoint({*found, *found.values()})
            alike = statement.readers[first.name] == statement.readers[second.name]
            if free and alike and _only_difference(statement, first, second):
                found[second.name] = first.name
    return found


def _only_difference(statement: Statement, first: Channel, second: Channel) -> bool:
    """Whether all that read two sums see no change if both change alike."""
    pair = (first.name, second.name)
    step = _even_step(first)
    if step != _even_step(second) or not step or set(pair) & set(statement.outputs):
        return False
    readers = statement.readers[first.name]
    statement.effort.spend(sum(len(r.table) * len(r.inputs) for r in readers))
    return bool(readers) and all(_is_level(reader, pair, step) for reader in readers)


def _even_step(summed: Channel) -> int:
    """The g of a domain 0, g, 2g, …; 0 if it is another one."""
    step = summed.domain[1] if len(summed.domain) > 1 else 0
    even = summed.domain == tuple(range(0, step * len(summed.domain), step or 1))
    return step if even else 0


def _is_level(reader: Channel, pair: tuple[str, str], step: int) -> bool:
    """Whether a table of both sums, once each, is the same one step up in both."""
    if reader.op != "table" or any(reader.inputs.count(n) != 1 for n in pair):
        return False
    moved = [step * (name in pair) for name in reader.inputs]
    return all(
        reader.table.get(tuple(map(add, row, moved)), value) == value
        for row, value in reader.table.items()
    )


def _period(statement: Statement, summed: Channel) -> int:
    """The smallest n such that every reader of the sum only sees it modulo n, or 0."""
    sequence, step = _seen(statement, summed)
    return repeats.period(sequence) * step


def _tail(statement: Statement, summed: Channel) -> tuple[int, int]:
    """From where on every reader only sees the sum modulo what, as early as may be."""
    sequence, step = _seen(statement, summed)
    start, length = repeats.tail(sequence)
    return start * step, length * step


def _seen(statement: Statement, summed: Channel) -> tuple[list[int], int]:
    """What the readers of a sum make of 0, g, 2g, …, and g; nothing if they see more.

    Values that the readers make the same of have the same number.
    """
    readers = statement.readers[summed.name]
    if summed.name in statement.outputs or not readers:
        return [], 1
    if any(r.op != "table" or len(r.inputs) != 1 for r in readers):
        return [], 1
    if any((v,) not in r.table for r in readers for v in summed.domain):
        return [], 1
    columns = [[r.table[(v,)] for v in summed.domain] for r in readers]
    numbers: dict[tuple[int, ...], int] = {}
    seen = zip(*columns, strict=True)
    sequence = [numbers.setdefault(values, len(numbers)) for values in seen]
    step = summed.domain[1] - summed.domain[0] if len(summed.domain) > 1 else 1
    if summed.domain != tuple(range(0, step * len(sequence), step)):
        return [], 1
    return sequence, step
