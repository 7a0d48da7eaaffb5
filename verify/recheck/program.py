"""The Program of a model file, and the values that its channels take (Lemma 1)."""

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from verify.recheck.model import BoolArray, FloatArray, IntArray, demand

MOST, LARGEST = 4_000_000, 2**31
MOST_CELLS = 2**28  # of arrays of booleans
MAPS = ("table", "select", "sum")
FIELDS = {"token": [], "position": [], "shift": ["source"], "prefix-sum": ["source"]}
FLAGGED = {"latest": 1, "sibling-latest": 1, "earliest": 0}  # the flag at BOS
FIELDS |= {op: ["source", "where"] for op in (*FLAGGED, "marked-sum")}
FIELDS["latest-match"] = ["source", "key", "query"]
Sets = dict[str, BoolArray]  # (rows, values of the domain): what a channel may be


@dataclass(frozen=True)
class Channel:
    """A channel; of tables the rows that occur, ascending; the values at BOS and later."""

    name: str
    op: str
    inputs: tuple[str, ...]
    by: int
    rows: IntArray
    results: IntArray
    domain: IntArray
    one_hot: bool
    dims: tuple[int, int] | None
    born: int
    dies: int
    head: int | None
    values: IntArray
    bos: int
    later: IntArray
    weights: IntArray  # of a table: what its columns count in the number of a row

    @cached_property
    def numbers(self) -> IntArray:
        """The number of each row of a table, ascending."""
        return self.rows @ self.weights

    @cached_property
    def places(self) -> IntArray:
        """Where the result of each row of a table stands in the domain."""
        return self.place(self.results)

    @property
    def span(self) -> range:
        """The dimensions that it occupies."""
        return range(*self.dims) if self.dims else range(0)

    def code(self, values: IntArray) -> FloatArray:
        """``(values, dimensions)``: how values are laid out."""
        column, units = np.asarray(values)[:, None], np.arange(len(self.span))
        return (column == units if self.one_hot else column).astype(np.float64)

    def place(self, values: IntArray) -> IntArray:
        """Where values stand in the domain."""
        found = np.searchsorted(self.domain, values).clip(max=len(self.domain) - 1)
        inside = self.domain[found] == values
        demand(inside, f"{self.name!r} takes values from nowhere")
        return found


@dataclass(frozen=True)
class Program:
    """Channels, each after those that it reads, and what values of the outputs mean."""

    channels: dict[str, Channel]
    features: list[tuple[int, int]]
    outputs: tuple[str, ...]
    decode: dict[tuple[int, ...], int]
    letters: int
    length: int

    @cached_property
    def order(self) -> dict[str, int]:
        """Where each channel stands in the list."""
        return {name: i for i, name in enumerate(self.channels)}

    @cached_property
    def behind(self) -> dict[str, Channel]:
        """What each channel copies, through tables that change nothing."""
        found: dict[str, Channel] = {}
        for name, c in self.channels.items():
            copies = c.op == "table" and len(c.inputs) == 1
            same = copies and np.array_equal(c.rows[:, 0], c.results)
            found[name] = found[c.inputs[0]] if same else c
        return found


def whole(values: Any, axes: int) -> IntArray:
    """An array of whole numbers, 0 or more and less than `LARGEST`."""
    found = np.array(values)
    found = found if found.size else found.astype(np.int64)
    demand(found.dtype == np.int64 and found.ndim == axes, "no whole numbers")
    demand((found >= 0) & (found < LARGEST), "a number is negative or too large")
    return found


def parse(said: Any, letters: int, length: int) -> Program:
    """Read the header's ``program``; refused if a value could leave its domain."""
    known: dict[str, Channel] = {}
    for entry in said["channels"]:
        name = entry["name"]
        demand(type(name) is str and name not in known, f"{name!r} is there twice")
        known[name] = _channel(entry, known, letters, length)
        known[name].place(np.append(known[name].later, known[name].bos))
    features = [(low, high) for low, high in map(tuple, said["features"].values())]
    outputs = tuple(known[name].name for name in said["outputs"])
    decode = {tuple(values): state for values, state in said["decode"]}
    demand(len(decode) == len(said["decode"]), "a tuple is decoded twice")
    return Program(known, features, outputs, decode, letters, length)


def _channel(entry: Any, known: dict[str, Channel], letters: int, T: int) -> Channel:
    op = entry["function"] if (mapped := entry["op"] == "map") else entry["op"]
    demand(mapped == (op in MAPS), f"there is no operation {op!r}")
    names = entry["inputs"] if mapped else _read(op, entry)
    read, domain = [known[n] for n in names], whole(entry["domain"], 1)
    demand(len(domain) > 0 and np.diff(domain) > 0, "a domain is not ascending")
    demand((op == "token") == (not known), "the first channel is not the token")
    low, high, born, dies = 0, 0, -1, -1
    if stored := "dims" in entry:
        low, high, born, dies = whole([*entry["dims"], *entry["snapshots"]], 1).tolist()
        demand(born <= dies, f"{entry['name']!r} is never there")
        width = {"integer": 1, "one-hot": int(domain[-1]) + 1}[entry["code"]]
        demand(high - low == width, f"{entry['name']!r} does not fit its place")
    by = int(whole(entry.get("by" if op == "shift" else "level", 0), 0))
    demand(by > 0 if op == "shift" else by < 63, f"{entry['name']!r} looks nowhere")
    head = int(whole(entry["head"], 0)) if "head" in entry else None
    values = whole(entry["values"] if op == "position" else [], 1)
    rows, weights = np.zeros((0, len(read) + 1), np.int64), np.zeros(0, np.int64)
    if op == "table":
        weights = factors(read)
        rows, bos, later = _table(whole(entry["rows"], 2), read, weights)
    else:
        bos, later = _reach(op, read, values, letters, T)
    place = stored and entry["code"] == "one-hot", (low, high) if stored else None
    table = rows[:, :-1], rows[:, -1]
    told = (entry["name"], op, tuple(names), by, *table, domain, *place, born, dies)
    return Channel(*told, head, values, bos, later, weights)


def _read(op: str, entry: Any) -> list[str]:
    if op == "at":
        return [entry["source"], *entry["digits"]]
    return [entry[field] for field in FIELDS[op]]


def factors(read: list[Channel]) -> IntArray:
    """What each column of a table counts in the number of a row."""
    sizes = [int(c.domain[-1]) + 1 for c in read]
    demand(prod(sizes) < 2**62, "there are too many rows to number")
    return np.array([prod(sizes[i + 1 :]) for i in range(len(read))], np.int64)


def _table(
    rows: IntArray, read: list[Channel], weights: IntArray
) -> tuple[IntArray, int, IntArray]:
    """The rows that occur, ascending; the result at BOS, and all results later."""
    demand(rows.shape[1] == len(read) + 1 > 1, "a table has rows of another length")
    inside = [np.isin(x, c.later) for x, c in zip(rows.T, read, strict=False)]
    later, start = np.all(inside, axis=0), rows[:, :-1] == [c.bos for c in read]
    kept = rows[later | start.all(axis=1)]
    number, order = np.unique(kept[:, :-1] @ weights, return_index=True)
    every = later.sum() == prod(len(c.later) for c in read) and start.all(axis=1).any()
    demand(every and len(number) == len(kept), "a table lacks a row or has one twice")
    bos = rows[start.all(axis=1), -1]
    return kept[order], int(bos[0]), np.unique(rows[later, -1])


def _reach(
    op: str, read: list[Channel], values: IntArray, letters: int, T: int
) -> tuple[int, IntArray]:
    """The value at BOS, and all values at later positions."""
    if op == "token":
        return letters, np.arange(letters)
    if op == "position":
        demand(len(values) == T + 1, "a position has not one value for each position")
        return int(values[0]), np.unique(values[1:])
    bos, later = read[0].bos, read[0].later
    if op == "select":
        demand(max(bos, later.max()) < len(read) - 1, "a selection of nothing")
        chosen = [read[1 + i].later for i in later]
        demand(sum(map(len, chosen)) <= MOST, "a selection has too many values")
        return read[1 + bos].bos, np.unique(np.concatenate(chosen))
    if op == "sum":
        for c in read[1:]:
            bos, later = bos + c.bos, _sums(later, c.later)
        return bos, later
    if op in FLAGGED:
        flagged = read[1].bos == FLAGGED[op] and np.all(read[1].later <= 1)
        demand(flagged, "a flag has another value at BOS, or is not 0 or 1 elsewhere")
    if op == "at":
        binary = all(max(c.bos, c.later.max()) <= 1 for c in read[1:])
        demand(binary and len(read) == 1 + T.bit_length(), "no digits of a position")
    if op not in ("prefix-sum", "marked-sum"):
        return bos, np.union1d(later, bos)
    adds = read[1].values if op == "marked-sum" else (np.arange(T + 1) > 0)
    demand(bos == 0 and len(adds) and adds[0] == 0 and adds.max() <= 1, "a bad sum")
    step, most = int(np.gcd.reduce(later)) or 1, int(later.max()) * int(adds.sum())
    demand(most // step <= MOST, "a sum has too many values")
    return 0, np.arange(0, most + 1, step)


def _sums(some: IntArray, others: IntArray) -> IntArray:
    """All sums of two numbers, ascending; those of runs without gaps are a run."""
    first, last = some[0] + others[0], some[-1] + others[-1]
    if all(v[-1] - v[0] == len(v) - 1 for v in (some, others)):
        return np.arange(first, last + 1)
    demand(len(some) * len(others) <= MOST, "a sum has too many values")
    return np.unique(np.add.outer(some, others))


def spread(program: Program, known: Sets, name: str) -> BoolArray:
    """What a channel may be in each row, given what those that it is a map of may be."""
    todo, needed = [name], set[str]()
    while todo:
        if (one := todo.pop()) not in known and one not in needed:
            demand(program.channels[one].op in MAPS, f"{one!r} may be anything")
            needed.add(one)
            todo += program.channels[one].inputs
    for one in [n for n in program.channels if n in needed]:
        known[one] = mapped(program, known, program.channels[one])
    return known[name]


def mapped(program: Program, known: Sets, channel: Channel) -> BoolArray:
    """What a map may be in each row, given what its inputs may be."""
    read = [program.channels[n] for n in channel.inputs]
    first = known[read[0].name]
    demand(
        len(first) * len(channel.domain) <= MOST_CELLS, "too many values in all cases"
    )
    found = np.zeros((len(first), len(channel.domain)), np.bool_)
    if channel.op == "select":
        for i in np.flatnonzero(first.any(axis=0) & (read[0].domain < len(read) - 1)):
            chosen = read[1 + read[0].domain[i]]
            found |= first[:, i, None] & cast(known[chosen.name], chosen, channel)
        return found
    at, total = np.arange(len(first)), np.zeros(len(first), np.int64)
    weights = channel.weights if channel.op == "table" else np.ones(len(read), np.int64)
    for c, weight in zip(read, weights, strict=True):
        which, value = beside(at, known[c.name])
        at, total = at[which], total[which] + weight * c.domain[value]
        if channel.op == "sum":  # less is kept, and no sum of more than the largest
            small = total <= channel.domain[-1]
            at, total = np.divmod(
                np.unique(at[small] * LARGEST + total[small]), LARGEST
            )
    numbers = channel.numbers if channel.op == "table" else channel.domain
    there = np.searchsorted(numbers, total).clip(max=len(numbers) - 1)
    hit = numbers[there] == total
    place = channel.places[there[hit]] if channel.op == "table" else there[hit]
    found[at[hit], place] = True
    return found


def beside(at: IntArray, known: BoolArray) -> tuple[IntArray, IntArray]:
    """Every value that a channel may have in the rows ``at``, with its place there."""
    row, values = known.nonzero()
    if len(row) == len(known) and (row[:-1] < row[1:]).all():  # one value in each row
        return np.arange(len(at)), values[at]
    count = np.bincount(row, minlength=len(known))
    each = count[at]
    demand(each.sum() <= MOST, "too many values are possible at once")
    which = np.repeat(np.arange(len(at)), each)
    within = np.arange(len(which)) - np.repeat(each.cumsum() - each, each)
    return which, values[(count.cumsum() - count)[at[which]] + within]


def cast(known: BoolArray, channel: Channel, into: Channel) -> BoolArray:
    """What a channel may be, in the domain of another one that has its value."""
    if np.array_equal(channel.domain, into.domain):
        return known
    found = np.zeros((len(known), len(into.domain)), np.bool_)
    both = np.isin(channel.domain, into.domain)
    found[:, into.place(channel.domain[both])] = known[:, both]
    return found
