"""Linear systems whose state is written after every block, and read back as a vector.

A token of its own stands for a written vector v, which is added to its embedding: the
matrix there is [[0, v/2], [0, 1]], and below each state stands 2 (Theorem W11 of
docs/within.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.program.blocks import check_words
from krohn.program.errors import Refused, demand
from krohn.program.exact_numbers import whole
from krohn.program.operations.letter_matrix import LetterMatrix
from krohn.program.statement import Statement
from krohn.verify.checker import linear_source, linear_system
from krohn.verify.checker.arithmetic import INFLATION
from krohn.verify.checker.linear_source import Source
from krohn.verify.checker.matrix_norms import NORMS, Norm
from krohn.verify.checker.model_file import Model
from krohn.verify.checker.sublayers import embedding, followed

KIND, COORDINATE = "vectors-in-blocks", 2.0
ROOM = 2.0**-8
"""How much larger a written vector may be than the largest state, for its error."""


@dataclass(frozen=True)
class Established(linear_system.Established):
    """Every bound that was shown, for all words whose texts fit.

    Attributes:
        window: How far outputs can be off if what was written is right.
    """

    window: float

    def facts(self) -> dict[str, Any]:
        """The same, and what one block adds."""
        covers = f"all texts of up to {self.program.length} tokens"
        return {**super().facts(), "covers": covers, "window": self.window}


def affine(source: Source) -> Source:
    """The system with one coordinate more, which is 2; and the token of written vectors.

    Its matrix is [[0, 0], [0, 1]] before the vector is added.
    """
    letters, n = source.matrices.shape[:2]
    matrices = np.zeros((letters + 1, n + 1, n + 1))
    matrices[:letters, :n, :n] = source.matrices
    matrices[:, n, n] = 1.0
    return Source(matrices, np.append(source.start, COORDINATE))


def source_of(said: Mapping[str, Any]) -> tuple[Source, int]:
    """The linear system of a header, and its block.

    Raises:
        Refused: If it states none.
    """
    demand(said["kind"] == KIND, "these are no vectors in blocks")
    plain = {**said, "kind": linear_source.KIND, "letters": said["letters"][:-1]}
    block = int(whole(said["block"], 0))
    demand(block >= 1, "a block has at least one letter")
    return linear_source.source_of(plain), block


def established(model: Model, program: Statement) -> Established:
    """The least error that can be shown, in any norm.

    Raises:
        Refused: If the network, or its Program, is another one; with the reasons.
    """
    source, block = source_of(model.header["source"])
    check_words(model.header["claim"], block)
    linear_system.check_program(program, affine(source), block + 1)
    embedded = [isinstance(o, LetterMatrix) for o in program.operations.values()]
    demand(sum(embedded) == 1, "a vector is added to one matrix")
    found, reasons = list[Established](), list[str]()
    for kind in NORMS:
        try:
            found.append(_in_norm(model, program, kind))
        except Refused as reason:
            reasons.append(str(reason))
    demand(bool(found), "; ".join(reasons))
    return min(found, key=lambda one: one.error)


def _in_norm(model: Model, program: Statement, kind: type[Norm]) -> Established:
    """The error in one norm."""
    source, block = source_of(model.header["source"])
    system, plain = affine(source), kind.of(source.matrices, program.length)
    room = plain.applied(ROOM, source.start)
    written = plain.applied(plain.growth, source.start) + room
    column = plain.growth * written / COORDINATE
    growth = max(plain.growth, kind.beside_one(column))
    norm = kind(plain.size + 1, growth)
    known = list(followed(model, embedding(model, program, norm)))
    looks = {name: look for _, heads in known for name, look in heads.items()}
    read, rounded = linear_system.read_out(model, known[-1][0], system, norm)
    window = (read + norm.size * rounded) * INFLATION
    error = 0.0
    for _ in range(program.length // (block + 1) + 1):
        error = (plain.growth * error + window) * INFLATION
    demand(error <= room, f"written vectors can be off by {error:.2g}, which is much")
    streams = tuple(stream for stream, _ in known)
    return Established(streams, looks, norm, error, window)
