"""The log-depth product of the matrices of a word (Hu et al. 2024, Theorem 5.2)."""

import numpy as np

from krohn.compiler import CompileError
from krohn.compiler.pipeline import Options, arrange
from krohn.compiler.products import product_scale
from krohn.compiler.transformer import Network, describe, lower
from krohn.kinds.linear_systems.source import LinearSystem
from krohn.program import (
    LetterMatrix,
    MatrixProduct,
    Operation,
    Program,
    Shift,
    Token,
)
from krohn.program.operations.letter_matrix import matrices_of

NAME = "products"


def products(system: LinearSystem, length: int, window: int | None = None) -> Program:
    """The Program of a linear system for words up to ``length``.

    After l levels the channel ``product{2^l}`` holds A_{o_t} … A_{o_{t−2^l+1}}; a window
    that leaves the word ends at BOS, which is the identity.

    Departures from the paper: the later factor stands on the left, as matrices act on
    columns (the text multiplies earlier × later); ΛP is multiplied, not Λ(P − 1), which
    costs a fifth of the error in the proof, and nothing in units.

    Args:
        system: The linear system.
        length: T.
        window: Of how many letters matrices are multiplied at least; of all if absent.
    """
    operations: dict[str, Operation] = {
        "token": Token(),
        "product1": LetterMatrix("token", matrices_of(system.matrices)),
    }
    width = 1
    while width < (window or length):
        now, before = f"product{width}", f"before{width}"
        operations[before] = Shift(now, width)
        operations[f"product{2 * width}"] = MatrixProduct(now, before)
        width *= 2
    return Program(
        letters=system.letters,
        states=system.size,
        length=length,
        operations=operations,
        outputs=(f"product{width}",),
        decode={},
        domains={"token": tuple(range(len(system.letters) + 1))},
        sizes=dict.fromkeys(list(operations)[1:], system.size),
        vector=tuple(system.start.tolist()),
    )


def realise(
    system: LinearSystem,
    length: int,
    options: Options,
    scale: float | None = None,
    window: int | None = None,
) -> tuple[Network, dict[str, object]]:
    """The network of a linear system, and the statement of its Program in a model file.

    Args:
        system: Its letters must have numbers that the format holds.
        length: T.
        options: How to lower.
        scale: λ; None for the one by which the proof's error is least.
        window: As for `products`.

    Raises:
        CompileError: If the format cannot hold letters, products or positions.
    """
    precision = options.precision
    if not np.array_equal(precision.round(system.matrices), system.matrices):
        raise CompileError(
            f"{precision.name} cannot hold the matrices of {system.name}; use float64"
        )
    best = product_scale(system.size, precision)
    layout, features = arrange(products(system, length, window), options)
    network = lower(layout, features, options.strict, scale=scale or best)
    return network, describe(layout, network)
