"""How a Transformer computes its Program, as evidence for the kernel.

Nothing here is trusted: the kernel bounds every number of the network by it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from math import ceil, inf
from typing import Any, NamedTuple

import numpy as np

from krohn.program.architectures.transformer import Block, Transformer
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.model_file import Model
from krohn.verify.kernel.programs import ProgramEvidence

GRAIN = {"float32": 40, "float64": 60, "bfloat16": 40, "float16": 40}
"""The kernel has bounds in units of 2^-GRAIN, which are finer than what sums are off by."""
CLEAR = 27
"""Scores that are stored in 16 bits need not lead by more: weights are off by more."""
SUMS = ("prefix-sum", "marked-sum")
"""The operations of heads that add up."""
MOST_WORK = 2**26
"""How often units are looked at, for all dimensions; each time takes about 2 µs."""
MOST_SCORES = 2**26
"""How many scores are computed for one head."""
EVERY_ROW = 256
"""Up to this length the scores of every position are computed, else of so many."""


class Lives(NamedTuple):
    """A channel that dimensions hold: from which snapshot on, and the first of them."""

    channel: str
    born: int
    start: int
    code: str


class Vectors(NamedTuple):
    """What a head makes of positions, each with values of some channels.

    Attributes:
        names: The channels; None is the position.
        at: ``(vectors,)``: the position of each.
        values: ``(vectors, names)``: the values there.
        vectors: ``(vectors, d_qk)``.
    """

    names: list[str | None]
    at: IntArray
    values: IntArray
    vectors: FloatArray

    def value_of(self, name: str | None) -> IntArray:
        """``(vectors,)``: the values of a channel."""
        column: IntArray = self.values[:, self.names.index(name)]
        return column

    def within(self, first: int, last: int) -> "Vectors":
        """Those of positions from one to another."""
        low, high = np.searchsorted(self.at, (first, last + 1))
        seen = slice(low, high)
        return Vectors(self.names, self.at[seen], self.values[seen], self.vectors[seen])


class Layout:
    """Which channel each dimension holds, and how far the scores of heads lead."""

    def __init__(self, model: Model, program: ProgramEvidence) -> None:
        self._model, self._program = model, program
        self._tensors = model.tensors
        self._shape = model.network(Transformer)
        self._known = program.known.channels
        self._channels = {c["name"]: c for c in model.program["channels"]}
        (self._token,) = (
            name for name, c in self._channels.items() if c["op"] == "token"
        )
        self._length = model.length or 0
        self._grain = GRAIN[model.format.name]
        self._work = 0.0

    def to_object(self) -> dict[str, Any]:
        """The layout.

        Raises:
            Refused: If scores lead by too little, or too many values would be looked at.
        """
        blocks = self._shape.blocks
        steps = [self._step(b, block) for b, block in enumerate(blocks)]
        outputs = self._origins(self._model.program["outputs"], 2 * len(blocks))
        return {
            "grain": self._grain,
            "token_channel": self._place(self._token),
            "position_channel": self._place(None),
            "at_first": self._places(0),
            "steps": steps,
            "read_out": self._all(outputs),
        }

    def _place(self, name: str | None) -> int:
        """The number of a channel; None is the position."""
        place = self._program.place
        return len(place) if name is None else place[name]

    def _all(self, names: Iterable[str | None]) -> list[int]:
        return [self._place(name) for name in names]

    # Dimensions.

    @cached_property
    def _lives(self) -> list[Lives]:
        return [
            Lives(name, c["snapshots"][0], c["dims"][0], c["code"])
            for name, c in self._channels.items()
            if "dims" in c
        ]

    @cached_property
    def _living(self) -> list[list[Lives]]:
        """For each dimension the channels that are ever written to it."""
        each: list[list[Lives]] = [[] for _ in range(self._shape.d_model)]
        for life in self._lives:
            for dim in range(*self._channels[life.channel]["dims"]):
                each[dim].append(life)
        return each

    def _find_channel(self, snapshot: int, dim: int) -> Lives | None:
        """The channel that was last written to a dimension."""
        born = (x for x in self._living[dim] if x.born <= snapshot)
        return max(born, key=lambda x: x.born, default=None)

    def _is_feature(self, dim: int) -> bool:
        features = self._model.program["features"].values()
        return any(low <= dim < high for low, high in features)

    def _origins(self, names: Sequence[str], snapshot: int) -> list[str | None]:
        """The channels that are there, of which others are maps."""
        dims = range(self._shape.d_model)
        lives = (self._find_channel(snapshot, dim) for dim in dims)
        there = {life.channel for life in lives if life is not None} | {self._token}
        origins = list[str | None]()
        for name in names:
            channel = self._channels[name]
            if name in there:
                origins.append(name)
            elif channel["op"] == "position":
                origins.append(None)
            else:
                demand(channel["op"] == "map", f"{name} is not stored where it is read")
                origins += self._origins(channel["inputs"], snapshot)
        return list(dict.fromkeys(origins))

    def _places(self, snapshot: int) -> list[list[Any]]:
        """For each dimension what it holds, and of what that is a function."""
        return [self._of(snapshot, dim) for dim in range(self._shape.d_model)]

    def _of(self, snapshot: int, dim: int) -> list[Any]:
        life = self._find_channel(snapshot, dim)
        name = life.channel if life else None
        if not life and not self._is_feature(dim):
            name = self._token
        sources: list[str | None] = [name]
        if life and self._is_computed(life, snapshot):
            channel = self._channels[life.channel]
            sources = self._origins(channel.get("inputs", [name]), snapshot - 1)
            stored = set(channel.get("inputs", ())) <= set(sources)
            if channel.get("function") == "select" and stored and len(sources) > 2:
                return self._by_cases(life, channel["inputs"], snapshot, dim)
            units = (
                1 + sum(self._shape.blocks[snapshot // 2 - 1].mlp) if snapshot else 1
            )
            self._count(life, sources, units)
        return [self._place(name), self._all(sources)]

    def _by_cases(
        self, life: Lives, inputs: Sequence[str], snapshot: int, dim: int
    ) -> list[Any]:
        """What a selection writes goes by the channel that it selects alone."""
        index, *values = inputs
        units = self._units_behind(snapshot // 2 - 1, dim)
        known = self._known[index]
        cases = []
        for v in sorted({int(known.bos), *map(int, known.later)}):
            if v < len(values):
                read = list(dict.fromkeys([index, values[v]]))
                self._count(life, read, units, len(known.later))
                cases.append([v, self._all(read)])
        return [self._place(life.channel), self._place(index), cases]

    def _units_behind(self, block: int, dim: int) -> int:
        """How many units what an MLP writes to a dimension depends on."""
        weights = [
            self._model.tensors[f"blocks.{block}.mlp.{j}.weight"]
            for j in range(1, len(self._shape.blocks[block].mlp) + 1)
        ]
        count, read = 1, np.array([dim])
        for weight in reversed(weights):
            read = np.flatnonzero(weight[:, read].any(axis=1))
            count += len(read)
        return count

    def _count(
        self, life: Lives, sources: Sequence[str | None], units: int, cases: int = 1
    ) -> None:
        rows = np.prod([len(self._later(x)) for x in sources], dtype=float) / cases
        self._work += rows * units
        demand(self._work <= MOST_WORK, f"{life.channel} reads too many values")

    def _is_computed(self, life: Lives, snapshot: int) -> bool:
        op = self._channels[life.channel]["op"]
        return life.born == snapshot and op in ("map", "position")

    def _later(self, name: str | None) -> IntArray:
        if name is None:
            return np.arange(1, self._length + 1)
        return self._known[name].later

    def _step(self, b: int, block: Block) -> dict[str, Any]:
        return {
            "plans": [self._plan(b, h) for h in range(block.heads)],
            "after_heads": self._places(2 * b + 1),
            "after_mlp": self._places(2 * b + 2),
        }

    # Heads.

    def _plan(self, b: int, h: int) -> dict[str, Any]:
        """How a head fetches."""
        at = f"blocks.{b}.attention."
        query, key, out = (self._tensors[at + x][h] for x in ("query", "key", "out"))
        mine = [
            c
            for c in self._channels.values()
            if c.get("head") == h and c["snapshots"][0] == 2 * b + 1
        ]
        demand(bool(mine), f"the file does not say what head {h} of block {b} fetches")
        first = mine[0]
        fetches = [
            next(
                (c["name"] for c in mine if entry[slice(*c["dims"])].any()),
                first["name"],
            )
            for entry in out
        ]
        asked = [first["query"]] if "query" in first else []
        flags = [first[x] for x in ("where", "key") if x in first]
        asks = self._read(2 * b, query) | dict.fromkeys(asked)
        offers = self._read(2 * b, key) | dict.fromkeys(flags)
        queries = self._vectors(2 * b, query, list(asks))
        keys = self._vectors(2 * b, key, list(offers))
        scores = Scores(first, queries, keys, self._marks(first))
        common = {
            "asks": self._all(asks),
            "offers": self._all(offers),
            "fetches": self._all(fetches),
        }
        return {**common, **self._measure(2 * b, first, scores)}

    def _marks(self, channel: Mapping[str, Any]) -> IntArray:
        """Which positions a sum counts, of all."""
        if channel["op"] != "marked-sum":
            return np.minimum(np.arange(self._length + 1), 1)
        return np.array(self._channels[channel["where"]]["values"])

    def _measure(
        self, snapshot: int, channel: Mapping[str, Any], scores: "Scores"
    ) -> dict[str, int]:
        """How far the right scores lead, and how large scores are.

        A score is rounded three times, as query, key and product, and what is read by
        both in each sublayer before, each time by up to 2^-22 of the largest score
        (Bounds.v); weights are off by as much. What an MLP has computed is off by more,
        and the kernel tries lesser leads, too.
        """
        most = (ceil(scores.most) + 1) * 2**self._grain
        narrow = self._model.format.narrow
        if channel["op"] not in SUMS:
            most += most // (8 if narrow else 256)
            lead = min(scores.lead, CLEAR) if narrow else scores.lead
            demand(lead >= 2, f"the scores of {channel['name']} lead by too little")
            gap = 1000 if lead == inf else ceil(lead - 1)
            return {"most": most, "gap": gap, "shares": 0, "loose": 0}
        marks = self._marks(channel)[1:]
        highest = int(marks.sum()) * int(max(self._later(channel["source"])))
        every = len(self._later(channel["name"])) == 1 + highest
        demand(every, f"{channel['name']} does not have all values up to {highest}")
        shares, off = scores.shares
        off += (3 + 2 * (1 + snapshot)) * 2.0**-22 * max(scores.most, 1)
        return {"most": most, "gap": 1000, "shares": shares, "loose": ceil(off * 2**64)}

    def _read(self, snapshot: int, weight: FloatArray) -> dict[str | None, None]:
        channels = dict[str | None, None]()
        for dim in np.flatnonzero(weight.any(axis=1)).tolist():
            life = self._find_channel(snapshot, dim)
            if life or self._is_feature(dim):
                channels[life.channel if life else None] = None
        return channels

    def _vectors(
        self, snapshot: int, weight: FloatArray, names: list[str | None]
    ) -> Vectors:
        """For each position all values of channels and what a head makes of them."""
        channels = [name for name in names if name is not None]
        domains = [self._later(name).tolist() for name in channels]
        at_bos = [int(self._known[name].bos) for name in channels]
        joint = list(product(*domains))
        cases = np.array(joint, np.int64).reshape(len(joint), len(channels))
        demand(
            len(cases) * self._length**2 <= MOST_SCORES * EVERY_ROW,
            "a head reads too many values",
        )
        every = np.concatenate([[at_bos], np.tile(cases, (self._length, 1))])
        at = np.repeat(np.arange(self._length + 1), [1, *[len(cases)] * self._length])
        vectors = self._of_positions(snapshot, weight)[at]
        for i, name in enumerate(channels):
            vectors = vectors + self._of_values(snapshot, weight, name, every[:, i])
        columns = {name: every[:, i] for i, name in enumerate(channels)} | {None: at}
        values = np.stack([columns[name] for name in names] or [at], axis=1)
        return Vectors(names or [None], at, values, vectors)

    def _of_positions(self, snapshot: int, weight: FloatArray) -> FloatArray:
        """``(positions, d_qk)``: what the features of the positions add."""
        dims = [
            dim
            for dim in range(self._shape.d_model)
            if self._find_channel(snapshot, dim) is None and self._is_feature(dim)
        ]
        embedded = self._tensors["embed.position"][: self._length + 1]
        added: FloatArray = embedded[:, dims] @ weight[dims]
        return added

    def _of_values(
        self, snapshot: int, weight: FloatArray, name: str, values: IntArray
    ) -> FloatArray:
        """``(values, d_qk)``: what the values of a channel add, without noise."""
        added = np.zeros((len(values), weight.shape[1]))
        for dim, row in enumerate(weight):
            life = self._find_channel(snapshot, dim)
            if life is not None and life.channel == name and row.any():
                one = life.code == "one-hot"
                held = values == dim - life.start if one else values
                added += np.outer(held, row)
        return added


class Scores:
    """The scores of a head, of positions and all that they may ask for.

    Attributes:
        most: The largest in absolute value.
        lead: By how much the right score leads at least.
        shares: Of a sum, to how many letters all weights add up, and by how much the
            weight of a letter that counts differs at most, as a part of it.
    """

    def __init__(
        self,
        channel: Mapping[str, Any],
        queries: Vectors,
        keys: Vectors,
        marks: IntArray,
    ) -> None:
        """Of a head, for positions that a sum counts, if it adds up: ``marks``."""
        self.most, self.lead = 0.0, inf
        self._counted = np.cumsum(marks)
        self._many, self._off = 0, 0.0
        self._channel, self._keys = channel, keys
        for t in _rows(len(marks) - 1):
            asking, seen = queries.within(t, t), keys.within(0, t)
            scores = asking.vectors @ seen.vectors.T
            self.most = max(self.most, float(np.abs(scores).max(initial=0)))
            for i, row in enumerate(scores):
                if channel["op"] in SUMS:
                    self._weigh(t, seen, row)
                else:
                    case = dict(zip(asking.names, asking.values[i], strict=True))
                    lead = self._lead_of(t, case, seen, row)
                    self.lead = min(self.lead, lead)

    @property
    def shares(self) -> tuple[int, float]:
        """To how many letters weights add up, and how much one is off."""
        return self._many, self._off

    def _weigh(self, t: int, seen: Vectors, row: FloatArray) -> None:
        some, flag = seen.at >= 0, self._channel.get("where")
        if flag is not None:
            some = (seen.at == 0) | (seen.value_of(flag) == 1)
        weights = np.exp(row[some])
        self._many = self._many or round(float(weights.sum()))
        bos = self._many - self._counted[t] + self._counted[0]
        share = np.where(seen.at[some] == 0, bos, 1)
        demand(bool((share > 0).all()), "BOS is too light for a sum")
        self._off = max(self._off, float(np.abs(weights / share - 1).max()))

    def _lead_of(
        self,
        t: int,
        case: Mapping[str | None, int],
        seen: Vectors,
        row: FloatArray,
    ) -> float:
        """The least lead of a right key, as `on` and `beside` of Domains.v say."""
        channel = self._channel
        flag = channel.get("where", channel.get("key"))
        if flag is None:
            right = seen.at == max(t - channel["by"], 0)
            return _over(row[right].min(), row[~right])
        asked = case[channel["query"]] if "query" in channel else 1
        flagged = seen.value_of(flag) == asked
        high, none = _largest(seen.at, row, t), np.where(flagged, -inf, row)
        other = _largest_elsewhere(_largest(seen.at, none, t))
        if channel["op"] == "earliest":
            after = np.maximum.accumulate(high[::-1])[::-1]
            beside = np.maximum(np.append(after[1:], -inf), high[0])
            beside[0] = -inf
        else:
            before = np.maximum.accumulate(high)
            beside = np.concatenate([[-inf], before[:-1]])
        beside = np.maximum(beside, other)
        right = flagged | ((seen.at == 0) & (channel["op"] != "latest"))
        leads = row[right] - beside[seen.at[right]]
        return float(leads.min(initial=inf))


def _rows(length: int) -> Iterator[int]:
    """Positions whose scores are computed: all, or the first and last and a few between."""
    if length <= EVERY_ROW:
        yield from range(length + 1)
        return
    few = np.linspace(0, length, EVERY_ROW // 8).astype(int).tolist()
    yield from sorted({*range(8), *few, *range(length - 7, length + 1)})


def _over(score: float, others: FloatArray) -> float:
    return float(score - others.max(initial=-inf))


def _largest(at: IntArray, scores: FloatArray, last: int) -> FloatArray:
    """``(positions,)``: the largest score at each."""
    largest = np.full(last + 1, -inf)
    np.maximum.at(largest, at, scores)
    return largest


def _largest_elsewhere(largest: FloatArray) -> FloatArray:
    """For each position the largest of all others."""
    top = int(largest.argmax())
    elsewhere = np.full(len(largest), largest[top])
    elsewhere[top] = np.delete(largest, top).max(initial=-inf)
    return elsewhere
