"""The belief of a hidden Markov model in log depth (Hu et al. 2024, Theorem 5.3).

The matrices of windows that double are multiplied, and made to have mass 1 in each level.
"""

import numpy as np

from krohn.compiler import CompileError, Unsuited
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.cost import check_steps
from krohn.compiler.pipeline import Options, arrange
from krohn.compiler.products import normalised_scale
from krohn.compiler.transformer import describe, lower
from krohn.kinds.hidden_markov.source_model import HiddenMarkovModel
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

NAME = "normalised-products"
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
            f"{NAME} needs positive operators: in {model.name} letter "
            f"{model.letters[letter]!r} never leads from state {model.states[before]!r} "
            f"to {model.states[after]!r}"
        )
    levels, size = (length - 1).bit_length(), model.size
    numbers = levels * 8 * size**3 * (2 * size**2 + 16)
    if numbers > MOST_NUMBERS:
        raise Unsuited(
            f"{NAME} needs a network of about {numbers:,} numbers for the {size} "
            f"states of {model.name} and {length} letters; more than "
            f"{MOST_NUMBERS:,} are not made"
        )
    if options.strict:
        raise Unsuited(
            f"{NAME} needs two hidden layers in an MLP, and the strict form has one; "
            "leave --strict out"
        )
    check_steps(0, levels, length)  # before anything as long as a word is made
    letters = _letters(model, options.precision)
    if not letters.min() > FARTHEST * letters.max():
        raise CompileError(
            f"entries of the operators of {model.name} are too far apart for {NAME}; "
            "use another construction"
        )
    best = normalised_scale(letters, options.precision)
    program = normalised_products(model, length, options.precision)
    layout, features = arrange(program, options)
    made = lower(layout, features, options.strict, scale=scale or best)
    return CompiledNetwork(NAME, made, describe(layout, made), None)
