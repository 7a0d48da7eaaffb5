"""Linear systems whose state is written after every block, and read back as a vector.

A token of its own stands for a written vector v, which is added to its embedding: the
matrix there is [[0, v/2], [0, 1]], and below each state stands 2 (Theorem W11 of
docs/proofs/linear_systems.md).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from krohn.kinds.blocks.statement import words_of
from krohn.kinds.linear_systems import (
    check as linear_system,
    check_matrix_norms as matrix_norms,
)
from krohn.kinds.linear_systems.check_matrix_norms import (
    Source,
    norm_of,
)
from krohn.program.errors import demand
from krohn.program.operations.letter_matrix import LetterMatrix
from krohn.program.strict_json import whole
from krohn.verify.checker.arithmetic import settled
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Machine, Model, names
from krohn.verify.checker.sublayers import walked
from krohn.verify.checker.transformer import stated

COORDINATE = 2.0
ROOM = 2.0**-8
"""How much larger a written vector may be than the largest state, for its error."""


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
    block = int(whole(said["block"], 0))
    demand(block >= 1, "a block has at least one letter")
    return matrix_norms.source_of(said, tokens=1), block


def established(model: Model, said: Any, machine: Machine | None) -> Established:
    """The error in the norm that evidence names.

    Raises:
        Refused: If the network, or its Program, is another one.
    """
    source, block = source_of(model.source)
    letters = len(names(model.source, "letters"))
    program = stated(model, letters, matrices=True)
    system, length = affine(source), program.length
    linear_system.check_program(program, system, block + 1)
    embedded = [isinstance(o, LetterMatrix) for o in program.operations.values()]
    demand(sum(embedded) == 1, "a vector is added to one matrix")
    plain = norm_of(said, source.matrices, length)
    most = plain.growth * plain.of_vectors(source.start)
    room = ROOM * plain.of_vectors(source.start)
    column = plain.growth * (most + room) / COORDINATE
    growth = plain.together(column, 1.0).maximum(plain.growth)
    norm = type(plain)(plain.size + 1, growth.most)
    streams, looks = walked(model, program, said, norm)
    read, rounded = linear_system.read_out(model, streams[-1], system, norm)
    window, blocks = read + norm.size * rounded, length // (block + 1) + 1
    error = settled(lambda _: blocks * plain.growth * window, room).most
    told = {**norm.facts, "window": window.most}
    words = words_of(model.claim, letters - 1, block)
    return Established(model.format, words, told, error, streams, looks)
