"""Generated text: what a Program says at each place of a chain of thought.

Theorem 5g of docs/proofs/dynamic_programs.md: token by token, the Program is evaluated on
expressions of what the tokens before count, and compared with the rule of the step.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from krohn.kinds.dynamic_programs.statement import ChainOfThought
from krohn.kinds.dynamic_programs.statement_inputs import Prompts
from krohn.program.domains import IntArray
from krohn.program.errors import demand
from krohn.program.expressions import (
    Atom,
    Bounds,
    Expression,
    Interval,
    argument,
    number,
    rectify,
    sum_of_terms,
    value,
)
from krohn.program.functions import Select, Table
from krohn.program.operations.base import LookBack
from krohn.program.operations.block_sum import BlockSum
from krohn.program.operations.map import Map
from krohn.program.operations.token import Token
from krohn.program.piecewise import Piecewise
from krohn.program.statement import Channel, Statement
from krohn.verify.checker.model_file import Model
from krohn.verify.checker.transformer import Reference, causal, read_program

Readings = dict[tuple[int, ...], int]
Lookup = tuple[str, Interval, int, tuple[int, ...]]
"""A table, what one input can be, which one that is, and the other inputs."""
Affine = tuple[bool, int]
"""Whether a number is added to that input, or stands for the result; and the number."""
MOST_ATOMS, MOST_WORK, MOST_VALUES = 10_000, 2**24, 2**24
"""Atoms of an expression; in all texts atoms, and values of tables and of steps."""
CHANNEL = 64
"""The work of a channel at a position, in these units: some 20 microseconds."""


def reference(model: Model, said: Any) -> Reference:
    """The Program of a file, which writes the chain of thought of every prompt."""
    del said
    chain_of_thought = ChainOfThought.from_wire(model.source)
    program = causal(read_program(model, len(chain_of_thought.tokens)))
    sizes = tuple(high - low + 1 for low, high in chain_of_thought.prompt)
    inputs = Prompts(sizes, program.length)
    return Reference(program, check(program, chain_of_thought), inputs)


def check(program: Statement, source: ChainOfThought) -> Readings:
    """Refuse a Program that says another token in a text; else what it says there.

    Returns:
        For each tuple of output values that occurs in a text the token that it means.

    Raises:
        Refused: If greedy decoding is not shown to give the chain of thought.
    """
    demand(program.letters == len(source.tokens), "the network has other tokens")
    demand(program.length == source.length - 1, "texts have another length")
    text, readings = Text.of(program, source), Readings()
    start = len(source.prompt)
    ends = [text.tokens[start + i + 1] for i in range(len(source.steps))]
    count = sum(high - low + 1 for low, high in ends)
    count *= len(program.outputs)
    demand(count <= MOST_VALUES, "a chain of thought has too many tokens")
    text.check_size()
    for i, (step, (low, high)) in enumerate(zip(source.steps, ends, strict=True)):
        if step.token is None:
            reads = [text.content(r.place) + r.constant for r in step.reads]
            wanted = text.simple(
                source.rules[step.rule].with_arguments(reads.__getitem__)
            )
        else:
            wanted = number(step.token)
        text.spend("atoms", wanted.size)
        shown = [_match_output(text.at(n, start + i), wanted) for n in program.outputs]
        for token in range(low, high + 1):
            values = tuple(token if value is None else value for value in shown)
            meant = program.decode.get(values)
            demand(meant == token, f"step {i}: the Program says another token")
            readings[values] = token
    return readings


def _match_output(shown: Expression, wanted: Expression) -> int | None:
    """The output, if it is always the same; None if it is the wanted number.

    That number is not negative, so that max(wanted, 0) is the same.

    Raises:
        Refused: If it is neither.
    """
    if not shown.terms:
        return shown.constant
    same = shown.expansion in (wanted.expansion, rectify(wanted.expansion))
    demand(same, "the Program is not shown to compute the rule of a step")
    return None


@dataclass(frozen=True)
class Text:
    """The channels of a Program in all texts of a chain of thought.

    Argument j of an expression is the content of the j-th token.

    Attributes:
        program: The Program.
        source: The chain of thought.
        tokens: The least and the greatest token at each place, first BOS.
        bounds: What contents can be.
    """

    program: Statement
    source: ChainOfThought
    tokens: list[Interval]
    bounds: Bounds
    _known: dict[tuple[str, int], Expression] = field(init=False, default_factory=dict)
    _places: dict[str, IntArray] = field(init=False, default_factory=dict)
    _affine: dict[Lookup, Affine] = field(init=False, default_factory=dict)
    _spent: Counter[str] = field(init=False, default_factory=Counter)

    @staticmethod
    def of(program: Statement, source: ChainOfThought) -> "Text":
        """The texts of a chain of thought.

        Raises:
            Refused: If a number can be negative or larger than all tokens.
        """
        boxes, bos = source.boxes(), len(source.tokens)
        written = boxes[len(source.prompt) + 1 :]
        ranges = [
            ends if step.token is None else (step.token, step.token)
            for step, ends in zip(source.steps, written, strict=True)
        ]
        tokens = [(bos, bos), *source.prompt, *ranges]
        return Text(program, source, tokens, Bounds(dict(enumerate(boxes))))

    def content(self, place: int) -> Expression:
        """The number that the token at a place stands for."""
        low, high = self.bounds.box[place]
        return number(low) if low == high else argument(place)

    def simple(self, expression: Expression) -> Expression:
        """An equal expression without terms max(e, 0) whose sign is known.

        Raises:
            Refused: If it is too large.
        """
        demand(
            expression.size <= MOST_ATOMS, "an expression of the Program is too large"
        )

        def simplify_atom(atom: Atom) -> Expression:
            if isinstance(atom.inside, int):
                return Expression(0, ((atom, 1),))
            inside = self.simple(atom.inside)
            if atom.kind == "value":
                return value(inside)
            low, high = self.bounds.of(inside)
            return number(0) if high <= 0 else inside if low >= 0 else rectify(inside)

        return expression.with_atoms(simplify_atom)

    def at(self, name: str, t: int) -> Expression:
        """A channel at a position, in all texts.

        Raises:
            Refused: If it is no piecewise linear function of contents at fixed places.
        """
        if (name, t) not in self._known:
            expression = self._at(name, t)
            self.spend("channels", CHANNEL + expression.size)
            self._known[name, t] = value(expression)
        return self._known[name, t]

    def check_size(self) -> None:
        """Refuse too many channels at too many positions before one is looked at.

        Raises:
            Refused: If all that may be looked at is more than `MOST_WORK`.
        """
        channels = self.program.channels.values()
        count = sum(channel.values.given is None for channel in channels)
        self.spend("channels", CHANNEL * count * len(self.tokens))
        self._spent.clear()

    def _at(self, name: str, t: int) -> Expression:
        channel = self.program.channels[name]
        operation = channel.operation
        if channel.values.given is not None:
            return number(int(channel.values_by_position[t]))
        if isinstance(operation, BlockSum):
            return self._added_up(channel, operation, t)
        if isinstance(operation, LookBack):
            return self.at(operation.source, self._place(channel, operation, t))
        demand(
            isinstance(operation, Map), f"nothing is said of {channel.name!r} in texts"
        )
        assert isinstance(operation, Map)
        read = self.program.reads(channel.name)
        if isinstance(read[0].operation, Token):
            return self._of_token(channel, t)
        inputs = [self.at(c.name, t) for c in read]
        match operation.function:
            case Piecewise(expression):
                self.spend("atoms", expression.size * (1 + max(x.size for x in inputs)))
                return self.simple(expression.with_arguments(inputs.__getitem__))
            case Table():
                return self._looked_up(channel, inputs)
            case Select():
                return inputs[1 + _known_number(inputs[0])]
            case _:
                return self._sum(inputs)

    def _added_up(self, channel: Channel, operation: BlockSum, t: int) -> Expression:
        block = int(self.program.channels[operation.block].values_by_position[t])
        last = min(block * operation.size, t)
        first = (block - 1) * operation.size + 1 if block else last + 1
        here = range(first, last + 1)
        parts = [self.at(operation.source, j) for j in here]
        return self._sum(parts)

    def _sum(self, parts: list[Expression]) -> Expression:
        size = sum(part.size for part in parts)
        self.spend("atoms", len(parts) + size)
        demand(size <= MOST_ATOMS, "an expression of the Program is too large")
        constant = sum(part.constant for part in parts)
        return sum_of_terms(constant, chain.from_iterable(part.terms for part in parts))

    def _place(self, channel: Channel, operation: LookBack, t: int) -> int:
        """From which position a look-back fetches, if that depends on t alone."""
        if channel.name not in self._places:
            _, *others = self.program.reads(channel.name)
            times = np.arange(self.program.length + 1)
            places = operation.position(
                [c.values_by_position[None] for c in others], times
            )
            self._places[channel.name] = np.ravel(places)
        return int(self._places[channel.name][t])

    def spend(self, what: str, amount: int) -> None:
        """Refuse work before it is done, if it is too much with all that was done."""
        self._spent[what] += amount
        demand(self._spent[what] <= MOST_WORK, f"too many {what} in all texts")

    def _of_token(self, channel: Channel, t: int) -> Expression:
        low, high = self.tokens[t]

        def compute_affine() -> Affine:
            contents = np.array([*self.source.contents, 0])[low : high + 1]
            return _affine(contents, channel.table([np.arange(low, high + 1)]))

        return self._result(
            (channel.name, (low, high), 0, ()), self.content(t), compute_affine
        )

    def _looked_up(self, channel: Channel, inputs: list[Expression]) -> Expression:
        """A table of one number that adds a constant to it, or of constants."""
        varying = [x for x in inputs if x.terms]
        demand(len(varying) <= 1, "a table depends on several numbers of a text")
        one = varying[0] if varying else inputs[0]
        at, (low, high) = (
            next(i for i, x in enumerate(inputs) if x is one),
            self.bounds.of(one),
        )
        others = tuple(x.constant for i, x in enumerate(inputs) if i != at)

        def compute_affine() -> Affine:
            values = np.arange(low, high + 1)
            columns = [x.constant + 0 * values for x in inputs]
            columns[at] = values
            return _affine(values, channel.table(columns))

        return self._result(
            (channel.name, (low, high), at, others), one, compute_affine
        )

    def _result(
        self, asked: Lookup, inside: Expression, found: Callable[[], Affine]
    ) -> Expression:
        """A table's value of an expression; each question is answered once."""
        if asked not in self._affine:
            low, high = asked[1]
            self.spend("values of tables", high - low + 1)
            self._affine[asked] = found()
        is_added, by = self._affine[asked]
        if not is_added:
            return number(by)
        return inside + by if by else inside


def _affine(values: IntArray, results: IntArray) -> Affine:
    """Results as a constant, or as the values plus a constant.

    Raises:
        Refused: If they are neither.
    """
    if (results == results[0]).all():
        return False, int(results[0])
    apart = results - values
    demand(apart == apart[0], "a table of a text is not affine")
    return True, int(apart[0])


def _known_number(expression: Expression) -> int:
    demand(not expression.terms, "a selection depends on a number of a text")
    return expression.constant
