"""A circuit that works beside a disguised machine, and has nothing to do with it.

Its task is real: memories that letters write, and that steer each other, as in the
cascades of Krohn and Rhodes (1965). The checker bounds it by intervals. What reads a sum
of T letters by 2T steps would be bounded by T² then; here a head fetches one bit, and each
unit reads two, so that a bound b becomes 2b + 2 in the next layer, at every length.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from krohn.compiler.compiled_network import as_written
from krohn.compiler.disguise_layout import Tensors
from krohn.compiler.errors import CompileError
from krohn.compiler.pipeline import Options
from krohn.network.precision import Precision
from krohn.program import (
    Latest,
    Map,
    Operation,
    Piecewise,
    Position,
    Program,
    Row,
    Token,
    table,
)
from krohn.program.expressions import argument, number, rectified

_X, _Y = argument(0), argument(1)
DIFFERS = Piecewise(rectified(_X - _Y) + rectified(_Y - _X))
EITHER = Piecewise(number(1) - rectified(number(1) - _X - _Y))


def memories(header: Mapping[str, Any], seed: int) -> Program:
    """Layers of memories of one bit: as many as each block of a network has heads.

    A memory of the first layer holds what a clock said when one of its letters came last.
    One of a later layer holds whether a clock and a memory below differed at the last
    position with one of its letters, or with a 1 in another memory below.

    Args:
        header: Of the file of the network, which is not disguised.
        seed: It decides which letters write, and which memories are read.

    Returns:
        ``stored{layer}.{i}`` are the memories; nobody asks what it decodes to.

    Raises:
        CompileError: If the network has no heads.
    """
    letters, length = header["machine"]["letters"], header["claim"]["length"]
    heads = [b["heads"] for b in header["architecture"]["blocks"] if b["heads"]]
    if not heads:
        raise CompileError("no circuit works beside a network without heads")
    random = np.random.default_rng(seed)
    operations: dict[str, Operation] = {"token": Token()}
    for i in range(max(heads)):
        some = random.permutation(len(letters))[: max(1, len(letters) // 2)]
        writes: dict[Row, int] = {(a,): int(a in some) for a in range(len(letters))}
        heard = table({**writes, (len(letters),): 1})
        clock = tuple(t // (i + 1) % 2 for t in range(length + 1))
        operations |= {
            f"clock{i}": Position(clock),
            f"heard{i}": Map(heard, ("token",)),
        }
    below = list[str]()
    for layer, count in enumerate(heads):
        for i in range(count):
            given, flag = f"clock{i}", f"heard{i}"
            if below:
                one, other = random.permutation(below)[[0, -1]].tolist()
                operations[f"given{layer}.{i}"] = Map(DIFFERS, (one, given))
                operations[f"writes{layer}.{i}"] = Map(EITHER, (other, flag))
                given, flag = f"given{layer}.{i}", f"writes{layer}.{i}"
            operations[f"stored{layer}.{i}"] = Latest(given, flag)
        below = [f"stored{layer}.{i}" for i in range(count)]
    for i, name in enumerate(below):
        operations[f"said{i}"] = Map(DIFFERS, (name, f"heard{i}"))
    outputs = tuple(n for n in operations if n.startswith(("stored", "said")))
    none = (0,) * len(outputs)
    return Program(tuple(letters), 1, length, operations, outputs, {none: 0})


def circuit(program: Program, precision: Precision) -> tuple[dict[str, Any], Tensors]:
    """The strict network of memories, each number in dimensions of its own.

    Returns:
        Its architecture and Program as a file states them, and its tensors.

    Raises:
        CompileError: If the words are too long for the format.
    """
    built = as_written("beside", program, Options(precision, strict=True, keep=True))
    header = {"architecture": built.network.architecture, "program": built.program}
    return header, dict(built.network.tensors)
