"""A chain of thought by heads that look at fixed places (Yang et al. 2024, Theorem 4.1).

At each position a head fetches each argument of the next step: the binary digits of its
place stand in the position table, or how far back it is, which a head finds by the square
of the distance (the addresses of Feng et al. 2023). Rules are piecewise linear in fetched
contents, so no table grows with the numbers, and flags of the position choose between
rules. The output is the next token. Only digits of places, log2 of the length, make the
network wider.

Sparse heads see the last B positions and the last one of each block of B (Theorem 4.2,
Lemma A.12 repaired). So the last one of a block first gathers its block in B slots, by
look-backs; a place that is out of sight is then read in a slot of the end of its block.

Linear heads can only add up what a feature of a position says (Lemma A.9). A position puts
its content in one of W slots, by its place in its block of W; a head adds up each slot over
the block that is asked for, where it holds one content only, and the MLP picks a slot.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from math import isqrt

from krohn.compiler.machine_programs import of_letter
from krohn.kinds.dynamic_programs.statement import (
    Argument,
    ChainOfThought,
)
from krohn.program import (
    At,
    BlockSum,
    Map,
    Operation,
    Piecewise,
    Position,
    Program,
    Select,
    Shift,
    ShiftBy,
    Token,
)
from krohn.program.expressions import (
    Atom,
    Bounds,
    Expression,
    argument,
    number,
    rectify,
)
from krohn.program.whole_expressions import gate, minimum

NAME, ATTENTION = "chain-of-thought", ("standard", "linear", "sparse")
LOCAL = 4
"""Up to so many √L positions a window is cheaper than slots where positions meet.

With slots there are √L − 1 heads that gather and two for each of K arguments, and each sees
2√L positions: 2√L·(√L − 1 + 2K) pairs at a position. A window of 4√L has K heads that see
4¼·√L each, which is less if √L ≥ 1 + K/8.
"""
MOST_SAID = 2**11
"""Where no step is, rules say numbers that are no tokens; larger ones are cut off."""
CONTENT, NEXT = "content", "next"
NOTHING = Argument(0, 0)


def block_size(source: ChainOfThought) -> int:
    """B of sparse heads: how far back steps read, or about the square root of the length.

    If B is at least the locality, no slot is needed, and the width does not grow (Yang et
    al. 2024, Proposition 5.4). Else B slots, and as many ends of blocks, are fewest at √L.
    """
    root = isqrt(source.length - 1) + 1
    return max(1, source.locality if source.locality <= LOCAL * root else root)


def chain_of_thought(
    source: ChainOfThought, attention: str = "standard", by_distance: bool = False
) -> Program:
    """The Program whose greedy continuation of a prompt is its chain of thought.

    Args:
        source: The chain of thought.
        attention: How its heads weigh positions: one of `ATTENTION`. Sparse ones see one
            window of `block_size` positions.
        by_distance: Whether heads, but for linear ones, find places by how far back they
            are, and not by binary digits.

    Raises:
        Refused: If a number can be negative or larger than all tokens.
    """
    source.boxes()
    steps = [None] * len(source.prompt) + list(source.steps)  # said at t = 0, 1, …
    first = {"token": Token(), CONTENT: of_letter(source.contents, 0)}
    made = _Channels(first, max(source.contents), by_distance)
    reads = zip_longest(*(s.reads if s else () for s in steps), fillvalue=NOTHING)
    size = block_size(source)
    known: dict[str, Callable[[int, Sequence[Argument]], Expression]] = {
        "standard": made.argument,
        "sparse": partial(made.far_argument, size),
        "linear": partial(made.added_argument, 2 ** (size - 1).bit_length()),
    }
    fetch = known[attention]
    arguments = [
        (fetch if any(r.place for r in each) else made.constant)(k, each)
        for k, each in enumerate(reads)
    ]
    fixed = [s.token if s and s.token is not None else 0 for s in steps]
    total = made.position("fixed", fixed)
    for r, rule in enumerate(source.rules):
        chosen = [bool(s and s.token is None and s.rule == r) for s in steps]
        if any(chosen):
            result = made.affine(rule.with_arguments(arguments.__getitem__))
            flag = made.position(f"is.rule{r}", [int(c) for c in chosen])
            total = total + gate(result, flag, made.bounds(result)[1])
    if made.bounds(total)[1] > MOST_SAID:
        total = minimum(made.add(total), number(len(source.tokens) - 1))
    made.add(total.expansion, NEXT)
    return Program(
        letters=source.tokens,
        states=len(source.tokens),
        length=source.length - 1,
        operations=made.operations,
        outputs=(NEXT,),
        decode={(token,): token for token in range(len(source.tokens))},
    )


@dataclass
class _Channels:
    """The channels of a Program under construction; expressions name them by number.

    Attributes:
        operations: The channels.
        most: The largest content of a token.
        by_distance: Whether heads find places by how far back they are, not by digits.
        names: The channel of each argument of expressions.
        box: What each can be.
        known: The channel of each expression that has one.
    """

    operations: dict[str, Operation]
    most: int
    by_distance: bool
    names: list[str] = field(default_factory=list)
    box: dict[int, tuple[int, int]] = field(default_factory=dict)
    known: dict[Expression, Expression] = field(default_factory=dict)

    def bounds(self, expression: Expression) -> tuple[int, int]:
        """The least and the largest value of an expression of channels."""
        return Bounds(self.box).of(expression)

    def argument(self, k: int, reads: Sequence[Argument]) -> Expression:
        """An argument at each position: content that a head fetches, plus a constant."""
        places = [read.place for read in reads]
        fetched = self._fetch(f"argument{k}", CONTENT, f"place{k}", places)
        return fetched + self.constant(k, reads)

    def constant(self, k: int, reads: Sequence[Argument]) -> Expression:
        """The constant of an argument at each position."""
        return self.position(f"constant{k}", [r.constant for r in reads])

    def far_argument(self, block: int, k: int, reads: Sequence[Argument]) -> Expression:
        """An argument where heads see only the last positions and the end of each block.

        Slot r of a position is the content of the position r before it; only slots
        of the ends of blocks are read. Where nothing is to be fetched, BOS gives 0.
        """
        places = [read.place for read in reads]
        near = [x if t - x < block else 0 for t, x in enumerate(places)]
        far = [x - n for x, n in zip(places, near, strict=True)]
        ends = [-(-x // block) * block for x in far]
        offsets = [e - x if e else -1 for e, x in zip(ends, far, strict=True)]
        seen = self._fetch(f"near{k}", CONTENT, f"near{k}.place", near)
        if not any(far):
            return seen + self.constant(k, reads)
        channels = {-1: f"near{k}"}
        for r in sorted({*offsets} - {-1}):
            slot = f"slot{r}" if r else CONTENT
            if r:
                self.operations.setdefault(slot, Shift(CONTENT, r))
            channels[r] = f"far{k}[{r}]"
            self._fetch(channels[r], slot, f"end{k}", ends)
        return self._select(k, offsets, channels, reads)

    def added_argument(
        self, block: int, k: int, reads: Sequence[Argument]
    ) -> Expression:
        """An argument where heads add up blocks of positions.

        Slot r of a position is its content if it is the r-th of its block, else 0.
        """
        places = [read.place for read in reads]
        numbers = [-(-x // block) for x in places]
        self.operations[f"block{k}"] = Position(tuple(numbers))
        offsets = [x % block if x else -1 for x in places]
        channels = dict[int, str]()
        for r in sorted({*offsets} - {-1}):
            here = [int(t % block == r) for t in range(len(reads))]
            content, flag = (
                self._channel_argument(CONTENT, (0, self.most)),
                f"is.slot{r}",
            )
            only = gate(content, self.position(flag, here), self.most + 1)
            (atom, _), *_ = self.add(only, f"slot{r}").terms
            assert isinstance(atom.inside, int)
            channels[r] = f"sum{k}[{r}]"
            slot = self.names[atom.inside]
            self.operations[channels[r]] = BlockSum(slot, f"block{k}", block)
        return self._select(k, offsets, channels, reads)

    def _select(
        self,
        k: int,
        offsets: Sequence[int],
        found: Mapping[int, str],
        reads: Sequence[Argument],
    ) -> Expression:
        """An argument, by the offset of its place: one of some channels, or 0."""
        added = self.constant(k, reads)
        if not any(read.place for read in reads):
            return added
        order = {offset: i for i, offset in enumerate(found)}
        name, chosen = f"argument{k}", [order.get(o, 0) for o in offsets]
        self.operations[f"which{k}"] = Position(tuple(chosen))
        self.operations[name] = Map(Select(), (f"which{k}", *found.values()))
        fetched = self._channel_argument(name, (0, self.most))
        return fetched + added

    def _fetch(
        self, name: str, source: str, place: str, places: Sequence[int]
    ) -> Expression:
        """A channel that fetches another one from a place for each position."""
        if self.by_distance:
            back = tuple(t - p for t, p in enumerate(places))
            self.operations[place] = Position(back)
            self.operations[name] = ShiftBy(source, place)
            return self._channel_argument(name, (0, self.most))
        digits = tuple(f"{place}[{b}]" for b in range((len(places) - 1).bit_length()))
        for b, digit in enumerate(digits):
            self.operations[digit] = Position(tuple(p >> b & 1 for p in places))
        self.operations[name] = At(source, digits)
        return self._channel_argument(name, (0, self.most))

    def position(self, name: str, values: Sequence[int]) -> Expression:
        """A function of the position."""
        if len(set(values)) == 1:
            return number(values[0])
        self.operations[name] = Position(tuple(values))
        return self._channel_argument(name, (min(values), max(values)))

    def affine(self, expression: Expression) -> Expression:
        """An expression without terms max(e, 0): these, and values, become channels."""
        return expression.with_atoms(self._channel)

    def _channel(self, atom: Atom) -> Expression:
        if isinstance(atom.inside, int):
            return argument(atom.inside)
        if atom.kind == "value":
            return self.add(atom.inside.with_atoms(self._flat))
        return self.add(self._flat(atom))

    def _flat(self, atom: Atom) -> Expression:
        """An atom as max(e, 0) of channels, or as a channel."""
        if atom.kind == "rectified":
            return rectify(self.affine(atom.expression))
        return self._channel(atom)

    def add(self, expression: Expression, name: str = "") -> Expression:
        """A channel with the value of an expression of others.

        A channel is not negative: one for an expression that can be is larger by as much.
        """
        low = self.bounds(expression)[0]
        if low < 0 and not name:
            return self.add(expression - low) + low
        if expression in self.known:
            return self.known[expression]
        name = name or f"value{len(self.known)}"
        used = sorted(expression.arguments)
        local = {at: argument(i) for i, at in enumerate(used)}
        function = Piecewise(expression.with_arguments(local.__getitem__))
        inputs = tuple(self.names[at] for at in used)
        self.operations[name] = Map(function, inputs)
        self.known[expression] = self._channel_argument(name, self.bounds(expression))
        return self.known[expression]

    def _channel_argument(self, name: str, box: tuple[int, int]) -> Expression:
        if name in self.names:
            return argument(self.names.index(name))
        self.names.append(name)
        self.box[len(self.names) - 1] = box
        return argument(len(self.names) - 1)
