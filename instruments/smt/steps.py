"""The tables that MLPs hold, and the steps of a chain of thought, for all real numbers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import z3

from krohn.instruments.gadgets.pieces import RATIONALS, trim
from krohn.instruments.gadgets.record import Case, Gadget
from krohn.instruments.smt.encoding import (
    Term,
    constant,
    product,
    relu,
    terms,
    total,
    variable,
)
from krohn.instruments.smt.gadgets import (
    TERMS,
    Limits,
    Verdict,
    ask,
    solver,
)
from krohn.kinds.dynamic_programs.statement import ChainOfThought
from krohn.network.meaning.engine import Engine
from krohn.network.meaning.forward import mlp
from krohn.network.meaning.net import Affine, Block as NetBlock, Net
from krohn.network.meaning.rationals import Rationals, fractions
from krohn.network.modelfile import ModelFile
from krohn.program import Map, Refused
from krohn.program.architectures.transformer import Transformer
from krohn.program.attention import Linear, Rectified, Sight, Softmax, Sparse
from krohn.program.block_kinds import BlockKinds
from krohn.program.domains import IntArray, joint
from krohn.program.errors import told_as
from krohn.program.expressions import Atom, Expression
from krohn.program.operations.base import LookBack
from krohn.program.statement import Channel, Statement, parse
from krohn.verify.errors import Rejected

# The tables that the MLPs of a model file hold, as gadgets.
#
# Weights and places come from the file; what a channel must hold is worked out here from
# the Program that the file states, value by value, without the code of the proof that
# covers them by cases.


MOST_ROWS = 4096
TABLES = BlockKinds(
    "SMT", (Softmax, Linear, Sparse, Rectified), (Sight.CAUSAL, Sight.WHOLE)
)
"""Whatever heads do, the tables after them are asked about."""
MALFORMED = (Refused, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class Block:
    """The MLP of a block, with the places of channels around it.

    Attributes:
        statement: The Program.
        snapshot: The snapshot before the MLP.
        held: For each dimension that holds a channel before it, the channel's name.
        layers: Its affine layers.
        mask: ``(d,)``: 1 where it keeps its input.
    """

    statement: Statement
    snapshot: int
    held: Mapping[int, str]
    layers: tuple[Affine[Rationals], ...]
    mask: Rationals

    def gadgets(self) -> Iterator[Gadget]:
        """One gadget for every channel that the MLP writes.

        Raises:
            Rejected: If a channel depends on unstored channels, or on too many values.
        """
        for channel in self.statement.channels.values():
            if channel.stored and channel.stored.born == self.snapshot + 1:
                yield self._gadget(channel)

    def _gadget(self, channel: Channel) -> Gadget:
        layers, used = trim(self.layers, list(channel.span), self.mask)
        kept = np.full((len(used), len(channel.span)), Fraction(0), dtype=object)
        for i, dimension in enumerate(channel.span):
            kept[used == dimension, i] = self.mask[dimension]
        zero = np.full(kept.shape, Fraction(0), dtype=object)
        cases = tuple(
            Case(code, code, (Affine(zero, value),))
            for code, value in self._rows(channel, used)
        )
        return Gadget(channel.name, layers, cases, kept=kept)

    def _rows(
        self, channel: Channel, used: IntArray
    ) -> Iterator[tuple[Rationals, Rationals]]:
        """Codes of what is read, with that of the value."""
        features = self.statement.features.values()
        if any(d in range(*span) for span in features for d in used.tolist()):
            raise Rejected(f"the MLP of {channel.name!r} reads a position feature")
        read = {self.held[d] for d in used.tolist() if d in self.held}
        values = self._joint(channel.name, sorted(read | self._leaves(channel)))
        codes = np.full(
            (len(values[channel.name]), len(self.mask)), Fraction(0), object
        )
        for name in values.keys() & set(self.held.values()):
            leaf = self.statement.channels[name]
            codes[:, list(leaf.span)] = _codes(leaf, values[name])
        results = _codes(channel, values[channel.name])
        yield from zip(codes[:, used], results, strict=True)

    def _joint(self, name: str, known: list[str]) -> dict[str, IntArray]:
        """The values at BOS, and all joint values later, with those of the Maps between."""
        read = [self.statement.channels[n].values for n in known]
        if np.prod([len(v.later) for v in read], dtype=object) > MOST_ROWS:
            raise Rejected(f"{name!r} depends on more than {MOST_ROWS} joint values")
        rows = np.vstack([[v.bos for v in read], joint([v.later for v in read])])
        values = dict(zip(known, rows.T, strict=True))
        self._follow(name, values)
        return values

    def _leaves(self, channel: Channel) -> set[str]:
        if channel.name in self.held.values():
            return {channel.name}
        if not isinstance(channel.operation, Map):
            raise Rejected(f"{channel.name!r} is not there where an MLP needs it")
        return set().union(*map(self._leaves, self.statement.reads(channel.name)))

    def _follow(self, name: str, known: dict[str, IntArray]) -> None:
        operation = self.statement.operations[name]
        if name not in known and isinstance(operation, Map):
            for below in operation.reads:
                self._follow(below, known)
            known[name] = operation.function([known[n] for n in operation.reads])


def _codes(channel: Channel, values: IntArray) -> Rationals:
    return fractions(channel.code(values))


def gadgets(file: ModelFile) -> Iterator[Gadget]:
    """The gadgets of all blocks of a Transformer, in order.

    Raises:
        Rejected: If the file holds no Transformer with a Program, or one whose MLPs are
            no tables of stored channels.
    """
    if not isinstance(file.architecture, Transformer):
        raise Rejected("only Transformers have MLPs that hold tables")
    statement = _statement(file)
    width = file.architecture.d_model
    for b, block in enumerate(_blocks(file)):
        if block.layers:
            before = channels_of_dimensions(statement, 2 * b + 1, width)
            channels_of_dimensions(
                statement, 2 * b + 2, width
            )  # refuses places that are not there
            mask = fractions(np.ones(width)) if block.mask is None else block.mask
            stated_block = Block(statement, 2 * b + 1, before, block.layers, mask)
            yield from stated_block.gadgets()


def _blocks(file: ModelFile) -> tuple[NetBlock[Rationals], ...]:
    """The blocks of a file without their heads.

    Raises:
        Rejected: If a number of theirs is not finite.
    """
    blocks = Net.of(file.architecture, file.tensors).blocks
    with told_as(Rejected):
        return tuple(replace(block, heads=None).each(fractions) for block in blocks)


def _statement(file: ModelFile) -> Statement:
    """The Program that a file states.

    Raises:
        Rejected: If it cannot be read, or its channels have no dimensions of their own.
    """
    if file.architecture.disguise is not None:
        raise Rejected("the variables of a disguised network have no dimensions")
    with told_as(Rejected):
        TABLES.check(file.architecture)
    letters = file.architecture.vocabulary - 1
    length, program = file.claim.length, file.header.get("program")
    if length is None or not isinstance(program, dict):
        raise Rejected("the file does not say what its channels are")
    try:
        return parse(program, letters, length)
    except MALFORMED as reason:
        raise Rejected(f"the Program cannot be read: {reason}") from None


def channels_of_dimensions(
    statement: Statement, snapshot: int, width: int
) -> dict[int, str]:
    """Which channel each dimension holds at a snapshot, if it holds one.

    Raises:
        Rejected: If two of them, or of the position features, claim a dimension, or one
            lies outside the stream.
    """
    live = {
        channel.name: channel.span
        for channel in statement.channels.values()
        if channel.stored and channel.stored.born <= snapshot <= channel.stored.dies
    }
    claims = [*live.values(), *(range(*span) for span in statement.features.values())]
    taken = [d for span in claims for d in span]
    if len(set(taken)) < len(taken) or not set(taken) <= set(range(width)):
        raise Rejected("two channels overlap, or one lies outside the residual stream")
    return {d: name for name, span in live.items() for d in span}


# Steps of a chain of thought: the output of a file's MLPs, for all real numbers read.
#
# A step reads numbers at fixed places. Here each is any real number within its bounds,
# and what a head delivers is off by up to ``noise``. The weights, the position table
# and the places of channels are those of the file. The question is whether the number
# that is said can be further than ``error`` from the rule; both are piecewise linear,
# so z3 decides it. That heads look where they are said to look is what the proof shows.


Rule = Callable[[Sequence[Any]], Any]
"""The number a step must say, from the real numbers it reads, or a condition on them."""


@dataclass(frozen=True)
class Question:
    """The question about each step.

    Attributes:
        noise: How far each number that a head delivers may be off.
        error: How far the number that is said may be off; less than 1/2 is enough.
        rule: The number that every step must say; None for the rules of the source.
        where: The numbers for which it must; None for all within their bounds.
        limits: The solver's limits for each step.
    """

    noise: Fraction = Fraction(0)
    error: Fraction = Fraction(0)
    rule: Rule | None = None
    where: Rule | None = None
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class StepFinding:
    """The decision about a step.

    Attributes:
        step: The number of the step.
        verdict: ``verified``, ``refuted`` or ``undecided``.
        reason: Why it is undecided.
        reads: The numbers that it reads in a counterexample.
        said: The network's number there; replayed in fractions.
        wanted: The rule's number.
    """

    step: int
    verdict: Verdict
    reason: str = ""
    reads: tuple[Fraction, ...] = ()
    said: Fraction = Fraction(0)
    wanted: Fraction = Fraction(0)


@dataclass(frozen=True)
class _Network:
    """The parts of a network that bear on a step: all after the only layer of heads.

    Attributes:
        statement: The Program of the file.
        stack: The blocks without their heads.
        table: The position table plus the common part of all tokens.
        free: For each dimension the least and the most that tokens add to that.
        heads: The channels that heads write.
        output: The dimension of the answer.
    """

    statement: Statement
    stack: tuple[NetBlock[Rationals], ...]
    table: Rationals
    free: tuple[Rationals, Rationals]
    heads: tuple[Channel, ...]
    output: int

    def compute_number(self, o: Engine, stream: Any) -> Any:
        """The number that a step says, from the stream after the heads."""
        for block in self.stack:
            stream = mlp(o, block, stream)
        return stream[self.output]


def decide_steps(
    file: ModelFile, source: ChainOfThought, asked: Question
) -> Iterator[StepFinding]:
    """Decide, step by step, whether the MLPs give the number of the rule.

    Args:
        file: A network with one layer of softmax heads.
        source: The chain of thought that it writes.
        asked: The question about every step.

    Raises:
        Rejected: If the file is no such network, or the solver's model is no
            counterexample in fractions.
    """
    network, boxes = _network(file), source.boxes()
    for i, step in enumerate(source.steps):
        if step.token is None:
            yield _decide(network, source, i, boxes, asked)


def _network(file: ModelFile) -> _Network:
    shape, statement = file.architecture, _statement(file)
    (first, *others) = [b for b, block in enumerate(shape.blocks) if block.heads]
    if others or shape.blocks[first].attention != Softmax() or first:
        raise Rejected(
            "only networks whose first layer alone has softmax heads are read"
        )
    with told_as(Rejected):
        token, position = (
            fractions(file.tensors[f"embed.{n}"]) for n in ("token", "position")
        )
    least = token[:-1].min(axis=0)
    heads = [
        c
        for c in statement.channels.values()
        if isinstance(c.operation, LookBack) and c.stored
    ]
    written = {d for c in heads for d in c.span}
    out = file.tensors[f"blocks.{first}.attention.out"]
    if not set(np.flatnonzero(out.any(axis=(0, 1))).tolist()) <= written:
        raise Rejected("a head writes where no channel is said to be")
    (output,) = statement.outputs
    return _Network(
        statement,
        _blocks(file),
        position + least,
        (0 * least, token[:-1].max(axis=0) - least),
        tuple(heads),
        statement.channels[output].span[0],
    )


def _decide(
    network: _Network,
    source: ChainOfThought,
    i: int,
    boxes: Sequence[tuple[int, int]],
    asked: Question,
) -> StepFinding:
    step, numbers, conditions = source.steps[i], dict[int, Term](), list[Any]()
    for place in {read.place: None for read in step.reads}:
        low, high = map(Fraction, boxes[place])
        numbers[place] = _make_unknown(f"v{place}", (low, high), conditions)
    reads = [total([numbers[r.place], constant(r.constant)]) for r in step.reads]
    given = [r.expression for r in reads]
    t = len(source.prompt) + i
    stream = _stream(network, t, numbers, asked.noise, conditions)
    output = network.compute_number(TERMS, terms(stream))
    own = _term(source.rules[step.rule], reads).expression
    wanted = own if asked.rule is None else asked.rule(given)
    far = z3.RealVal(asked.error)
    conditions.append(
        z3.Or(output.expression > wanted + far, output.expression < wanted - far)
    )
    conditions += [asked.where(given)] if asked.where else []
    answer = ask(solver(asked.limits), conditions, asked.limits)
    if answer.outcome != "sat":
        verdict: Verdict = "verified" if answer.outcome == "unsat" else "undecided"
        return StepFinding(i, verdict, answer.reason)
    point = np.array([answer.number(x.expression) for x in stream], dtype=object)
    actual, right = network.compute_number(RATIONALS, point), answer.number(wanted)
    if abs(actual - right) <= asked.error:
        raise Rejected(f"the solver's numbers for step {i} are not wrong in fractions")
    shown = tuple(answer.number(r.expression) for r in reads)
    return StepFinding(i, "refuted", "", shown, actual, right)


def _make_unknown(
    name: str, bounds: tuple[Fraction, Fraction], conditions: list[Any]
) -> Term:
    """An unknown number, or a known one if the bounds leave one only."""
    if bounds[0] == bounds[1]:
        return constant(bounds[0])
    term, within = variable(name, *bounds)
    conditions.append(within)
    return term


def _stream(
    network: _Network,
    t: int,
    numbers: dict[int, Term],
    noise: Fraction,
    conditions: list[Any],
) -> list[Term]:
    """The residual stream after the heads: table, token, and the heads' outputs."""
    stream = list[Term]()
    for d, fixed in enumerate(network.table[t]):
        own = _make_unknown(
            f"x{d}", (network.free[0][d], network.free[1][d]), conditions
        )
        stream.append(total([constant(fixed), own]))
    for channel in network.heads:
        assert isinstance(channel.operation, LookBack)
        asked = [network.statement.channels[n] for n in channel.operation.asks]
        given = [np.asarray(c.values_by_position)[None] for c in asked]
        looked = channel.operation.position(given, np.arange(len(network.table)))
        place = int(looked[0, t])
        if place and place not in numbers:
            raise Rejected(f"{channel.name!r} looks where the step does not read")
        (d,) = channel.span
        off = _make_unknown(f"e{d}", (-noise, noise), conditions)
        stream[d] = total([stream[d], numbers.get(place, constant(0)), off])
    return stream


def _term(expression: Expression, reads: Sequence[Term]) -> Term:
    """A rule over the numbers that a step reads."""

    def one(atom: Atom) -> Term:
        if isinstance(atom.inside, int):
            return reads[atom.inside]
        inside = _term(atom.inside, reads)
        return relu(inside) if atom.kind == "rectified" else inside

    parts = [product(constant(weight), one(atom)) for atom, weight in expression.terms]
    return total([constant(expression.constant), *parts])
