"""Linear systems whose state is written after every block, and read back as a vector.

A token of its own stands for a written vector v, which is added to its embedding: the
matrix there is [[0, v/2], [0, 1]], and below each state stands 2 (Theorem W11 of
docs/proofs/linear_systems.md).
"""

from typing import Any

import numpy as np

from krohn.kinds.blocks.statement import words_of
from krohn.kinds.linear_systems import check as linear_system
from krohn.kinds.linear_systems.check_matrix_norms import norm_of
from krohn.kinds.linear_systems.statement import StatedLinearSystem
from krohn.kinds.linear_systems.statement_blocks import StatedVectorsInBlocks
from krohn.program.errors import demand
from krohn.program.operations.letter_matrix import LetterMatrix
from krohn.verify.checker.arithmetic import bound_all_steps
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.sublayers import collect_streams
from krohn.verify.checker.transformer import read_program

COORDINATE = 2.0
ROOM = 2.0**-8
"""How much larger a written vector may be than the largest state, for its error."""


def affine(source: StatedVectorsInBlocks) -> StatedLinearSystem:
    """The system with one coordinate more, which is 2; and the token of written vectors.

    Its matrix is [[0, 0], [0, 1]] before the vector is added.
    """
    letters, n = source.matrices.shape[:2]
    matrices = np.zeros((letters + 1, n + 1, n + 1))
    matrices[:letters, :n, :n] = source.matrices
    matrices[:, n, n] = 1.0
    start = np.append(source.start, COORDINATE)
    return StatedLinearSystem(source.name, source.letters, matrices, start)


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """The error in the norm that evidence names.

    Raises:
        Refused: If the network, or its Program, is another one.
    """
    source = StatedVectorsInBlocks.from_wire(model.source)
    letters, block = len(source.letters), source.block
    program = read_program(model, letters, matrices=True)
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
    streams, looks = collect_streams(model, program, said, norm)
    read, rounded = linear_system.read_out(model, streams[-1], system, norm)
    window, blocks = read + norm.size * rounded, length // (block + 1) + 1
    error = bound_all_steps(lambda _: blocks * plain.growth * window, room).most
    facts = {**norm.facts, "window": window.most}
    words = words_of(model.claim, letters - 1, block)
    return Established(model.format, words, facts, error, streams, looks)
