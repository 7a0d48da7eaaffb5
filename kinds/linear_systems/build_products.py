"""Products of matrices in log depth: of linear systems, and normalised, of beliefs."""

import numpy as np

from krohn.compiler import CompileError, Unsuited
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.cost import check_steps
from krohn.compiler.pipeline import Options, arrange
from krohn.compiler.transformer import Network, describe, lower
from krohn.compiler.units import normalised_scale, product_scale
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.linear_systems.source import LinearSystem
from krohn.network.precision import FloatArray, Precision
from krohn.program import (
    LetterMatrix,
    MatrixProduct,
    Normalised,
    Operation,
    Program,
    Shift,
    Token,
)
from krohn.program.operations.letter_matrix import matrices_of

# The log-depth product of the matrices of a word (Hu et al. 2024, Theorem 5.2).

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


# The belief of a hidden Markov model in log depth (Hu et al. 2024, Theorem 5.3).
#
# The matrices of windows that double are multiplied, and made to have mass 1 in each
# level.

NORMALISED = "normalised-products"
MOST_NUMBERS = 2**28
"""Of a network: 2 GiB in float64."""
FARTHEST = 2.0**-60
"""The least entry, in units of the largest one: nothing could be proved of smaller ones."""


def normalised_products(
    model: HiddenMarkovModel, length: int, precision: Precision
) -> Program:
    """The Program of a hidden Markov model for words up to ``length``.

    After l levels ``belief{2^l}`` is A_{o_t} … A_{o_{t−2^l+1}}, divided by its mass,
    the sum of its product with the start. At BOS each column is the start: a window that
    ends there has equal columns, and BOS does not change it. The last channel is
    normalised twice, for the first function that does it leaves a mass that is only near
    1; applied to the start it is the belief.

    Departure from the paper, which multiplies matrices that are not normalised, with O(T)
    bits, and divides once: numbers here are of the size of 1 in every level.
    """
    start = tuple(precision.round(model.start).tolist())
    letters = _letters(model, precision)
    operations: dict[str, Operation] = {
        "token": Token(),
        "belief1": LetterMatrix("token", matrices_of(letters), start),
    }
    window = 1
    while window < length:
        now, before = f"belief{window}", f"before{window}"
        window *= 2
        operations[before] = Shift(now, window // 2)
        operations[f"product{window}"] = MatrixProduct(now, before)
        operations[f"belief{window}"] = Normalised(f"product{window}", start)
    operations["belief"] = Normalised(f"belief{window}", start)
    return Program(
        letters=model.letters,
        states=model.size,
        length=length,
        operations=operations,
        outputs=("belief",),
        decode={},
        domains={"token": tuple(range(len(model.letters) + 1))},
        sizes=dict.fromkeys(list(operations)[1:], model.size),
        vector=start,
    )


def _letters(model: HiddenMarkovModel, precision: Precision) -> FloatArray:
    """``(letters, n, n)``: the operators with mass 1, as the format holds them."""
    masses = (model.operators @ model.start).sum(axis=1)
    return precision.round(model.operators / masses[:, None, None])


def normalised_network(
    model: HiddenMarkovModel,
    length: int,
    options: Options,
    scale: float | None = None,
) -> CompiledNetwork:
    """The network of a hidden Markov model.

    Args:
        model: Its operators must be positive.
        length: T.
        options: How to lower; not strict.
        scale: λ; None for the one by which the proof's error is least.

    Raises:
        CompileError: If an operator has an entry 0, the form is strict, or there are too
            many states.
    """
    zeros = np.argwhere(model.operators <= 0)
    if len(zeros):
        letter, after, before = zeros[0]
        raise Unsuited(
            f"{NORMALISED} needs positive operators: in {model.name} letter "
            f"{model.letters[letter]!r} never leads from state {model.states[before]!r} "
            f"to {model.states[after]!r}"
        )
    levels, size = (length - 1).bit_length(), model.size
    numbers = levels * 8 * size**3 * (2 * size**2 + 16)
    if numbers > MOST_NUMBERS:
        raise Unsuited(
            f"{NORMALISED} needs a network of about {numbers:,} numbers for the {size} "
            f"states of {model.name} and {length} letters; more than "
            f"{MOST_NUMBERS:,} are not made"
        )
    if options.strict:
        raise Unsuited(
            f"{NORMALISED} needs two hidden layers in an MLP, and the strict form has one; "
            "leave --strict out"
        )
    check_steps(0, levels, length)  # before anything as long as a word is made
    letters = _letters(model, options.precision)
    if not letters.min() > FARTHEST * letters.max():
        raise CompileError(
            f"entries of the operators of {model.name} are too far apart for {NORMALISED}; "
            "use another construction"
        )
    best = normalised_scale(letters, options.precision)
    program = normalised_products(model, length, options.precision)
    layout, features = arrange(program, options)
    made = lower(layout, features, options.strict, scale=scale or best)
    return CompiledNetwork(NORMALISED, made, describe(layout, made), None)
