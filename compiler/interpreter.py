"""The reference semantics of a Program: plain integers, many words at once."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from algebra.rows import distinct
from algebra.semiautomaton import IntArray
from compiler.errors import CompileError
from compiler.program import (
    At,
    Earliest,
    Latest,
    LatestMatch,
    Map,
    MarkedSum,
    Operation,
    Position,
    PrefixSum,
    Program,
    Select,
    Shift,
    SiblingLatest,
    Sum,
    Table,
    Token,
    reads,
)


def interpret(
    program: Program,
    words: npt.ArrayLike,
    held: Mapping[str, IntArray] | None = None,
) -> dict[str, IntArray]:
    """The value of every channel at every position.

    Args:
        program: What to run.
        words: ``(batch, length)`` letter indices.
        held: Channels that are given, ``(batch, length + 1)`` each, instead of computed:
            what the Program would say if they had these values.

    Returns:
        For each channel an array ``(batch, length + 1)``; column 0 is BOS.

    Raises:
        CompileError: If a table meets a value that it has no row for.
    """
    letters = np.asarray(words, dtype=np.int64)
    bos = np.full((letters.shape[0], 1), program.bos, dtype=np.int64)
    values: dict[str, IntArray] = {}
    for name, operation in program.operations.items():
        if held is not None and name in held:
            values[name] = held[name]
            continue
        tokens = np.concatenate([bos, letters], axis=1)
        values[name] = _evaluate(name, operation, values, tokens)
    return values


def states(
    program: Program,
    words: npt.ArrayLike,
    held: Mapping[str, IntArray] | None = None,
) -> IntArray:
    """The decoded states ``(batch, length)`` after every letter; -1 where undecodable.

    Args:
        program: What to run.
        words: ``(batch, length)`` letter indices.
        held: As for `interpret`.
    """
    values = interpret(program, words, held)
    rows = np.stack([values[name][:, 1:] for name in program.outputs], axis=-1)
    distinct, index = np.unique(
        rows.reshape(-1, rows.shape[-1]), axis=0, return_inverse=True
    )
    decoded = np.array([program.decode.get(tuple(r), -1) for r in distinct.tolist()])
    return np.asarray(decoded[index].reshape(rows.shape[:-1]), dtype=np.int64)


def _evaluate(
    name: str, operation: Operation, values: Mapping[str, IntArray], tokens: IntArray
) -> IntArray:
    positions = np.arange(tokens.shape[1])
    match operation:
        case Token():
            return tokens
        case Position(given):
            row = np.array(given, dtype=np.int64)[positions]
            return np.broadcast_to(row, tokens.shape).copy()
        case Map():
            return _mapped(name, operation, [values[n] for n in operation.inputs])
        case PrefixSum() | MarkedSum():
            factors = [values[n] for n in reads(operation)]
            return np.asarray(np.cumsum(np.prod(factors, axis=0), axis=1))
        case _:
            source, *others = (values[n] for n in reads(operation))
            at = _looked_at(operation, others, positions)
            return np.take_along_axis(source, np.broadcast_to(at, source.shape), axis=1)


def _looked_at(
    operation: Operation, read: Sequence[IntArray], positions: IntArray
) -> IntArray:
    """``(batch, positions)`` or ``(positions,)``: from where each position fetches."""
    match operation:
        case Shift(_, by):
            return np.maximum(positions - by, 0)
        case Latest():
            marked = np.where(read[0] == 1, positions, 0)
            return np.maximum.accumulate(marked, axis=1)
        case LatestMatch():
            return _last_matches(*read)
        case SiblingLatest(_, _, level):
            return _last_of_sibling(read[0], positions, level)
        case Earliest():
            return _first_flagged(read[0], positions)
        case At():
            return _pointed(read, positions)
    raise CompileError(f"the interpreter does not know {operation!r}")


def _mapped(name: str, operation: Map, inputs: list[IntArray]) -> IntArray:
    match operation.function:
        case Select():
            stacked = np.stack(inputs[1:], axis=-1)
            chosen = np.take_along_axis(stacked, inputs[0][..., None], axis=-1)
            return np.asarray(chosen[..., 0])
        case Sum():
            return np.asarray(sum(inputs))
        case Table() as function:
            return look_up(function, np.stack(inputs, -1), name)


def _last_matches(keys: IntArray, queries: IntArray) -> IntArray:
    """``(batch, length + 1)``: the last position ≥ 1 whose key is the query, else 0."""
    positions = np.arange(keys.shape[1])
    last = np.zeros_like(keys)
    for value in np.unique(queries):
        matches = np.where(keys == value, positions, 0)
        matches = np.maximum.accumulate(matches, axis=1)
        last = np.where(queries == value, matches, last)
    return last


def _last_of_sibling(where: IntArray, positions: IntArray, level: int) -> IntArray:
    """``(batch, positions)``: the last flagged position of the block before, or 0."""
    block = positions >> level
    marked = np.where(where == 1, positions, 0)
    last = np.maximum.accumulate(marked, axis=1)
    end = np.maximum((block << level) - 1, 0)
    found = last[:, end]
    inside = (block % 2 == 1) & (found >> level == block - 1)
    return np.where(inside, found, 0)


def _first_flagged(where: IntArray, positions: IntArray) -> IntArray:
    """``(batch, positions)``: the first flagged position ≥ 1 up to each, or 0."""
    never = len(positions)
    marked = np.where((where == 1) & (positions > 0), positions, never)
    first = np.minimum.accumulate(marked, axis=1)
    return np.where(first == never, 0, first)


def _pointed(digits: Sequence[IntArray], positions: IntArray) -> IntArray:
    """``(batch, positions)``: the position that binary digits say, or 0 if it is later."""
    x = np.sum([digit << b for b, digit in enumerate(digits)], axis=0)
    return np.where(x <= positions, x, 0)


def look_up(function: Table, arguments: IntArray, name: str = "table") -> IntArray:
    """The table's value for each argument tuple ``(..., inputs)``.

    Raises:
        CompileError: If a tuple has no row.
    """
    flat = arguments.reshape(-1, arguments.shape[-1])
    everything = np.concatenate([function.rows, flat])
    _, code = distinct(everything - everything.min(initial=0))
    known = len(function.rows)
    value = np.full(int(code.max()) + 1, -1, dtype=np.int64)
    position = np.full(int(code.max()) + 1, -1, dtype=np.int64)
    value[code[:known]] = function.values
    position[code[:known]] = np.arange(known)
    missing = np.flatnonzero(position[code[known:]] < 0)
    if missing.size:
        raise CompileError(
            f"channel {name!r} has no row for the values {flat[missing[0]].tolist()}"
        )
    return value[code[known:]].reshape(arguments.shape[:-1])
