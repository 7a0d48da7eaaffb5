"""The predictions of a Program for interventions: channels are given values in a network.

A prediction stands only where the Program is defined: its domains and the rows of its
tables are those that *occur*, and a network is made, and proved, for no others. A position
is *defined* if there every channel has a value of its domain, every table has a row for
what it reads, and the tables of the letter that one MLP decides a channel by have values
that some letter gives them together (docs/proofs/mlps.md, Theorem R3). A prediction stands
up to the first position that is not defined (docs/python.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from krohn.program.domains import BoolArray, IntArray
from krohn.program.functions import Table
from krohn.program.interpreter import (
    Held,
    decoded_outputs,
    evaluate_operation,
    interpret,
)
from krohn.program.operations.base import Operation
from krohn.program.operations.map import Map
from krohn.program.statement import Statement, cone


class Gap(NamedTuple):
    """Where a prediction ends, and why.

    Attributes:
        position: The first position that is not defined.
        channel: The channel that has no value there.
        read: What it reads there; empty if it would have a value outside of its domain.
        of_letter: Whether it reads tables of the letter that no letter has together.
        value: The value outside of its domain.
    """

    position: int
    channel: str
    read: Mapping[str, int]
    of_letter: bool = False
    value: int = 0


class Prediction(NamedTuple):
    """The predicted effect of an intervention.

    Attributes:
        answers: ``(batch, length)``: the states or outputs that are said; −1 where
            nothing is predicted.
        values: Of each channel, ``(batch, length + 1)``; meaningless where nothing is
            defined.
        defined: ``(batch, length + 1)``: how far the prediction stands.
        gap: Why it ends there, of one word; None of several, or where it does not end.
    """

    answers: IntArray
    values: Mapping[str, IntArray]
    defined: BoolArray
    gap: Gap | None = None


def predict(
    program: Statement, words: npt.ArrayLike, held: Mapping[str, Held]
) -> Prediction:
    """The answers of a network in which channels are given values where it writes them.

    Args:
        program: The Program of its file.
        words: ``(batch, length)`` letter indices.
        held: The values, in the stream at the snapshot where the channel is born.
    """
    words = np.asarray(words, dtype=np.int64)
    born = {name: c.born for name, c in program.channels.items() if c.stored}
    watch = _Watch(program, np.ones((len(words), words.shape[1] + 1), np.bool_))
    values = interpret(program, words, held, born, watch.evaluate)
    for name in program.channels:
        watch.check_letters(name, held, values)
    defined = watch.stands()
    answers = decoded_outputs(program.outputs, program.decode, values)
    gap = min(watch.gaps, key=attrgetter("position"), default=None)
    return Prediction(np.where(defined[:, 1:], answers, -1), values, defined, gap)


@dataclass(frozen=True)
class _Watch:
    """Evaluates operations where they are defined, and notes where they are not.

    Attributes:
        gaps: Of one word, why it is not defined, in the order in which it is found.
    """

    program: Statement
    defined: BoolArray = field(repr=False)
    gaps: list[Gap] = field(default_factory=list)

    def evaluate(
        self,
        name: str,
        operation: Operation,
        read: Sequence[IntArray],
        tokens: IntArray,
    ) -> IntArray:
        """The values of a channel; any of its domain where it is not defined."""
        if isinstance(operation, Map) and isinstance(operation.function, Table):
            table = operation.function
            missing = table.place(read) < 0
            self._note(missing, name, dict(zip(operation.reads, read, strict=True)))
            row = table.rows[0].tolist()
            read = [np.where(missing, r, c) for r, c in zip(row, read, strict=True)]
        values = evaluate_operation(operation, read, tokens)
        channel = self.program.channels[name]
        right = np.isin(values, channel.later)
        right[:, 0] = values[:, 0] == channel.bos
        self._note(~right, name, {}, values=values)
        usual = np.full(values.shape, channel.later[0])
        usual[:, 0] = channel.bos
        return np.where(right, values, usual)

    def check_letters(
        self, name: str, held: Mapping[str, Held], values: Mapping[str, IntArray]
    ) -> None:
        """Note where tables of the letter that decide a channel belong to no letter."""
        read = letter_tables(self.program, name)
        if len(read) < 2 or held.keys().isdisjoint(read):
            return
        known = rows_of_letters(self.program, read)
        seen = np.stack([values[n] for n in read], axis=-1)
        rows = seen.reshape(-1, len(read)).tolist()
        strange = np.array([tuple(row) not in known for row in rows])
        strange = strange.reshape(seen.shape[:2])
        strange[:, 0] = False
        self._note(strange, name, {n: values[n] for n in read}, of_letter=True)

    def _note(
        self,
        missing: BoolArray,
        name: str,
        read: Mapping[str, IntArray],
        of_letter: bool = False,
        values: IntArray | None = None,
    ) -> None:
        """Note where a channel is not defined, and why, as `Gap` says it."""
        np.logical_and(self.defined, ~missing, out=self.defined)
        if len(missing) == 1 and missing.any():
            t = int(missing[0].argmax())
            found = {n: int(column[0, t]) for n, column in read.items()}
            value = 0 if values is None else int(values[0, t])
            self.gaps.append(Gap(t, name, found, of_letter, value))

    def stands(self) -> BoolArray:
        """How far everything is defined: a later position spoils no earlier one."""
        if all(operation.causal for operation in self.program.operations.values()):
            return np.logical_and.accumulate(self.defined, axis=1)
        whole = self.defined.all(axis=1, keepdims=True)
        return np.broadcast_to(whole, self.defined.shape)


def rows_of_letters(program: Statement, read: Sequence[str]) -> set[tuple[int, ...]]:
    """The values that one letter gives to the token, or tables of it, together."""
    letters = np.arange(program.letters)
    first = next(iter(program.channels))
    columns = [
        letters if n == first else program.channels[n].table([letters]) for n in read
    ]
    return set(zip(*(column.tolist() for column in columns), strict=True))


def letter_tables(program: Statement, name: str) -> list[str]:
    """The token, and the stored tables of it, from which an MLP decides a channel."""
    channel = program.channels[name]
    if channel.born <= 0 or channel.operation.is_attention:
        return []
    stored = {n for n, c in program.channels.items() if 0 <= c.born < channel.born}
    opened = cone(program, name, stored)
    read = dict.fromkeys(n for o in opened for n in program.operations[o].reads)
    first = next(iter(program.channels))
    tables = [
        n for n in read if n in stored and program.operations[n].reads == (first,)
    ]
    return [first] * (first in read) + tables
