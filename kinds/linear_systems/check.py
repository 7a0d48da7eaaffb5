"""Linear systems: a Transformer says A_{o_t} … A_{o_1} b_0 up to a stated error.

The theorems are W1 to W6 of docs/proofs/linear_systems.md.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from krohn.kinds.linear_systems.check_matrix_norms import (
    Norm,
    norm_of,
)
from krohn.kinds.linear_systems.statement import StatedLinearSystem
from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.program.inputs import Words
from krohn.program.operations.letter_matrix import LetterMatrix
from krohn.program.operations.matrix_product import MatrixProduct
from krohn.program.operations.normalised import Normalised
from krohn.program.operations.shift import Shift
from krohn.program.operations.token import Token
from krohn.program.statement import Channel, Statement
from krohn.verify.checker.arithmetic import INSIDE, Interval, fits, sum_error
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.residual_stream import Stream
from krohn.verify.checker.sublayers import collect_streams
from krohn.verify.checker.transformer import read_program


def check_program(
    program: Statement, source: StatedLinearSystem, enough: int | None = None
) -> None:
    """The Program computes the system: its output is the window of all letters (W1).

    Args:
        program: The Program.
        source: The system.
        enough: How many letters are to be multiplied; all if absent.

    Raises:
        Refused: If it does not.
    """
    for name, channel in program.channels.items():
        operation = channel.operation
        if isinstance(operation, LetterMatrix):
            same = np.array_equal(operation.rows[:-1], source.matrices)
            demand(same, f"{name!r} holds other matrices than the letters have")
            demand(not operation.start, f"{name!r} is not the identity at first")
        divided = isinstance(operation, Normalised)
        demand(not divided, f"{name!r} is normalised, and no state of the system is")
    check_window(program, enough)
    demand(program.vector == tuple(source.start.tolist()), "it starts elsewhere")


def check_window(program: Statement, enough: int | None = None) -> None:
    """The output is the window of all letters, up to a factor if some are normalised.

    Raises:
        Refused: If it is not.
    """
    windows: dict[str, int] = {}
    for name, channel in program.channels.items():
        operation = channel.operation
        if isinstance(operation, LetterMatrix):
            windows[name] = 1
        elif isinstance(operation, MatrixProduct):
            windows[name] = _join_windows(program, operation, windows)
        elif isinstance(operation, Normalised):
            divided = operation.source in windows
            demand(divided, f"{name!r} divides what is no product of letters")
            windows[name] = windows[operation.source]
        else:
            known = isinstance(operation, Token | Shift)
            demand(known, f"{name!r} has no part in a product of letters")
    demand(len(program.outputs) == 1, "the product of the letters is one channel")
    window = windows.get(program.outputs[0], 0)
    most = program.length if enough is None else enough
    demand(window >= most, f"the output multiplies {window} letters only")
    demand(not program.decode, "products of letters decode no states")


def _join_windows(
    program: Statement, product: MatrixProduct, windows: Mapping[str, int]
) -> int:
    """How many letters a product multiplies: its factors are neighbouring windows."""
    later = windows.get(product.left, 0)
    earlier = program.channels[product.right].operation
    demand(
        isinstance(earlier, Shift) and later > 0 and earlier.by == later,
        "the left factor is not the later one, or the factors are no neighbours",
    )
    assert isinstance(earlier, Shift)
    demand(earlier.source in windows, "the earlier factor is no product of letters")
    return later + windows[earlier.source]


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """The error in the norm that evidence names.

    Raises:
        Refused: If the network, or its Program, is another one.
    """
    source = StatedLinearSystem.from_wire(model.source)
    program = read_program(model, len(source.matrices), matrices=True)
    check_program(program, source)
    norm = norm_of(said, source.matrices, program.length)
    streams, looks = collect_streams(model, program, said, norm)
    error = sum(read_out(model, streams[-1], source, norm), Interval.of(0.0)).most
    words = Words(len(source.matrices), program.length)
    return Established(model.format, words, norm.facts, error, streams, looks)


def read_out(
    model: Model, stream: Stream, source: StatedLinearSystem, norm: Norm
) -> tuple[Interval, Interval]:
    """How far any output can be off: by what is read, and by rounding (Theorem W6).

    The first is a bound of all outputs together, in the norm of vectors.
    """
    start, channel = source.start, find_output_channel(model, stream, source.start)
    noise = Interval.of(stream.noise[channel.name]).max()
    largest_output = (norm.growth + noise) * abs(Interval.of(start)).sum()
    fits(largest_output, stream.form, "an output", INSIDE)
    rounded = sum_error(stream.form, int(np.count_nonzero(start)), largest_output)
    return noise * norm.of_vectors(start), rounded


def find_output_channel(model: Model, stream: Stream, start: FloatArray) -> Channel:
    """The output channel, if the read-out applies what it holds to the start.

    Raises:
        Refused: If it does anything else.
    """
    weight, bias = model.tensors["unembed.weight"], model.tensors["unembed.bias"]
    channel = stream.channel(stream.program.outputs[0])
    demand(not bias.any(), "the read-out adds something")
    right = np.zeros((len(weight), len(start)))
    right[channel.span] = np.kron(np.eye(len(start)), start[:, None])
    demand(
        np.array_equal(weight, right), "the read-out applies no product to the start"
    )
    return channel
