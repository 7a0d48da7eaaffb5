"""The reference semantics of a Program: plain integers, many words at once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from krohn.program.domains import AnyArray, BoolArray, IntArray
from krohn.program.errors import Refused
from krohn.program.operations.base import LookBack, Operation
from krohn.program.operations.block_sum import BlockSum
from krohn.program.operations.letter_matrix import LetterMatrix
from krohn.program.operations.map import Map
from krohn.program.operations.marked_sum import MarkedSum
from krohn.program.operations.matrix_product import MatrixProduct
from krohn.program.operations.mean import Mean
from krohn.program.operations.normalised import Normalised
from krohn.program.operations.position import Position
from krohn.program.operations.prefix_sum import PrefixSum
from krohn.program.operations.token import Token
from krohn.program.program import Program
from krohn.program.statement import Runnable

Evaluate = Callable[[str, Operation, Sequence[IntArray], IntArray], IntArray]
"""The values of a channel, from those that it reads and the tokens."""


class Held(NamedTuple):
    """Values that an intervention gives to a channel, instead of its own.

    Attributes:
        values: ``(batch, length + 1)``.
        where: Which of them are given; None for all, and then none is computed.
    """

    values: IntArray
    where: BoolArray | None = None


def interpret(
    program: Runnable,
    words: npt.ArrayLike,
    held: Mapping[str, Held] | None = None,
    born: Mapping[str, int] | None = None,
    evaluate: Evaluate | None = None,
) -> dict[str, IntArray]:
    """The value of every channel at every position.

    Args:
        program: What to run.
        words: ``(batch, length)`` letter indices.
        held: Channels that are given values: what the Program would say if they had them.
        born: Of the channels that a network stores, the snapshot at which each is written.
            Values are given in the stream at that snapshot, so that a channel which is
            born there too, and computes the given one anew, does not read them. By
            default every channel reads them.
        evaluate: How an operation is computed; by default as `evaluate_operation` does.

    Returns:
        For each channel an array ``(batch, length + 1)``; column 0 is BOS.

    Raises:
        Refused: If a table meets a value that it has no row for.
    """
    letters = np.asarray(words, dtype=np.int64)
    tokens = np.insert(letters, 0, program.bos, axis=1)
    run = _Run(program, tokens, held or {}, born or {}, evaluate or _evaluate)
    for name in program.operations:
        run.compute(name)
    return run.values


def _evaluate(
    name: str, operation: Operation, read: Sequence[IntArray], tokens: IntArray
) -> IntArray:
    try:
        return evaluate_operation(operation, read, tokens)
    except Refused as reason:
        raise Refused(f"channel {name!r}: {reason}") from None


@singledispatch
def evaluate_operation(
    operation: Operation, read: Sequence[AnyArray], tokens: IntArray
) -> AnyArray:
    """The meaning of an operation: its value at every position.

    Args:
        operation: The operation.
        read: ``(batch, length + 1)`` for each channel that it reads, ``(batch,
            length + 1, n, n)`` if that holds matrices.
        tokens: ``(batch, length + 1)``; column 0 is BOS.

    Raises:
        Refused: If a table has no row for a value that occurs.
    """
    raise NotImplementedError(f"nothing says what {operation.wire!r} means")


@evaluate_operation.register
def _(operation: LookBack, read: Sequence[AnyArray], tokens: IntArray) -> AnyArray:
    t = np.arange(tokens.shape[1])
    at = np.broadcast_to(operation.position(read[1:], t), tokens.shape)
    return read[0][np.arange(len(tokens))[:, None], at]


@evaluate_operation.register
def _(operation: Token, read: Sequence[AnyArray], tokens: IntArray) -> AnyArray:
    return tokens


@evaluate_operation.register
def _(operation: Position, read: Sequence[AnyArray], tokens: IntArray) -> AnyArray:
    row = np.array(operation.values[: tokens.shape[1]], dtype=np.int64)
    return np.broadcast_to(row, tokens.shape).copy()


@evaluate_operation.register
def _(operation: Map, read: Sequence[AnyArray], tokens: IntArray) -> AnyArray:
    return operation.function(read)


@evaluate_operation.register
def _(operation: PrefixSum, read: Sequence[AnyArray], tokens: IntArray) -> AnyArray:
    return np.asarray(np.cumsum(read[0], axis=1))


@evaluate_operation.register
def _(operation: MarkedSum, read: Sequence[AnyArray], tokens: IntArray) -> AnyArray:
    return np.asarray(np.cumsum(read[0] * read[1], axis=1))


@evaluate_operation.register
def _(operation: Mean, read: Sequence[AnyArray], tokens: IntArray) -> AnyArray:
    return operation.means(*read)


@evaluate_operation.register
def _(operation: BlockSum, read: Sequence[AnyArray], tokens: IntArray) -> AnyArray:
    return operation.block_sums(np.cumsum(read[0], axis=1), read[1][0])


@evaluate_operation.register
def _(operation: LetterMatrix, read: Sequence[AnyArray], tokens: IntArray) -> AnyArray:
    return np.asarray(operation.rows[read[0]])


@evaluate_operation.register
def _(operation: MatrixProduct, read: Sequence[AnyArray], tokens: IntArray) -> AnyArray:
    return np.asarray(read[0] @ read[1])


@evaluate_operation.register
def _(operation: Normalised, read: Sequence[AnyArray], tokens: IntArray) -> AnyArray:
    mass = (read[0] @ np.array(operation.vector)).sum(axis=-1)
    return np.asarray(read[0] / mass[..., None, None])


@dataclass(frozen=True)
class _Run:
    """Channels so far.

    Attributes:
        values: As those read them that are born later.
        own: As they are computed, before anything is given.
        touched: Channels that are given values, or read one that is touched.
    """

    program: Runnable
    tokens: IntArray
    held: Mapping[str, Held]
    born: Mapping[str, int]
    evaluate: Evaluate
    values: dict[str, IntArray] = field(default_factory=dict)
    own: dict[str, IntArray] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)

    def compute(self, name: str) -> None:
        """One more channel, whose reads are there."""
        patch = self.held.get(name)
        reads = self.program.operations[name].reads
        if patch is not None or not self.touched.isdisjoint(reads):
            self.touched.add(name)
        if patch is not None and patch.where is None:
            self.values[name] = self.own[name] = patch.values
            return
        values = self.own[name] = self._at(name, self.born.get(name, inf))
        if patch is not None and patch.where is not None:
            values = np.where(patch.where, patch.values, values)
        self.values[name] = values

    def _at(self, name: str, snapshot: float) -> IntArray:
        """A channel, computed from the stream before a snapshot."""
        operation = self.program.operations[name]
        read = [self._read(n, snapshot) for n in operation.reads]
        return self.evaluate(name, operation, read, self.tokens)

    def _read(self, name: str, snapshot: float) -> IntArray:
        """The values of a channel that another one reads which is written at a snapshot."""
        born = self.born.get(name)
        if not self.born or name not in self.touched:
            return self.values[name]
        if born is None:  # nowhere stored: whoever reads it computes it
            return self._at(name, snapshot)
        return self.values[name] if born < snapshot else self.own[name]


def states(
    program: Program,
    words: npt.ArrayLike,
    held: Mapping[str, Held] | None = None,
) -> IntArray:
    """The decoded states ``(batch, length)`` after every letter; -1 where undecodable.

    Args:
        program: What to run.
        words: ``(batch, length)`` letter indices.
        held: As for `interpret`.
    """
    return decoded_outputs(
        program.outputs, program.decode, interpret(program, words, held)
    )


def decoded_outputs(
    outputs: Sequence[str],
    decode: Mapping[tuple[int, ...], int],
    values: Mapping[str, IntArray],
) -> IntArray:
    """The answers that the outputs mean, ``(batch, length)``; -1 where they mean none.

    Args:
        outputs: The channels of the answer.
        decode: What each tuple of their values means.
        values: Of all channels, ``(batch, length + 1)``.
    """
    rows = np.stack([values[name][:, 1:] for name in outputs], axis=-1)
    distinct, index = np.unique(
        rows.reshape(-1, rows.shape[-1]), axis=0, return_inverse=True
    )
    answers = np.array([decode.get(tuple(r), -1) for r in distinct.tolist()])
    return np.asarray(answers[index].reshape(rows.shape[:-1]), dtype=np.int64)
