"""The reference semantics of a Program: plain integers, many words at once."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from program.domains import IntArray
from program.errors import Refused
from program.program import Program, Runnable


def interpret(
    program: Runnable,
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
        Refused: If a table meets a value that it has no row for.
    """
    letters = np.asarray(words, dtype=np.int64)
    tokens = np.insert(letters, 0, program.bos, axis=1)
    values: dict[str, IntArray] = {}
    for name, operation in program.operations.items():
        if held is not None and name in held:
            values[name] = held[name]
            continue
        try:
            values[name] = operation.evaluate(
                [values[n] for n in operation.reads], tokens
            )
        except Refused as reason:
            raise Refused(f"channel {name!r}: {reason}") from None
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
