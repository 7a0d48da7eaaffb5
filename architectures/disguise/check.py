"""Disguised networks: how far they are from the plain network beside them.

Theorem D of docs/proofs/disguise.md. The plain network is proved by the rules of all
others, with what is found here as noise of its units, scores, channels and logits.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from krohn.architectures.disguise.check_stream import (
    Sized,
    beside_of,
    length_of,
    lengths,
    measure_product,
    ranges,
    samples,
    together,
)
from krohn.program.architectures.transformer import DISGUISE, PLAIN, Block, Transformer
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import (
    FORMATS,
    GROWN,
    STORED,
    SUM,
    Format,
    Interval,
    bound_underflow,
    fits,
    gamma,
    lost,
)
from krohn.verify.checker.model_file import FloatArray, Model, check_numbers
from krohn.verify.checker.reader import Reader
from krohn.verify.checker.residual_stream import Beside, Stream
from krohn.verify.checker.scores import check_scores

NEARLY = 1e-9
"""Rows as near to others, of their lengths, tell nothing of their own."""
NEVER = 2000
"""So many digits no number has: what a disguised network stores is no code."""
EXACT = FORMATS["float64"]._replace(digits=NEVER)
"""What MLPs and logits of the plain network are followed in: all that the disguised one
rounds is counted apart, and the checker itself computes in float64."""
Pairs = tuple[tuple[int, ...], ...]
Affine = tuple[FloatArray, FloatArray]


def plain(model: Model) -> Model:
    """The plain network in a disguised file, with how far the disguised one is from it.

    Raises:
        Refused: If no rule is about such a disguise.
    """
    shape = model.network(Transformer)
    assert shape.disguise is not None
    demand(model.claim.of_machine, "a disguised network is about no machine")
    demand(shape.strict and not model.format.narrow, "no rule is about this disguise")
    architecture = model.header["architecture"]
    blocks = [*shape.blocks, *shape.disguise.blocks]
    usual = [Block(b.heads, b.d_qk, b.d_v, b.mlp) for b in blocks]
    demand(blocks == usual, "a block of an unknown kind")
    demand([len(block.mlp) < 2 for block in blocks], "an MLP has several layers")
    for name, values in model.tensors.items():
        check_numbers(name, values, model.format)
    pairs = [
        (shape.disguise.heads, [block.heads for block in shape.disguise.blocks]),
        (shape.disguise.units, [sum(block.mlp) for block in shape.disguise.blocks]),
    ]
    for matched, counts in pairs:
        for each, count in zip(matched, counts, strict=True):
            once = sorted(n for n in each if n) == list(range(1, count + 1))
            demand(once, "a head or unit does not stand for one of the plain network")
    own = {
        name.removeprefix(PLAIN): values
        for name, values in model.tensors.items()
        if name.startswith(PLAIN)
    }
    plain_architecture = {
        key: architecture[key] for key in architecture.keys() - {"disguise"}
    }
    plain_architecture |= {
        key: architecture["disguise"][key] for key in ("d_model", "blocks")
    }
    disguise = Disguise(
        model.format,
        {name: x for name, x in model.tensors.items() if not name.startswith(PLAIN)},
        own,
        shape.disguise.d_model,
        shape.disguise.heads,
        shape.disguise.units,
        model.gain,
    )
    form = model.format._replace(digits=NEVER)
    header = {**model.header, "architecture": plain_architecture}
    return replace(model, format=form, tensors=own, header=header, disguise=disguise)


@dataclass(frozen=True)
class Disguise:
    """A disguised network beside a plain one.

    Its stream is x·E + w·B + r: x is a stream of the plain network, w and r are bounded
    (`Beside`); E and B are the first and the other rows of ``directions``.

    Attributes:
        form: The format that is computed in.
        tensors: Those of the disguised network.
        plain: Those of the plain one.
        width: d, of the stream of the plain network.
        heads: For each block and head of the disguised network the number of the head of
            the plain one that it stands for, from 1 on; 0 if it stands for none.
        units: The same of units.
        gain: What queries and scores are larger than those of the tensors times.
    """

    form: Format
    tensors: dict[str, FloatArray]
    plain: dict[str, FloatArray]
    width: int
    heads: Pairs
    units: Pairs
    gain: float

    @property
    def directions(self) -> FloatArray:
        """``(d + waste, D)``: what each dimension of x, then of w, adds to the stream."""
        return self.tensors[f"{DISGUISE}directions"]

    @cached_property
    def code(self) -> Interval:
        """E: ``(d, D)``."""
        return Interval.of(self.directions[: self.width])

    @cached_property
    def waste(self) -> Interval:
        """B: ``(waste, D)``."""
        return Interval.of(self.directions[self.width :])

    def follow_sublayer(
        self, stream: Stream, before: Stream | None, snapshot: int
    ) -> Stream:
        """The plain stream after a sublayer, with what stands beside it.

        Args:
            stream: What the rules of the plain network say.
            before: The stream before the sublayer; None if it is the embedding.
            snapshot: Its number.
        """
        block = (snapshot - 1) // 2
        if before is None:
            stream = replace(stream, beside=self._bound_embedding(stream))
        else:
            off = _Off(self, [n for n in stream.noise if n not in before.noise], stream)
            add = self._add_heads if snapshot % 2 else self._add_units
            add(off, before, block)
            stream = off.after(before)
        form = self.form._replace(digits=NEVER)
        stream = replace(self._measure_stream(stream), reader=None, form=form)
        return self._read(stream, block) if snapshot % 2 else stream

    # ------------------------------------------------------------ what is there

    def _measure_stream(self, stream: Stream) -> Stream:
        """The stream with the largest numbers of the disguised one (D1)."""
        beside = beside_of(stream)
        of_x = Interval.of(ranges(stream, self.code).size)
        sizes = of_x + Interval.of(beside.waste) @ self.waste.size + beside.rest
        fits(sizes, self.form, "a number of the stream", STORED)
        unit = np.where(sizes.high > 0, sizes.high, 1.0)
        waste = self.waste / unit
        angles = (waste @ waste.each(np.transpose)).size
        longest = measure_product(stream, self.code / unit).length
        longest = longest + length_of(Interval.of(beside.rest) / unit)
        longest = longest + (Interval.of(beside.waste) @ angles @ beside.waste).root()
        beside = beside._replace(size=sizes.high, longest=longest.most)
        return replace(stream, beside=beside)

    def reads(
        self, stream: Stream, matrix: FloatArray, bias: FloatArray | float = 0.0
    ) -> tuple[Interval, Interval]:
        """What is read but for x, and by how much that is computed wrongly (D1).

        Args:
            stream: What is known.
            matrix: ``(D, columns)``.
            bias: ``(columns,)``: what is added, before or after it.

        Returns:
            ``(columns,)``: how large w·B·matrix + r·matrix is, and rounding.
        """
        beside, count = beside_of(stream), len(matrix) + 1
        size = Interval.of(beside.size) @ np.abs(matrix)
        weighted = (Interval.of(matrix) * beside.size[:, None]).each(np.transpose)
        size = size.minimum(lengths(weighted) * beside.longest) + np.abs(bias)
        fits(size, self.form, "a sum of the stream", SUM)
        wrong = gamma(count, self.form.sum_unit) * size + bound_underflow(count)
        return self._other(stream, Interval.of(matrix)), wrong

    def _other(self, stream: Stream, matrix: Interval) -> Interval:
        """``(columns,)``: how large w·B·matrix + r·matrix is."""
        beside = beside_of(stream)
        waste = Interval.of(beside.waste) @ (self.waste @ matrix).size
        return waste + Interval.of(beside.rest) @ matrix.size

    def _bound_embedding(self, stream: Stream) -> Beside:
        """What stands beside the plain embedding (D2)."""
        waste, rest = Interval.of(0.0), Interval.of(0.0)
        for name in ("embed.token", "embed.position"):
            count = len(stream.positions) if name.endswith("position") else None
            rows = Interval.of(self.tensors[name][:count])
            inside, left = self.split(
                rows - Interval.of(self.plain[name][:count]) @ self.code, []
            )
            waste = waste + np.abs(inside[:, self.width :]).max(axis=0)
            off = gamma(2, self.form.sum_unit) * rows.size
            rest = rest + left.size.max(axis=0) + off.max(axis=0)
        return Beside(waste.high, rest.high)

    def split(self, rows: Interval, dims: Sequence[int]) -> tuple[FloatArray, Interval]:
        """Rows of the stream as rows of x and w, and what is left of them.

        Args:
            rows: ``(rows, D)``.
            dims: Which dimensions of x they may have.

        Returns:
            ``(rows, d + waste)``, 0 in other dimensions of x, and ``(rows, D)``.
        """
        kept = [*dims, *range(self.width, len(self.directions))]
        inside = np.zeros((len(rows.low), len(self.directions)))
        inside[:, kept] = rows.middle()[0] @ np.linalg.pinv(self.directions[kept])
        return inside, rows - Interval.of(inside) @ self.directions

    # ---------------------------------------------------------------- attention

    def scores(self, stream: Stream, block: int) -> FloatArray:
        """``(heads,)``: how far scores are from those of the plain network (D3)."""
        at, errors = f"blocks.{block}.attention", np.zeros(len(self.heads[block]))
        for head, other in enumerate(self.heads[block]):
            if other:
                errors[other - 1] = self._score(stream, at, head, other - 1)
        return errors[: max((*self.heads[block], 0))]

    def _part(self, at: str, name: str, head: int) -> FloatArray:
        return np.asarray(self.tensors[f"{at}.{name}"][head])

    def _bound_queries(
        self, stream: Stream, query: FloatArray, key: FloatArray
    ) -> tuple[list["Sized"], Interval]:
        """The sizes of queries and keys, and by how much scores are computed wrongly."""
        sizes = [self._measure_product(stream, matrix) for matrix in (query, key)]
        largest, form = sizes[0].times(sizes[1]), self.form.divide_range(self.gain)
        asked = Interval.of(beside_of(stream).size) @ np.abs(query)
        fits(asked, form, "a query", SUM)
        check_scores(largest, form)
        count = query.shape[1] + 1
        return sizes, gamma(count, self.form.sum_unit) * largest + bound_underflow(
            count
        )

    def _measure_product(self, stream: Stream, matrix: FloatArray) -> "Sized":
        """How large y·matrix is, as computed."""
        other, wrong = self.reads(stream, matrix)
        x, off = measure_product(stream, self.code @ matrix), other + wrong
        return Sized(x.each + off, x.length + length_of(off))

    def _score(self, stream: Stream, at: str, head: int, other: int) -> float:
        turn, off = self.tensors[f"{DISGUISE}{at}"][head], list[Sized]()
        parts = [
            (self._part(at, n, head), self.plain[f"{at}.{n}"][other]) for n in HEAD[:2]
        ]
        sizes, wrong = self._bound_queries(stream, parts[0][0], parts[1][0])
        turned = [turn, np.linalg.pinv(turn).T]
        plain = [
            Interval.of(own) @ t for (_, own), t in zip(parts, turned, strict=True)
        ]
        for (matrix, _), own in zip(parts, plain, strict=True):
            apart = ranges(stream, self.code @ matrix - own).size
            more, rounded = self.reads(stream, matrix)
            each = apart + more + rounded
            off.append(Sized(each, length_of(each)))
        wrong = wrong + off[0].times(sizes[1])
        wrong = wrong + measure_product(stream, plain[0]).times(off[1])
        (_, query), (_, key) = parts
        same = Interval.of(turned[0]) @ turned[1].T - np.eye(len(turned[0]))
        bent = [Interval.of(ranges(stream, Interval.of(x)).size) for x in (query, key)]
        bend: Interval = bent[0] @ same.size @ bent[1]
        return (wrong + bend).most

    def _add_heads(self, found: "_Off", stream: Stream, block: int) -> None:
        """What heads add beside copies of the plain values (D4)."""
        at, beside = f"blocks.{block}.attention", beside_of(stream)
        total = Interval.of(np.zeros(self.directions.shape[1]))
        for head, other in enumerate(self.heads[block]):
            query, key, value, out = (self._part(at, n, head) for n in HEAD)
            self._bound_queries(stream, query, key)  # that all weights are numbers
            both, own = Interval.of(value) @ out, np.zeros((self.width, self.width))
            if other:
                own = self.plain[f"{at}.value"][other - 1]
                own = own @ self.plain[f"{at}.out"][other - 1]
            most = self._measure_product(stream, value).each
            wrong = self.reads(stream, value)[1]
            count = len(stream.positions)
            fits(most * (GROWN * count), self.form, "a sum of values", SUM)
            rounded = mean_rounding(count, self.form)
            wrong = wrong + rounded * most + GROWN * lost(count, most.most)
            found.along(self.code @ both - Interval.of(own) @ self.code, stream)
            found.add(self.waste @ both, beside.waste)
            found.add(both, beside.rest)
            found.add(Interval.of(out), wrong.high)
            some = Interval.of(most.high) @ np.abs(out)
            total = total + some + wrong @ np.abs(out)
        if self.heads[block]:
            terms = len(self.heads[block]) * (out.shape[0] + 1) + 2
            found.add_rounding(total, terms, beside)

    # --------------------------------------------------------------------- MLPs

    def _unit(
        self, block: int
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        at = f"blocks.{block}.mlp"
        names = [f"{at}.{j}.{part}" for j in (0, 1) for part in ("weight", "bias")]
        first, bias, second, last = (self.tensors[name] for name in names)
        return first, bias, second, last

    def _match_units(self, block: int) -> tuple[list[int], list[int]]:
        """Units of the disguised network, and those that they stand for."""
        both = [(i, n - 1) for i, n in enumerate(self.units[block]) if n]
        return [i for i, _ in both], [n for _, n in both]

    def _gains(self, stream: Stream, block: int) -> FloatArray:
        """``(units,)``: how much larger units that stand for others are; any are right."""
        mine, theirs = self._match_units(block)
        own = self.plain[f"blocks.{block}.mlp.0.weight"][:, theirs]
        read = self.code.low @ self._unit(block)[0][:, mine]
        rows = samples(stream)
        both, size = (rows @ own) * (rows @ read), (rows @ own) ** 2
        none = size.sum(axis=0) == 0  # it reads what is 0 now: all that is in reach
        both = np.where(none, (own * read).sum(axis=0), both.sum(axis=0))
        gains = both / np.where(none, (own * own).sum(axis=0), size.sum(axis=0))
        demand(gains > 0, "a unit reads nothing, or is turned over")
        return np.asarray(gains)

    def _read(self, stream: Stream, block: int) -> Stream:
        """The stream with what units have of their own, by what they read (D5)."""
        off, (mine, theirs) = 0.0, self._match_units(block)
        gains, moved = np.zeros(0), np.zeros(self.width)
        if mine:
            weight, bias = (x[..., mine] for x in self._unit(block)[:2])
            at, gains = f"blocks.{block}.mlp.0", self._gains(stream, block)
            own, beside = (self.plain[f"{at}.{n}"][..., theirs] for n in PARTS)
            moved, each = self._bound_reading(
                stream, (weight, bias), (own, beside), gains
            )
            off = (each / gains / Interval.of(np.abs(own)).sum(axis=0)).most
        reader = Reader(EXACT, 0.0, 0.0, 0.0, off)
        known = beside_of(stream)._replace(gains=gains, moved=moved)
        return replace(stream, reader=reader, beside=known, form=EXACT)

    def _add_units(self, found: "_Off", stream: Stream, block: int) -> None:
        """What units add beside those of the plain network (D6)."""
        if not self.units[block]:
            return
        weight, bias, out, last = self._unit(block)
        other, rounded = self.reads(stream, weight, bias)
        read = self.code @ weight
        inside = (ranges(stream, read) + bias).wider(other + rounded)
        most = np.maximum(inside.high, 0.0)
        fits(most, self.form, "a unit", STORED)
        mine, theirs = self._match_units(block)
        own, end = np.zeros((len(bias), self.width)), np.zeros(self.width)
        writes, adds = Interval.of(own), Interval.of(end)
        if mine:
            at, gains = f"blocks.{block}.mlp.1", beside_of(stream).gains
            second, end = (self.plain[f"{at}.{n}"] for n in PARTS)
            low, high = own.copy(), own.copy()
            plain_writes = Interval.of(second[theirs]) / gains[:, None]
            low[mine], high[mine] = plain_writes.low, plain_writes.high
            writes, adds = Interval(low, high), Interval.of(end)
        found.add(Interval.of(out) - writes @ self.code, most)
        row = Interval.of(last) - adds @ self.code
        found.add(row.each(lambda x: x[None]), np.ones(1))
        total, terms = together(stream, read, inside, np.abs(out))
        found.add_rounding(total + np.abs(last), terms + 2, beside_of(stream))

    def _bound_reading(
        self, stream: Stream, affine: Affine, plain: Affine, gains: FloatArray
    ) -> tuple[FloatArray, Interval]:
        """What an affine map sees but for x: of each number of x, and of its own.

        Args:
            stream: What is known.
            affine: Weight ``(D, columns)`` and bias of the map.
            plain: ``(d, columns)`` of the plain one.
            gains: ``(columns,)``: how much larger the map is.

        Returns:
            ``(d,)``: how far numbers of x seem moved, to all columns alike; and
            ``(columns,)``: how far each is off besides.
        """
        (weight, bias), (own, beside) = affine, plain
        apart = ranges(stream, self.code @ weight - Interval.of(own) * gains)
        apart = apart + (Interval.of(bias) - Interval.of(beside) * gains)
        alike = weight / gains @ np.linalg.pinv(own, NEARLY)
        left = Interval.of(weight) - (Interval.of(alike) @ own) * gains
        _, rounded = self.reads(stream, weight, bias)
        off = apart.size + self._other(stream, left) + rounded
        return self._other(stream, Interval.of(alike)).high, off

    def read_out(self, stream: Stream) -> tuple[Stream, FloatArray]:
        """The stream as logits see it, and how far each is off besides (D7)."""
        affine, plain = (
            (part["unembed.weight"], part["unembed.bias"])
            for part in (self.tensors, self.plain)
        )
        moved, off = self._bound_reading(stream, affine, plain, np.ones(len(plain[1])))
        known = beside_of(stream)._replace(moved=moved)
        return replace(stream, beside=known, form=EXACT), off.high


HEAD, PARTS = ("query", "key", "value", "out"), ("weight", "bias")


class _Off:
    """What a sublayer adds to the disguised stream beside x·E of the plain one.

    Along channels that are written it is noise of these; else it stands beside.
    """

    def __init__(self, disguise: Disguise, written: list[str], stream: Stream) -> None:
        self.disguise, self.stream, self.written = disguise, stream, written
        channels = stream.program.channels
        self.dims = [d for name in written for d in channels[name].span]
        self.inside = Interval.of(np.zeros(len(disguise.directions)))
        self.rest = Interval.of(np.zeros(disguise.directions.shape[1]))

    def add(self, rows: Interval, most: FloatArray) -> None:
        """All sums of rows ``(rows, D)`` with factors up to ``(rows,)``."""
        inside, rest = self.disguise.split(rows, self.dims)
        self.inside = self.inside + Interval.of(most) @ np.abs(inside)
        self.rest = self.rest + Interval.of(most) @ rest.size

    def along(self, matrix: Interval, stream: Stream) -> None:
        """x·matrix ``(d, D)``, for all x of a stream; and means of such."""
        inside, rest = self.disguise.split(matrix, self.dims)
        self.inside = self.inside + ranges(stream, Interval.of(inside)).size
        self.rest = self.rest + ranges(stream, rest).size

    def add_rounding(self, total: Interval, terms: int, before: Beside) -> None:
        """Rounding of a sum whose terms add up to a total, and of the residual sum."""
        form = self.disguise.form
        fits(total, form, "a sum that a sublayer adds", SUM)
        fits(total + before.size, form, "a number of the stream", STORED)
        off = gamma(terms, form.sum_unit) * total + bound_underflow(terms)
        off = off + gamma(2, form.sum_unit) * (total + off)
        self.rest = self.rest + off + gamma(2, form.sum_unit) * before.size

    def after(self, before: Stream) -> Stream:
        """The stream with all that as noise, or beside it."""
        noise, channels = dict(self.stream.noise), self.stream.program.channels
        for name in self.written:
            more = self.inside[list(channels[name].span)].most
            noise[name] = (Interval.of(noise[name]) + more).high
            demand(noise[name] < 0.5, f"{name!r} can be off by half a step")
        waste = (
            Interval.of(beside_of(before).waste) + self.inside[self.disguise.width :]
        )
        rest = Interval.of(beside_of(before).rest) + self.rest
        return replace(self.stream, noise=noise, beside=Beside(waste.high, rest.high))


def mean_rounding(count: int, form: Format) -> Interval:
    """What sums, products and quotients of a softmax change a mean by, of the largest."""
    both = gamma(count, form.sum_unit) + gamma(2 * count + 2, form.sum_unit)
    also = gamma(count, form.sum_unit)
    return (both.through(np.expm1) + also) / (1 - also)
